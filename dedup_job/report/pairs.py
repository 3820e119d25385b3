"""A pair as a person sees it: its names and measures, and where the two texts differ."""

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
    # differences of two texts, but for those that are called as they are named
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


def label(name: str) -> Message:
    """Return the label of a name that rows hold; a stage or a state stands for itself."""
    return LABELS.get(name) or Message(name)


def measured(value: float, limit: float = 0.0) -> str:
    """Return a measure, cut off after three digits, or after as many as tell it from a limit."""
    exact, least = Decimal(str(value)), Decimal(str(limit))
    shown = (exact.quantize(Decimal(1).scaleb(-n), ROUND_FLOOR) for n in count(3))
    return str(next(one for one in shown if (one < least) == (exact < least)))


def measures(pair: Pair) -> Iterator[Message]:
    """Yield how alike a pair is, as far as it is known."""
    if pair.probability is not None:
        yield Message("probability {value}", value=measured(pair.probability))
    if pair.similarity is not None:
        yield Message("similarity {value}", value=measured(pair.similarity))


_TOKEN = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|\s|.", re.DOTALL)  # a word, a number, a character
_LABEL = re.compile(  # as src/judgment/notes.hpp finds them
    r"(?:\A|(?<=[\s\u3400-\u9fff;；。.．?？!！,，)）\]】_、:：$]))"
    r"(?:[(（\[]\s?)?([A-Ha-hＡ-Ｈａ-ｈ])\s?[.．、:：)）\]](?![A-Za-z]\s?[.．、])"
)
_ENDS = frozenset("，,。.；;！!？?\n")  # of a clause
_MAX_TOKENS = 10_000  # of both that are compared one by one; of longer texts clauses are
_MANY = 2000
_MAX_CLAUSES = 20_000
_NOISE = 4  # changed characters around one that both have by chance
_GAP = 20  # characters that are not worth leaving out
_T = TypeVar("_T")


class Piece(NamedTuple):
    """A stretch of two texts: the same in both but for labels of choices, or what each has."""

    left: str
    right: str
    same: bool


class _Label(str):
    """The label of a choice with the space around it: no other label differs from it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Label)

    def __hash__(self) -> int:
        return hash(_Label)


def pieces_of(left: str, right: str) -> list[Piece]:
    """Return the pieces that the texts are made of; same and changed ones take turns.

    Words, numbers and other characters are compared, in long texts clauses and then the characters
    of those that changed. What is longer still counts as changed in one piece. Labels of choices
    count for nothing, as where the texts are judged.
    """
    one, other = _tokens(left), _tokens(right)
    start = _common(one, other)
    stop = _common(one[start:][::-1], other[start:][::-1])
    a, b = len(one) - stop, len(other) - stop
    between = _compared(one[start:a], other[start:b])
    pairs = [(one[:start], other[:start]), *between, (one[a:], other[b:])]
    pieces = _joined(piece for pair in pairs for piece in _pieces(*pair))
    return list(_joined(_without_noise(list(pieces))))


def shortened(piece: Piece, context: int, change: int) -> Piece:
    """Return a piece with the ends alone of long texts: of `context` characters, or of `change`."""

    def ends(text: str, most: int) -> str:
        return text if len(text) <= 2 * most + _GAP else f"{text[:most]} … {text[-most:]}"

    most = context if piece.same else change
    return Piece(ends(piece.left, most), ends(piece.right, most), piece.same)


def _tokens(text: str) -> list[str]:
    tokens, at = list[str](), 0
    for begin, end in _labels(text):
        tokens += _TOKEN.findall(text, at, begin)
        tokens.append(_Label(text[max(at, begin) : end]))  # two may share a space
        at = end
    return tokens + _TOKEN.findall(text, at)


def _labels(text: str) -> list[tuple[int, int]]:
    """Return where the longest run of labels A, B, C and so on lies, with the space around each."""
    runs: dict[int, list[re.Match[str]]] = {}  # by the label that they begin with
    best: list[re.Match[str]] = []
    for found in reversed(list(_LABEL.finditer(text))):
        number = ord(found[1]) % 32  # 1 of A and a, also where they are wide
        runs[number] = [found, *runs.get(number + 1, [])]
        best = max(best, runs.get(1, []), key=len)
    ends = ((text[: one.start()].rstrip(), text[one.end() :].lstrip()) for one in best)
    spans = [(len(before), len(text) - len(after)) for before, after in ends]
    return spans if len(spans) > 1 else []


def _pieces(left: Sequence[str], right: Sequence[str]) -> Iterator[Piece]:
    """Yield the stretches of two rows of tokens, labels by themselves: they are the same."""
    parts = zip_longest(_at_labels(left), _at_labels(right), fillvalue=list[str]())
    for i, (one, other) in enumerate(parts):
        yield Piece("".join(one), "".join(other), same=i % 2 == 1 or one == other)


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
    clauses, others = list(_clauses(left)), list(_clauses(right))
    if len(clauses) + len(others) > _MAX_CLAUSES:
        yield left, right
        return
    for pair in _aligned(clauses, others):
        one, other = (list(chain.from_iterable(side)) for side in pair)
        if one == other or len(one) + len(other) > _MAX_TOKENS:
            yield one, other
        else:
            yield from _aligned(one, other)


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


def _without_noise(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Take a character that both have by chance, between longer changes, for changed."""
    for i, piece in enumerate(pieces):
        inside = piece.same and 0 < i < len(pieces) - 1 and len(piece.left) == 1
        around = (*pieces[i - 1 : i], *pieces[i + 1 : i + 2]) if inside else ()
        changed = sum(max(len(p.left), len(p.right)) for p in around)
        yield Piece(piece.left, piece.right, same=piece.same and changed < _NOISE)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    there = (piece for piece in pieces if piece.left or piece.right)
    for same, group in groupby(there, key=lambda piece: piece.same):
        parts = list(group)
        left, right = "".join(p.left for p in parts), "".join(p.right for p in parts)
        yield Piece(left, right, same)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return sum(1 for _ in alike)


_SENTENCE = re.compile(r"[^。；;！!？?\n]*(?:[。；;！!？?\n]+[”’」』）)]*|$)")
_ENDED = re.compile(r"[。；;！!？?\n][”’」』）)]*\Z")
_WHOLE = 4000  # characters of both texts that are shown whole
_COLUMN = 28  # columns of each text beside the other
_CONTEXT = 60  # characters shown before and after a long stretch
_CHANGE = 40  # of a change that is shown on a line with others
_MAX_WORDS = 60  # characters of a cell
_TEXT = 600  # at the beginning of a text that stands alone


def both_texts(
    names: tuple[str, str], left: str | None, right: str | None, console: Output
) -> Block:
    """Return two texts: side by side, once where they are equal, a line each where one is gone."""
    if left is not None and left == right:
        return Message("both texts, cleaned: {text}", text=beginning(left))
    if left is not None and right is not None:
        return side_by_side(names, left, right, console)
    gone = Message("its text is gone")
    shown = (gone if text is None else beginning(text) for text in (left, right))
    lines = (Message("{name}: {text}", name=n, text=t) for n, t in zip(names, shown, strict=True))
    return joined(lines, "\n")


def beginning(text: str) -> str:
    """Return a text on one line, of a long one how it begins."""
    begins, more = visible(text[:_TEXT]), len(text) - _TEXT
    if more <= 0:
        return begins
    return Message("{text} … {more:,} characters more", text=begins, more=more)


def side_by_side(names: tuple[str, str], left: str, right: str, console: Output) -> Table:
    """Return both texts in two columns, row beside row; of long ones what differs, with context.

    Colours mark what differs on a terminal, [-...-] and {+...+} elsewhere.
    """
    widest = console.readable // 2 - 2  # without the gap between them
    table = new_table(
        *(Column(name, overflow="fold", min_width=_COLUMN, max_width=widest) for name in names)
    )
    pieces = pieces_of(left, right)
    if len(left) + len(right) > _WHOLE:
        pieces = [shortened(piece, _CONTEXT, _WHOLE // 4) for piece in pieces]
    for row in _rows(pieces):
        cells = Text(), Text()
        for piece in row:
            if piece.same:
                for cell, own in zip(cells, piece[:2], strict=True):
                    cell.append(visible(own.rstrip("\n")))
            else:
                _append_change(cells, piece, console)
        table.add_row(*cells)
    return table


def marked_line(left: str, right: str, console: Output, width: int) -> Text:
    """Return the differences with a little context, about `width` columns wide."""
    pieces = pieces_of(left, right)
    changed = [i for i, piece in enumerate(pieces) if not piece.same]
    if not changed:
        return Text(visible(pieces[0].left[: width // 4] if pieces else ""))
    lengths = (min(len(s), _CHANGE) for i in changed for s in pieces[i][:2])
    context = max(5, (width // 2 - sum(lengths)) // (2 * len(changed)))
    line = Text()
    for i, piece in enumerate(pieces):
        if line.cell_len > width:
            return line.append(" …")
        if piece.same:
            beside = i > changed[0], i < changed[-1]
            line.append(visible(_middle_left_out(piece.left, context, *beside)))
        else:
            _append_change((line, line), piece, console, _CHANGE)
    return line


def table_of_differences(
    names: tuple[str, str], rows: Iterable[tuple[object, object, object, object]]
) -> Table:
    """Return the table of kinds, parts of the text, and the words of the two texts."""
    texts = (Column(name, overflow="fold") for name in names)
    table = new_table(Message("difference"), Message("in"), *texts)
    for kind, place, *words in rows:
        sides = (visible(str(side)) for side in words)
        cut = (f"{side[:_MAX_WORDS]}…" if len(side) > _MAX_WORDS else side for side in sides)
        table.add_row(Message(str(kind)), Message(str(place)), *map(Text, cut))
    return table


def legend(console: Output) -> Message:
    """Say how differences are marked."""
    if _coloured(console):
        return Message("Red: only in the first text, kept or earlier; green: only in the second.")
    return Message("[-...-]: only in the first text, kept or earlier; {+...+}: only in the second.")


def visible(text: str) -> str:
    """Return a text on one line and without what moves a cursor."""
    return "".join(" " if c.isspace() else c if c.isprintable() else _escaped(c) for c in text)


def _coloured(console: Output) -> bool:
    return console.is_terminal and console.color_system is not None and not console.no_color


def _append_change(
    cells: tuple[Text, Text], piece: Piece, console: Output, most: int | None = None
) -> None:
    marks = ("bold red", "[-{}-]"), ("bold green", "{{+{}+}}")
    for cell, change, (style, mark) in zip(cells, piece[:2], marks, strict=True):
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


def _rows(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    row: list[Piece] = []
    for piece in pieces:
        for part in _sentences(piece) if piece.same else [piece]:
            row.append(part)
            if part.same and _ENDED.search(part.left):
                yield row
                row = []
    if row:
        yield row


def _sentences(piece: Piece) -> Iterator[Piece]:
    left, right = (_SENTENCE.findall(text)[:-1] for text in piece[:2])
    if len(left) != len(right):
        left, right = [piece.left], [piece.right]
    return (Piece(*pair, same=True) for pair in zip(left, right, strict=True))


def _middle_left_out(text: str, ends: int, *beside: bool) -> str:
    if len(text) <= ends * sum(beside):
        return text
    before, after = beside
    return (text[:ends] if before else "") + "…" + (text[-ends:] if after else "")
