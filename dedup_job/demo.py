"""A labelled corpus, and a run on it on a server of its own: `dedup demo`.

Each document names its kind and the document it was made from; the seed determines all of it. The
expected decisions are the policy of the demo: a copy that only looks different is a duplicate, a
question with another number or the opposite demand is not.
"""

import html
import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, Self

from pymongo import MongoClient
from pymongo.database import Database

from dedup_job.commands.run import Request, RunCallbacks, run_job
from dedup_job.messages import Message
from dedup_job.mongo.connection import translate_errors
from dedup_job.mongod import embedded_server
from dedup_job.printing import command_line
from dedup_job.runs.run_record import Run
from dedup_job.settings import load

_FILE: Mapping[str, Any] = tomllib.loads(
    files("dedup_job").joinpath("demo.toml").read_text("utf-8")
)
_WORDS: Mapping[str, tuple[str, ...]] = {  # a space within an English one is written as _
    name: tuple(word.replace("_", " ") if name.startswith("en") else word for word in words.split())
    for name, words in _FILE["words"].items()
}
SENTENCES, CLAIMS, _CLOSINGS = (
    {name: tuple(map(str.strip, text.strip().splitlines())) for name, text in _FILE[part].items()}
    for part in ("sentences", "claims", "closings")
)
_SLIPS: Mapping[str, str] = {  # of a character: characters that it is mistaken for
    one: group.replace(one, "") for group in _FILE["slips"] for one in group
}
_NOT_TEXT: Sequence[Any] = (42, -7, 3.5, True, False, [1, 2], {"n": 2}, {"p": [7]}, b"\x89PNG")
# A space, and its form in HTML; the last one breaks lines after 60 characters.
_SPACES = ((" ", " "), (" ", "&nbsp;"), (" ", "&#160;"), ("(.{60}[^ ]*) ", r"\1\n  "))
_SLOT = re.compile(r"\[(?:(\d+)\.\.(\d+)|(\*?)([a-z]+))\]")


def filler(rng: random.Random, claims: Sequence[str]) -> Callable[[str], str]:
    """Return a function that fills the slots of templates; `[*name]` is the same word in all."""
    same: dict[str, str] = {}

    def word(slot: re.Match[str]) -> str:
        low, high, is_same, name = slot.groups()
        if low:
            return str(rng.randint(int(low), int(high)))
        if is_same and name in same:
            return same[name]
        filled = fill(rng.choice(claims if name == "claim" else _WORDS[name]))
        if is_same:
            same[name] = filled
        return filled

    fill = partial(_SLOT.sub, word)
    return fill


def as_html(rng: random.Random, paragraphs: Sequence[str]) -> str:
    """Return HTML that cleans to the very same text as these paragraphs."""
    parts = [_inline(rng, part) for part in paragraphs]
    block = rng.choice(_FILE["blocks"])
    body = "".join(block.replace("{}", part) for part in parts)
    return f"{rng.choice(_FILE['extras'])}{body}{rng.choice(_FILE['extras'])}"


def _inline(rng: random.Random, text: str) -> str:
    space, written = rng.choice(_SPACES)
    cuts = sorted(rng.sample(range(len(text) + 1), rng.choice((0, 2, 4))))
    parts = [
        re.sub(space, written, html.escape(text[start:end], quote=rng.random() < 0.3))
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    ]
    parts[1::2] = [rng.choice(_FILE["wraps"]).replace("{}", part) for part in parts[1::2]]
    return "".join(parts)


class Kind(StrEnum):
    """The kind of a document of the corpus: an original, or how it was derived from one.

    share: of all documents; expected: the right decision, kept, duplicate or skipped; text: of
    the table.
    """

    share: float
    expected: str
    text: Message

    def __new__(cls, value: str, share: float, expected: str, text: Message) -> Self:
        """Return a member with its three attributes."""
        kind = str.__new__(cls, value)
        kind._value_, kind.share, kind.expected, kind.text = value, share, expected, text
        return kind

    ORIGINAL = "original", 0, "kept", Message("a text of its own")  # and the rest of all
    EXACT_COPY = "exact_copy", 0.08, "duplicate", Message("the same text")
    MARKUP_COPY = "markup_copy", 0.08, "duplicate", Message("the same text in other HTML")
    NEAR_COPY = "near_copy", 0.08, "duplicate", Message("a typo, a note, other commas")
    NUMBER_CHANGED = "number_changed", 0.05, "kept", Message("asks with another number")
    POLARITY_CHANGED = "polarity_changed", 0.02, "kept", Message("asks for the opposite")
    SHORT = "short", 0.03, "kept", Message("8 characters at most")
    SHORT_COPY = "short_copy", 0.01, "duplicate", Message("the same short text")
    EMPTY = "empty", 0.01, "skipped", Message("HTML or spaces without words")
    MISSING = "missing", 0.01, "skipped", Message("the field is missing")
    NOT_TEXT = "not_text", 0.01, "skipped", Message("a number, a list, bytes ...")


_LONGEST = 400  # characters of an original before its closing question
_NEAR_COPY_FROM = 100  # shorter texts change too much by one character
_RETRIES = 40

_NUMBER = re.compile(r"(?<![A-Za-z0-9_^{/.\\])\d+(?:\.\d+)?")
_CHOICES = re.compile(r"A\. |①|甲：")  # the start of the first choice
_NAME = re.compile("|".join(_WORDS["given"] + _WORDS["city"] + _WORDS["region"]))


def make_corpus(size: int = 5000, seed: int = 20260101) -> list[dict[str, Any]]:
    """Return `size` labelled documents, `_id` from 1 in order; copies come after their original."""
    drafts = sorted(_drafts(random.Random(seed), size), key=lambda draft: draft.rank)
    ids = {id(draft): number for number, draft in enumerate(drafts, 1)}
    corpus = []
    for number, draft in enumerate(drafts, 1):
        text = {} if draft.kind is Kind.MISSING else {"text": draft.text}
        labels = {"kind": draft.kind.value, "of": ids[id(draft.of)] if draft.of else None}
        corpus.append(
            {"_id": number, **text, **labels, "subject": draft.subject, "answer": draft.answer}
        )
    return corpus


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    kind: Kind
    text: Any
    subject: str
    answer: str
    rank: float  # in the order of the corpus, 0 to 1
    of: Self | None = None
    paragraphs: tuple[str, ...] = ()


_Deriver = Callable[[random.Random, _Draft], str | None]
"""Returns the text of a copy of a document; None if no such copy can be made."""


def _drafts(rng: random.Random, size: int) -> list[_Draft]:
    counts = {kind: round(size * kind.share) for kind in Kind}
    used: set[str] = set()
    originals = [_original(rng, used) for _ in range(size - sum(counts.values()))]
    shorts = [_short(rng, used) for _ in range(counts.pop(Kind.SHORT))]
    drafts = [*originals, *shorts]
    for kind, count in counts.items():
        for _ in range(count):
            if (maker := _DERIVED.get(kind)) is None:
                text = rng.choice(_FILE["empty"] if kind is Kind.EMPTY else _NOT_TEXT)
                draft = _Draft(kind, text, rng.choice(tuple(SENTENCES)), "", rng.random())
            else:
                sources = shorts if kind is Kind.SHORT_COPY else originals
                draft = _derived(rng, kind, maker, sources, used) or _original(rng, used)
            drafts.append(draft)
    return drafts


def _derived(
    rng: random.Random, kind: Kind, maker: _Deriver, sources: list[_Draft], used: set[str]
) -> _Draft | None:
    for _ in range(_RETRIES if sources else 0):
        source = rng.choice(sources)
        text = maker(rng, source)
        answer = source.answer
        if text is None or (kind.expected == "kept" and text in used):
            continue
        if kind.expected == "kept":
            used.add(text)
            answer = rng.choice([letter for letter in "ABCD" if letter != answer])
        rank = rng.uniform(source.rank, 1)
        return _Draft(kind, text, source.subject, answer, rank, of=source)
    return None


def _original(rng: random.Random, used: set[str]) -> _Draft:
    subject = rng.choice(tuple(SENTENCES))
    while True:
        paragraphs = _compose(rng, subject)
        # Several paragraphs are stored as HTML, as an editor leaves them; one is plain text.
        marked = len(paragraphs) > 1
        text = "".join(f"<p>{part}</p>" for part in paragraphs) if marked else paragraphs[0]
        if text not in used:
            used.add(text)
            return _Draft(
                Kind.ORIGINAL, text, subject, rng.choice("ABCD"), rng.random(), None, paragraphs
            )


def _short(rng: random.Random, used: set[str]) -> _Draft:
    names = _WORDS["bioprocess"] + _WORDS["reagent"] + _WORDS["landform"]
    while True:
        a, b, letter = rng.randint(1, 99), rng.randint(1, 99), rng.choice("abkmnxy")
        sums = ((f"{a}+{b}=?", str(a + b)), (f"{a}×{b}=?", str(a * b)), (f"{a}-{b}=?", str(a - b)))
        stubs = ((f"若{letter}>{a}，则", "A"), (f"求{letter}÷{b}", "B"), (rng.choice(names), "C"))
        text, answer = rng.choice(sums + stubs)
        if text not in used and 2 <= len(text) <= 8:
            used.add(text)
            return _Draft(Kind.SHORT, text, "数学", answer, rng.random())


def _compose(rng: random.Random, subject: str) -> tuple[str, ...]:
    fill = filler(rng, CLAIMS[subject])
    longest = {"语文": 10, "新闻": 11, "英语": 4}.get(subject, 6)
    pool = SENTENCES[subject]
    sentences: list[str] = []
    for template in rng.sample(pool, rng.randint(2, longest)):
        sentence = fill(template)
        sentence = sentence[0].upper() + sentence[1:]
        if sum(map(len, sentences)) + len(sentence) <= _LONGEST:
            sentences.append(sentence)
    if subject != "新闻":
        closing = _CLOSINGS["english" if subject == "英语" else "exam"]
        sentences.append(fill(rng.choice(closing)))
    glue = " " if subject == "英语" else ""
    if len(sentences) < 5 or rng.random() < 0.5 or any("<" in part for part in sentences):
        return (glue.join(sentences),)
    cut = rng.randint(2, len(sentences) - 2)
    return glue.join(sentences[:cut]), glue.join(sentences[cut:])


def _near_copy(rng: random.Random, source: _Draft) -> str | None:
    """Return a text with a typo, another width of punctuation or a note, of the same meaning."""
    text = str(source.text)
    letters, marks = _letters_and_marks(text)
    alike = [i for i in letters if text[i] in _SLIPS]
    if sum(map(len, source.paragraphs)) < _NEAR_COPY_FROM or not alike or not marks:
        return None
    characters = list(text)
    match rng.choice(("drop", "exchange", "width", "note")):
        case "drop":
            for i in rng.sample(letters, min(rng.randint(1, 2), len(letters))):
                characters[i] = ""
        case "exchange":
            for i in rng.sample(alike, min(rng.randint(1, 2), len(alike))):
                characters[i] = rng.choice(_SLIPS[text[i]])
        case "width":
            for i in rng.sample(marks, min(rng.randint(1, 3), len(marks))):
                characters[i] = _FILE["widths"][text[i]]
        case _:
            characters.append(rng.choice(_WORDS["note"]))
    return "".join(characters)


def _letters_and_marks(text: str) -> tuple[list[int], list[int]]:
    inner = [i for i in range(1, len(text) - 1) if _chinese(text[i - 1]) and _chinese(text[i + 1])]
    names = {i for name in _NAME.finditer(text) for i in range(*name.span())}  # with a slip another
    letters = [i for i in inner if _chinese(text[i]) and text[i] not in _FILE["meaningful"]]
    marks = [i for i in inner if text[i] in _FILE["widths"]]
    return [i for i in letters if i not in names], marks


def _chinese(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _number_changed(rng: random.Random, source: _Draft) -> str | None:
    """Return a text with another number in its question, None if that has none."""
    text = str(source.text)
    choices = _CHOICES.search(text)
    numbers = list(_NUMBER.finditer(text, 0, choices.start() if choices else len(text)))
    if not numbers:
        return None
    number = rng.choice(numbers)
    first, rest = number[0][0], number[0][1:]
    digit = rng.choice([d for d in "123456789" if d != first])
    return text[: number.start()] + digit + rest + text[number.end() :]


def _polarity_changed(rng: random.Random, source: _Draft) -> str | None:
    text = str(source.text)
    fitting = [(word, opposite) for word, opposite in _FILE["opposites"] if word in text]
    return text.replace(*rng.choice(fitting), 1) if fitting else None


_DERIVED: Mapping[Kind, _Deriver] = {
    Kind.EXACT_COPY: lambda _, source: str(source.text),
    Kind.MARKUP_COPY: lambda rng, source: as_html(rng, source.paragraphs),
    Kind.NEAR_COPY: _near_copy,
    Kind.NUMBER_CHANGED: _number_changed,
    Kind.POLARITY_CHANGED: _polarity_changed,
    Kind.SHORT_COPY: lambda _, source: str(source.text),
}


_DATABASE, _SOURCE, _TARGET = "dedup_demo", "questions", "unique_questions"


class Row(NamedTuple):
    """A kind of documents: number of all, number of those with the expected decision."""

    kind: Kind
    planted: int
    found: int


def run_demo(
    documents: int,
    seed: int,
    folder: Path | None,
    callbacks: RunCallbacks,
    tell: Callable[[str], None],
) -> tuple[Run, list[Row], int]:
    """Make documents, run on them, and compare the decisions with the expected ones.

    Returns the report, a row for each kind, and the number of documents that are in neither or
    both of target and ledger. The demo's database is emptied first. folder: holds the server's
    data, which is deleted if None; tell: takes the name of each step.
    """
    tell(Message("starting a MongoDB server ..."))
    corpus = make_corpus(documents, seed)
    with (
        embedded_server(folder) as uri,
        translate_errors(),
        MongoClient[dict[str, Any]](uri) as client,
    ):
        client.drop_database(_DATABASE)
        client[_DATABASE][_SOURCE].insert_many(corpus)
        run = command_line("run", "--db", _DATABASE, "--source", _SOURCE, "--target", _TARGET)
        tell(f"{run}\n")
        request = Request(f"{_DATABASE}.{_SOURCE}", f"{_DATABASE}.{_TARGET}")
        report = run_job(load({"connection.uri": uri}).settings, request, callbacks)
        decided = _decided(client[_DATABASE])
    lost = sum(len(decided.get(each["_id"], ())) != 1 for each in corpus)
    return report, score(corpus, decided), lost


def _decided(database: Database[dict[str, Any]]) -> Mapping[int, list[str]]:
    found = defaultdict[int, list[str]](list)
    for name in (_TARGET, f"{_TARGET}.ledger"):
        for row in database[name].find({}, {"decision": 1}):
            found[row["_id"]].append(row.get("decision", "kept"))
    return found


def score(corpus: Sequence[Mapping[str, Any]], decided: Mapping[int, Sequence[str]]) -> list[Row]:
    """Return a row for each kind; decided: by `_id`, the decisions on each document."""
    planted, found = Counter(each["kind"] for each in corpus), Counter[str]()
    for each in corpus:
        expected = Kind[each["kind"].upper()].expected
        found[each["kind"]] += list(decided.get(each["_id"], ())) == [expected]
    return [Row(kind, planted[kind], found[kind]) for kind in Kind]
