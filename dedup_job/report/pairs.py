"""A pair for the terminal: its labels and measures, and the differences of its two texts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from difflib import SequenceMatcher
from itertools import chain, count, groupby, takewhile, zip_longest
from typing import Final, NamedTuple, TypeVar

from rich.table import Column, Table
from rich.text import Text

from dedup_job.documents import Pair
from dedup_job.messages import Message, joined
from dedup_job.report.output import Block, Output, new_table

LABELS: Final[Mapping[str, Message]] = {
    # kinds of differences whose name is no label
    "notation": Message("notation of a formula"),
    "name": Message("person, place or organisation"),
    "inserted": Message("inserted words"),
    "deleted": Message("missing words"),
    "replaced": Message("other words"),
    "moved": Message("moved words"),
    "blanks": Message("blank to fill in"),
    "mood": Message("question or statement"),
    "exchanged": Message("exchanged words"),
    "choice_negation": Message("negation in a choice"),
    "choice_opposite": Message("opposite in a choice"),
    "provision": Message("words of a statute"),
    "similarity": Message("similarity below the threshold"),
    "unlikely": Message("the model finds it unlikely"),
    # kinds of text
    "question": Message("question"),
    "article": Message("article"),
    "message": Message("message"),
    # reasons of a decision
    "exact": Message("equal text"),
    "near": Message("harmless differences"),
    "empty": Message("empty after cleaning"),
    "missing": Message("field absent or null"),
    "not_text": Message("field is no text"),
    "too_large": Message("too large"),
    "undecodable": Message("cannot be decoded"),
}


def display_name(name: str) -> Message:
    """Return the label to show for a stored name; the name itself if it has no other."""
    return LABELS.get(name) or Message(name)


def measure_text(value: float, limit: float = 0.0) -> str:
    """Return a measure with three digits, cut off, or with more to stay on its side of a limit."""
    exact, least = Decimal(str(value)), Decimal(str(limit))
    shown = (exact.quantize(Decimal(1).scaleb(-n), ROUND_FLOOR) for n in count(3))
    return str(next(one for one in shown if (one < least) == (exact < least)))


def measures(pair: Pair) -> Iterator[Message]:
    """Yield the probability and the similarity of a pair, without unknown ones."""
    if pair.probability is not None:
        yield Message("probability {value}", value=measure_text(pair.probability))
    if pair.similarity is not None:
        yield Message("similarity {value}", value=measure_text(pair.similarity))


_TOKEN = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|\s|.", re.DOTALL)  # a word, a number, a character
_LABEL = re.compile(  # as src/judgment/notes.hpp finds them
    r"(?:\A|(?<=[\s\u3400-\u9fff;；。.．?？!！,，)）\]】_、:：$]))"
    r"(?:[(（\[]\s?)?([A-Ha-hＡ-Ｈａ-ｈ])\s?[.．、:：)）\]](?![A-Za-z]\s?[.．、])"
)
_ENDS = frozenset("，,。.；;！!？?\n")  # of a clause
_MAX_TOKENS = 10_000  # of both texts; longer texts are compared by clauses first
_MANY = 2000
_MAX_CLAUSES = 20_000
_NOISE = 4  # changed characters around a single equal one, which then counts as changed, too
_GAP = 20  # the fewest characters that an ellipsis replaces
_T = TypeVar("_T")


class DiffSegment(NamedTuple):
    """A segment of two compared texts; same: equal but for the labels of choices."""

    left: str
    right: str
    same: bool


class _Label(str):
    """The label of a choice with the space around it; equal to any other label."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Label)

    def __hash__(self) -> int:
        return hash(_Label)


def diff(left: str, right: str) -> list[DiffSegment]:
    """Return the segments of two texts, alternately the same and changed.

    Words, numbers and other characters are compared; of long texts clauses, and then the changed
    ones by characters; very long texts are one segment. As in the judge, labels of choices are
    ignored.
    """
    a, b = _tokens(left), _tokens(right)
    start = _common(a, b)
    stop = _common(a[start:][::-1], b[start:][::-1])
    end_a, end_b = len(a) - stop, len(b) - stop
    between = _compared(a[start:end_a], b[start:end_b])
    pairs = [(a[:start], b[:start]), *between, (a[end_a:], b[end_b:])]
    segments = _joined(segment for pair in pairs for segment in _segments(*pair))
    return list(_joined(_without_noise(list(segments))))


def shortened(segment: DiffSegment, context: int, change: int) -> DiffSegment:
    """Return a segment with long texts reduced to both ends.

    Each end has `context` characters if the texts are the same, else `change`.
    """

    def ends(text: str, most: int) -> str:
        return text if len(text) <= 2 * most + _GAP else f"{text[:most]} … {text[-most:]}"

    most = context if segment.same else change
    return DiffSegment(ends(segment.left, most), ends(segment.right, most), segment.same)


def _tokens(text: str) -> list[str]:
    tokens, at = list[str](), 0
    for begin, end in _labels(text):
        tokens += _TOKEN.findall(text, at, begin)
        tokens.append(_Label(text[max(at, begin) : end]))  # two may share a space
        at = end
    return tokens + _TOKEN.findall(text, at)


def _labels(text: str) -> list[tuple[int, int]]:
    # the spans of the longest run of labels A, B, C and so on, with the space around each
    runs: dict[int, list[re.Match[str]]] = {}  # by the number of their first label
    best: list[re.Match[str]] = []
    for match in reversed(list(_LABEL.finditer(text))):
        number = ord(match[1]) % 32  # 1 of A and a, of full-width ones as well
        runs[number] = [match, *runs.get(number + 1, [])]
        best = max(best, runs.get(1, []), key=len)
    ends = ((text[: one.start()].rstrip(), text[one.end() :].lstrip()) for one in best)
    spans = [(len(before), len(text) - len(after)) for before, after in ends]
    return spans if len(spans) > 1 else []


def _segments(left: Sequence[str], right: Sequence[str]) -> Iterator[DiffSegment]:
    parts = zip_longest(_at_labels(left), _at_labels(right), fillvalue=list[str]())
    for i, (a, b) in enumerate(parts):  # every second one is a label
        yield DiffSegment("".join(a), "".join(b), same=i % 2 == 1 or a == b)


def _at_labels(tokens: Iterable[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if isinstance(token, _Label):
            parts += [token], []
        else:
            parts[-1].append(token)
    return parts


def _compared(
    left: Sequence[str], right: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    if len(left) + len(right) <= _MAX_TOKENS:
        yield from _aligned(left, right)
        return
    clauses = list(_clauses(left)), list(_clauses(right))
    if sum(map(len, clauses)) > _MAX_CLAUSES:
        yield left, right
        return
    for pair in _aligned(*clauses):
        a, b = (list(chain.from_iterable(side)) for side in pair)
        if a == b or len(a) + len(b) > _MAX_TOKENS:
            yield a, b
        else:
            yield from _aligned(a, b)


def _aligned(
    left: Sequence[_T], right: Sequence[_T]
) -> Iterator[tuple[Sequence[_T], Sequence[_T]]]:
    matcher = SequenceMatcher(None, left, right, autojunk=len(left) + len(right) > _MANY)
    for _, a, b, c, d in matcher.get_opcodes():
        yield left[a:b], right[c:d]


def _clauses(tokens: Iterable[str]) -> Iterator[tuple[str, ...]]:
    clause: list[str] = []
    for token in tokens:
        if clause and clause[-1] in _ENDS and token not in _ENDS:
            yield tuple(clause)
            clause = []
        clause.append(token)
    if clause:
        yield tuple(clause)


def _without_noise(segments: Sequence[DiffSegment]) -> Iterator[DiffSegment]:
    for i, segment in enumerate(segments):
        inside = segment.same and 0 < i < len(segments) - 1 and len(segment.left) == 1
        around = (*segments[i - 1 : i], *segments[i + 1 : i + 2]) if inside else ()
        changed = sum(max(len(s.left), len(s.right)) for s in around)
        yield segment._replace(same=segment.same and changed < _NOISE)


def _joined(segments: Iterable[DiffSegment]) -> Iterator[DiffSegment]:
    filled = (segment for segment in segments if segment.left or segment.right)
    for same, group in groupby(filled, key=lambda segment: segment.same):
        left, right, _ = zip(*group, strict=True)
        yield DiffSegment("".join(left), "".join(right), same)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return sum(1 for _ in alike)


_SENTENCE = re.compile(r"[^。；;！!？?\n]*(?:[。；;！!？?\n]+[”’」』）)]*|$)")
_ENDED = re.compile(r"[。；;！!？?\n][”’」』）)]*\Z")
_WHOLE = 4000  # characters of both texts; longer ones are shortened
_COLUMN = 28  # the fewest columns of each of two texts
_CONTEXT = 60  # characters of each end of a long equal segment
_CHANGE = 40  # the most characters of a change on one line with others
_MAX_WORDS = 60  # characters of a cell
_TEXT = 600  # the most characters of a single text


def both_texts(
    names: tuple[str, str], left: str | None, right: str | None, console: Output
) -> Block:
    """Return two named texts as a table; as one line if equal, as two lines if one is None."""
    if left is not None and left == right:
        return Message("both texts, cleaned: {text}", text=beginning(left))
    if left is not None and right is not None:
        return side_by_side(names, left, right, console)
    missing = Message("its text is gone")
    shown = (missing if text is None else beginning(text) for text in (left, right))
    lines = (Message("{name}: {text}", name=n, text=t) for n, t in zip(names, shown, strict=True))
    return joined(lines, "\n")


def beginning(text: str) -> str:
    """Return a text on one line, cut off after `_TEXT` characters."""
    begins, more = visible(text[:_TEXT]), len(text) - _TEXT
    if more <= 0:
        return begins
    return Message("{text} … {more:,} characters more", text=begins, more=more)


def side_by_side(names: tuple[str, str], left: str, right: str, console: Output) -> Table:
    """Return a table of both texts, a row for each sentence; long equal segments are shortened.

    Differences have colours on a terminal, [-...-] and {+...+} elsewhere; see `legend`.
    """
    widest = console.line_width // 2 - 2  # without the gap between the two
    table = new_table(
        *(Column(name, overflow="fold", min_width=_COLUMN, max_width=widest) for name in names)
    )
    segments = diff(left, right)
    if len(left) + len(right) > _WHOLE:
        segments = [shortened(segment, _CONTEXT, _WHOLE // 4) for segment in segments]
    for row in _rows(segments):
        cells = Text(), Text()
        for segment in row:
            if segment.same:
                for cell, own in zip(cells, segment[:2], strict=True):
                    cell.append(visible(own.rstrip("\n")))
            else:
                _append_change(cells, segment, console)
        table.add_row(*cells)
    return table


def marked_line(left: str, right: str, console: Output, width: int) -> Text:
    """Return the differences on one line of about `width` columns, with a little context."""
    segments = diff(left, right)
    changed = [i for i, segment in enumerate(segments) if not segment.same]
    if not changed:
        return Text(visible(segments[0].left[: width // 4] if segments else ""))
    lengths = (min(len(s), _CHANGE) for i in changed for s in segments[i][:2])
    context = max(5, (width // 2 - sum(lengths)) // (2 * len(changed)))
    line = Text()
    for i, segment in enumerate(segments):
        if line.cell_len > width:
            return line.append(" …")
        if segment.same:
            beside = i > changed[0], i < changed[-1]
            line.append(visible(_without_middle(segment.left, context, *beside)))
        else:
            _append_change((line, line), segment, console, _CHANGE)
    return line


def table_of_differences(
    names: tuple[str, str], rows: Iterable[tuple[object, object, object, object]]
) -> Table:
    """Return a table of differences; rows: kind, part of the text, words of each text."""
    texts = (Column(name, overflow="fold") for name in names)
    table = new_table(Message("difference"), Message("in"), *texts)
    for kind, part, *words in rows:
        sides = (visible(str(side)) for side in words)
        cut = (f"{side[:_MAX_WORDS]}…" if len(side) > _MAX_WORDS else side for side in sides)
        table.add_row(Message(str(kind)), Message(str(part)), *map(Text, cut))
    return table


def legend(console: Output) -> Message:
    """Return the explanation of the marks in a table or line of differences."""
    if _coloured(console):
        return Message("Red: only in the first text, kept or earlier; green: only in the second.")
    return Message("[-...-]: only in the first text, kept or earlier; {+...+}: only in the second.")


def visible(text: str) -> str:
    """Return a text on one line: white space as spaces, unprintable characters escaped."""
    return "".join(" " if c.isspace() else c if c.isprintable() else _escaped(c) for c in text)


def _coloured(console: Output) -> bool:
    return console.is_terminal and console.color_system is not None and not console.no_color


def _append_change(
    cells: tuple[Text, Text], segment: DiffSegment, console: Output, most: int | None = None
) -> None:
    marks = ("bold red", "[-{}-]"), ("bold green", "{{+{}+}}")
    for cell, change, (style, mark) in zip(cells, segment[:2], marks, strict=True):
        shown = "".join(map(_escaped, change[:most]))
        shown += "…" if len(change) > len(change[:most]) else ""
        if shown and _coloured(console):
            cell.append(shown, style=style)
        elif shown:
            cell.append(mark.format(shown))


def _escaped(character: str) -> str:
    if character in "\n ":
        return "↵" if character == "\n" else "␣"
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _rows(segments: Iterable[DiffSegment]) -> Iterator[list[DiffSegment]]:
    row: list[DiffSegment] = []
    for segment in segments:
        for part in _sentences(segment) if segment.same else [segment]:
            row.append(part)
            if part.same and _ENDED.search(part.left):
                yield row
                row = []
    if row:
        yield row


def _sentences(segment: DiffSegment) -> Iterator[DiffSegment]:
    left, right = (_SENTENCE.findall(text)[:-1] for text in segment[:2])
    if len(left) != len(right):
        left, right = [segment.left], [segment.right]
    return (DiffSegment(*pair, same=True) for pair in zip(left, right, strict=True))


def _without_middle(text: str, ends: int, *beside: bool) -> str:
    if len(text) <= ends * sum(beside):
        return text
    before, after = beside
    return (text[:ends] if before else "") + "…" + (text[-ends:] if after else "")
