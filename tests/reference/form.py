"""Folding and tokens by regular expressions, beside src/judgment/parsed_text.cpp and form.cpp.

The core's own parse says where stem, choices, answer, explanation and notes lie, without formulas;
golden files keep that parse: tests/judgment/test_golden.py.
"""

import re
from dataclasses import dataclass
from enum import IntEnum, IntFlag, StrEnum
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import jieba
import numpy as np
import xxhash

from dedup_job import _core
from dedup_job.judgment import tables
from tests.judging import judge_for

Class = StrEnum("Class", [(name.upper(), name) for name in _core.CLASSES])
Flag, Phrase = (
    IntFlag(name, [(key.upper(), bit) for key, bit in bits.items()])
    for name, bits in (("Flag", _core.FLAGS), ("Phrase", _core.PHRASES))
)
Kind = IntEnum("Kind", "WORD FUNCTION NUMBER LETTER SYMBOL IMAGE BLANK", start=0)
NO_FLAG = Flag(0)
class_of = cache(tables.class_of)


@dataclass(frozen=True)
class Token:
    """A word, number, sign, gap or image; key: its identity when texts are compared.

    flags: GRAMMAR and LATIN are compared; the others serve guards, which the reference lacks.
    """

    text: str
    kind: Kind
    weight: float
    clause: int
    flags: Flag
    key: int


@dataclass
class Form:
    """A text as tokens by part; lines: tokens of the stem; compared: those of stem and choices."""

    stem: list[Token]
    choices: list[list[Token]]
    answer: list[Token]
    explanation: list[Token]
    lines: list[list[Token]]
    compared: list[Token]
    asks: bool
    is_long: bool


class Parts(NamedTuple):
    """A text as the core parses it.

    images: addresses, in the order of their marks; han: whether Han characters are in the text.
    """

    stem: str
    choices: list[str]
    answer: str
    notes: str
    explanation: str
    images: list[str]
    han: bool


def parts_of(text):
    """Return the parts of a text (stem, choices, answer ...) as the core parses it."""
    return Parts(*judge_for().parsed([text]).parts()[0])


# --- characters


def fold(text):
    """Return characters as they are compared; superscripts and subscripts as ^{...} and _{...}."""
    folds, out, script = tables.folding_table(), "", ""
    for i, character in enumerate(text):
        plain, raised = folds.get(character, (character, ""))
        if raised == tables.JOINED:
            raised = script
            whole = tables.words().get(out[-1:] + plain, (0, 0))[1]
            if whole and plain not in ("'", '"'):
                out = out[:-1] + chr(whole)
                continue
            named = text[i - 1 : i]
            if (
                plain in ("'", '"')
                and out[-2:-1] == plain
                and re.match("[A-Z\u3400-\u9fff]", named)
            ):
                out = out[:-1] + named
            behind = folds.get(text[i + 1 : i + 2], (text[i + 1 : i + 2], ""))[0]
            if character == "著" and (is_word(f"{out[-1:]}著") or is_word(f"著{behind}")):
                plain = character
        if raised != script:
            out += ("}" if script else "") + (f"{raised}{{" if raised else "")
            script = raised
        out += plain
    return out + ("}" if script else "")


def is_word(text):
    """Return whether jieba's dictionary holds a word."""
    jieba.dt.check_initialized()
    return jieba.dt.FREQ.get(text, 0) > 0


@cache
def _set_of(*classes):
    """Return the characters of some classes as ranges of a regular expression."""
    points = [p for p in range(0x10000) if class_of(chr(p)) in classes]
    starts = [p for before, p in pairwise([-2, *points]) if p != before + 1]
    ends = [p for p, behind in pairwise([*points, 0x20000]) if behind != p + 1]
    beyond = {Class.LETTER: "\U00020000-\U0003ffff", Class.MARK: "\U00010000-\U0001ffff"}
    ranges = [f"\\u{a:04x}-\\u{b:04x}" for a, b in zip(starts, ends, strict=True)]
    return "".join([*ranges, *(beyond.get(one, "") for one in classes)])


H, L, C, M = map(_set_of, (Class.HAN, Class.LETTER, Class.CIRCLED, Class.MARK))
P, SIGNS = _set_of(Class.LETTER, Class.DIGIT), _set_of(Class.SIGN)
SIDE = rf"{P}()⟨⟩√|"
NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3}(?![0-9]))+|[0-9]+)(?:\.[0-9]+)?"
SCANNER = re.compile(
    rf"(?P<number>{NUMBER})|(?P<circled>[{C}])|(?P<latin>[{L}]+(?:'[a-z]+)?)|(?P<han>[{H}]+)"
    r"|(?P<blank>\([ \n]*\)|\[[ \n]*\]|_(?:[ \n]*_)+)|(?P<rest>(?s:.))"
)
_OPERATORS = re.compile(  # signs with a meaning: - in a-1, not in well-known
    rf"(?<![{H}])-(?= *[0-9])|(?<![{H}])(?<![{L}][{L}])-(?= *(?:[(⟨√]|[{L}](?![{L}])))"
    rf"|(?<!<)<(?!<)|(?<!>)>(?!>)|(?<=[{SIDE}])[_/·*~](?=[{SIDE}])"
    rf"|(?<![{L}])!(?=[=({L}])|(?<=[0-9])!(?![=({L}])"
    rf"|(?<=[{SIDE}])\||\|(?=[{SIDE}])|(?<![{P}][{P}] )(?<=[{P}] )\|(?=[^{P}][{P}](?![{P}]))"
    rf"|(?![-<>_!'|/·*~])[{SIGNS}]"
)
_PRIMES = re.compile(rf"(?<![{L}])[{L}]('+)(?!['{L}])")
_PAUSES = re.compile(rf"(?:[,;。?!:\n]|\.(?![{P}{H}]))(?<![0-9](?s:.)(?=[0-9]))")
_A_NOT_A = re.compile(r"(?<=(.))[不没]\1|(?<=[是能可会])否")
WEIGHTS = {Kind.NUMBER: 6.0, Kind.LETTER: 4.0, Kind.SYMBOL: 2.0, Kind.IMAGE: 8.0}
IMAGE = "\ufdd2"  # mark of an image, which no folded text holds


def operators_of(text):
    """Return the offsets of signs with a meaning."""
    primes = (i for m in _PRIMES.finditer(text) for i in range(*m.span(1)))
    return {*(m.start() for m in _OPERATORS.finditer(text)), *primes}


def plain_number(text):
    """Return 3 for 3.0, 7 for 007 and 1000 for 1,000."""
    whole, point, decimals = text.replace(",", "").partition(".")
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + decimals if decimals else "")


def formula_brackets(text):
    """Return the offsets of brackets of formulas: (a+b), [2,6]; letters and a sign, no words."""
    opened, found = [], set()
    for i, c in enumerate(text):
        if c in "([":
            opened.append(i)
        elif c in ")]" and opened:
            start = opened.pop()
            inner = text[start + 1 : i]
            signs = re.search(rf"[,^]|(?![_'!~%°·])[{SIGNS}]", inner)
            words = re.search(rf"[{H}]|[a-z]{{5}}", inner)
            if i - start <= 81 and signs and not words and re.search(f"[{P}]", inner):
                found |= {start, i}
        elif c == "\n":
            opened.clear()
    return found


def phrase(text, i, words):
    """Return the length of the longest of these phrases at an offset, or 0."""
    found = _phrases().get(text[i : i + 1], ())
    return next((len(p) for p, kinds in found if kinds & words and text.startswith(p, i)), 0)


@cache
def _phrases():
    """Return the phrases by their first characters, the longest first."""
    known = sorted(tables.phrases().items(), key=lambda one: -len(one[0]))
    return {first: [one for one in known if one[0][0] == first] for first, *_ in tables.phrases()}


def goes_on(text):
    """Return whether a text continues a sentence, so that a number before it is no list number."""
    text = re.sub(r"\A[ \n]*(\$[ \n]*)?", "", text)
    if re.match(r"([+×÷·=<>≤≥≠≈≡±^/%°])(?!\1)", text):
        return True
    n = phrase(text, 0, Phrase.JOINT)
    if not n or not re.match(f"[{H}]", text):
        return n > 0 and not re.match(f"[{P}]", text[n:])
    return not any(is_word(text[: n + more]) for more in (1, 2, 3) if n + more <= len(text))


class Tokenizer:
    """Cuts one part of a text into tokens; images: addresses not used yet, shared by the parts."""

    def __init__(self, images, han):
        self.images, self.han = images, han
        self.tokens, self.starts = [], [0]  # starts of lines, in tokens
        self.clause, self.fresh = 0, False  # the clause has a token

    def put(self, text, kind, weight=None, flags=NO_FLAG):
        """Add a token."""
        known, synonym = (0, 0) if kind == Kind.IMAGE else tables.words().get(text, (0, 0))
        grammar = Flag(known) & Flag.GRAMMAR if kind != Kind.LETTER else NO_FLAG
        weight = float(np.float32(WEIGHTS.get(kind, 0.0) if weight is None else weight))
        key = synonym or xxhash.xxh3_64_intdigest(text.encode("utf-32-le", "surrogatepass"))
        self.tokens.append(Token(text, kind, weight, self.clause, flags | grammar, key))
        self.fresh = True

    def run(self, text):
        """Return the tokens of a text."""
        operators, brackets = operators_of(text), formula_brackets(text)
        for m in SCANNER.finditer(text):
            i, end = m.span()
            if text[i] == "\n" and len(self.tokens) > self.starts[-1]:
                self.starts.append(len(self.tokens))
            if m["number"]:
                if self.fresh or not self.clause or not self._is_numbering(m[0], text[end:]):
                    self.put(plain_number(m[0]), Kind.NUMBER)
            elif m["circled"]:
                self.put(m[0], Kind.NUMBER, 3.0)
            elif m["latin"]:
                self._put_latin(m[0])
            elif m["han"]:
                self._put_han(m[0])
            elif m["blank"]:
                self.put("＿", Kind.BLANK)
            elif m[0] == IMAGE:
                self.put(self.images.pop(0), Kind.IMAGE)
            elif i in brackets | operators:
                self.put(m[0], Kind.SYMBOL, 1.0 if i in brackets else None)
            if self.fresh and _PAUSES.match(text, i):
                self.clause, self.fresh = self.clause + 1, False
        return self.tokens

    @staticmethod
    def _is_numbering(number, behind):
        """Return whether a number at the start of a clause is a list number, such as `2.`."""
        dotted = len(number) <= 2 and re.match(rf"\.[ \n]*[{H}]", behind)
        return bool(dotted) and not goes_on(behind[1:])

    def _put_latin(self, text):
        meaning = tables.words().get(text, (0, 0))[0]
        if meaning & Flag.AUXILIARY and not self.fresh:
            self.put("?", Kind.FUNCTION)
        if not self.han and meaning & Flag.ENGLISH_FUNCTION:
            self.put(text, Kind.FUNCTION)
        elif len(text) == 1 or meaning & Flag.FORMULA:
            self.put(text, Kind.LETTER, flags=Flag.LATIN)
        else:
            self.put(text, Kind.WORD, 8.0, Flag.LATIN)

    def _put_han(self, text):
        """Add the words of jieba as tokens, without question words such as 会不会 and 是否."""
        run = _A_NOT_A.sub("", text)
        for word in jieba.cut(run):
            is_function = tables.words().get(word, (0, 0))[0] & Flag.FUNCTION
            weight = tables.idf().get(word, 10.0 if len(word) > 1 else 7.0)
            self.put(word, *((Kind.FUNCTION,) if is_function else (Kind.WORD, weight)))
        if run != text:
            self.put("?", Kind.FUNCTION)


def asks(text, is_long):
    """Return whether a stem asks for something."""
    body = re.sub("[ \n。!]+$", "", text)
    if body[-1:] in tuple("?是为=_"):
        return True
    ends_asking = any(
        c == "?" and 4 * (len(text) - i) <= len(text) + 80 for i, c in enumerate(text)
    )
    if not is_long and (ends_asking or any(m["blank"] for m in SCANNER.finditer(text))):
        return True
    last = re.sub("(?s).*[\n。!?]", "", body).lstrip(" ")
    if not is_long:
        return any(phrase(last, i, Phrase.ASK) for i in range(len(last)))
    lists = re.search("的是[ (①\n]", last)
    return bool(lists) or phrase(last.lstrip("(0123456789) "), 0, Phrase.ASK) > 0


def form_of(text):
    """Return the form of a text."""
    parts = parts_of(text)
    stem = Tokenizer(parts.images, parts.han)
    stem.run(parts.stem)
    choices, (answer, explanation) = (
        [Tokenizer(parts.images, parts.han).run(one) for one in some]
        for some in (parts.choices, [parts.answer, parts.explanation])
    )
    lines = [stem.tokens[i:j] for i, j in pairwise([*stem.starts, len(stem.tokens)]) if i < j]
    is_long = len(lines) > 3 or len(parts.stem) > 300
    compared = [*stem.tokens, *(t for choice in choices for t in choice)]
    asking = asks(parts.stem, is_long)
    return Form(stem.tokens, choices, answer, explanation, lines, compared, asking, is_long)
