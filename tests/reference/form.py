"""Folding and tokens by regular expressions, beside src/judgment/parsed_text.cpp and form.cpp.

The core's own parse says where stem, choices, answer, explanation and notes lie, without formulas;
golden files keep that parse: tests/judgment/test_golden.py.
"""

import re
from dataclasses import dataclass, field, replace
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
    """A word, number, sign, gap or image.

    key: what it is compared by; signs: characters before it that are no tokens.
    """

    text: str
    kind: Kind
    weight: float
    clause: int
    flags: Flag
    key: int
    signs: str = ""


@dataclass
class Layout:
    """Lines of a stem, its provisions, tokens before the first one, whether it asks, is long."""

    lines: list[list[Token]] = field(default_factory=list)
    provisions: int = 0
    preamble: int = 0
    asks: bool = False
    is_long: bool = False


@dataclass
class Form:
    """Tokens by part; `asked` are those of stem and choices."""

    stem: list[Token]
    choices: list[list[Token]]
    answer: list[Token]
    explanation: list[Token]
    notes: list[Token]
    layout: Layout
    asked: list[Token]


class Parts(NamedTuple):
    """A text as the core parses it; images: addresses, in the order of their marks."""

    stem: str
    choices: list[str]
    answer: str
    explanation: str
    notes: str
    images: list[str]
    han: bool
    provision: bool


def parts_of(text):
    """Return the core's parse of a text."""
    return Parts(*judge_for().read([text]).parts()[0])


# --- characters


def fold(text):
    """Return characters as they are compared; superscripts and subscripts as ^{...} and _{...}."""
    folds, out, script = tables.folds(), "", ""
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
_SIGNS_ALONE = re.compile(rf"[&*·{M}]|(?<=[{P}])\[|(?<=\[):|:(?=\])")
_PAUSES = re.compile(rf"(?:[,;。?!:\n]|\.(?![{P}{H}]))(?<![0-9](?s:.)(?=[0-9]))")
_PROVISION = re.compile(r"第\s*[0-9零一二三四五六七八九十百千]+\s*条|(article|section) [0-9]")
_BRACKETS = re.compile(r"\([^()\[\]\n]{0,80}[)\]]")
_A_NOT_A = re.compile(r"(?<=(.))[不没]\1|(?<=[是能可会])否")
OF_WORDS = Flag.NEGATES | Flag.LIMITS | Flag.GRAMMAR | Flag.JOINS | Flag.EQUALS
OF_WORDS |= Flag.POLAR | Flag.ASKS | Flag.TASK
WEIGHTS = {Kind.NUMBER: 6.0, Kind.LETTER: 4.0, Kind.SYMBOL: 2.0, Kind.IMAGE: 8.0}
OPEN, CLOSE, IMAGE = "\ufdd0", "\ufdd1", "\ufdd2"  # marks of emphasis and images


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


def phrase(text, i, wanted):
    """Return the length of the longest phrase of some kinds at an offset, or 0."""
    found = _phrases().get(text[i : i + 1], ())
    return next((len(p) for p, kinds in found if kinds & wanted and text.startswith(p, i)), 0)


@cache
def _phrases():
    """Return the phrases by their first characters, the longest first."""
    known = sorted(tables.phrases().items(), key=lambda one: -len(one[0]))
    return {first: [one for one in known if one[0][0] == first] for first, *_ in tables.phrases()}


def goes_on(text):
    """Return whether a sentence goes on here, so that a number before it numbers nothing."""
    text = re.sub(r"\A[ \n]*(\$[ \n]*)?", "", text)
    if re.match(r"([+×÷·=<>≤≥≠≈≡±^/%°])(?!\1)", text):
        return True
    n = phrase(text, 0, Phrase.JOINT)
    if not n or not re.match(f"[{H}]", text):
        return n > 0 and not re.match(f"[{P}]", text[n:])
    return not any(is_word(text[: n + more]) for more in (1, 2, 3) if n + more <= len(text))


class Tokenizer:
    """Cuts one part of a text into tokens; images: addresses that are left, shared by parts."""

    def __init__(self, images, han):
        self.images, self.han = images, han
        self.tokens, self.starts, self.provisions = [], [0], []  # starts of lines, in tokens
        self.clause, self.fresh, self.signs = 0, False, ""
        self.emphasised = self.listed = False
        self.arguments = 0  # the offset where those of a function end

    def put(self, text, kind, weight=None, flags=NO_FLAG):
        """Add a token."""
        meaning, synonym = (0, 0) if kind == Kind.IMAGE else tables.words().get(text, (0, 0))
        known = Flag(meaning) & OF_WORDS
        flags |= known & (Flag.NEGATES | Flag.LIMITS) if kind == Kind.LETTER else known
        if not meaning & Flag.NOT_NEGATING and any(c in tables.negating() for c in text):
            flags |= Flag.NEGATES
        flags |= Flag.EMPHASISED if self.emphasised else NO_FLAG
        flags |= Flag.LISTED if self.listed else NO_FLAG
        flags |= Flag.ARGUMENT if self.arguments else NO_FLAG
        weight = float(np.float32(WEIGHTS.get(kind, 0.0) if weight is None else weight))
        key = synonym or xxhash.xxh3_64_intdigest(text.encode("utf-32-le", "surrogatepass"))
        self.tokens.append(Token(text, kind, weight, self.clause, flags, key, self.signs))
        self.signs, self.fresh, self.listed = "", True, False

    def change_last(self, **values):
        self.tokens[-1] = replace(self.tokens[-1], **values)

    def run(self, text):
        """Return the tokens of a text."""
        operators, kept = operators_of(text), formula_brackets(text)
        quote, quoted, begin = 0, None, 0  # behind a mark; tokens before it; the clause's first
        for m in SCANNER.finditer(text):
            i, end = m.span()
            c = text[i]
            self.arguments *= i < self.arguments
            if c == "\n" and len(self.tokens) > self.starts[-1]:
                self.starts.append(len(self.tokens))
            if len(self.tokens) == self.starts[-1] and _PROVISION.match(text, i):
                self.provisions.append(len(self.tokens))
            if c == "(" and not m["blank"] and re.match("[a-z]", text[max(i - 1, 0) :]):
                inner = _BRACKETS.match(text, i)
                self.arguments = inner.end() - 1 if inner else 0
            if m["number"]:
                behind = text[end + 1 :]
                numbers = self.clause and not self.fresh and end - i <= 2 and text[end:][:1] == "."
                numbers = numbers and re.match(rf"[ \n]*[{H}]", behind) and not goes_on(behind)
                if not numbers:
                    self.put(plain_number(m[0]), Kind.NUMBER)
            elif m["circled"]:
                self.put(c, Kind.NUMBER, 3.0)
            elif m["latin"]:
                self.put_latin(m[0])
            elif m["han"]:
                self.put_han(m[0])
            elif m["blank"]:
                self.put("＿", Kind.BLANK)
            elif c == IMAGE:
                self.put(self.images.pop(0), Kind.IMAGE)
            elif c in (OPEN, CLOSE):
                self.emphasised = c == OPEN
            elif c == '"':
                if quoted == len(self.tokens):
                    self.signs += text[quote:i]
                quoted, quote = len(self.tokens) if quoted is None else None, end
            elif c == "、":
                self.listed = True
            elif i in kept | operators:
                self.put(c, Kind.SYMBOL, 1.0 if i in kept else None)
            elif _SIGNS_ALONE.match(text, i):
                self.signs += c
            if self.fresh and _PAUSES.match(text, i):
                if c == "?":
                    first = self.tokens[begin]
                    if len(self.tokens) - begin == 2 and first.flags & Flag.LATIN:  # isn't it?
                        self.tokens[begin] = replace(first, flags=first.flags & ~Flag.NEGATES)
                    self.change_last(flags=self.tokens[-1].flags | Flag.TASK)
                self.clause, self.fresh, begin = self.clause + 1, False, len(self.tokens)
        if self.tokens and self.signs:
            self.change_last(signs=f"{self.tokens[-1].signs} {self.signs}")
        return self.tokens

    def put_latin(self, text):
        """Add a word of letters; what stands behind `or` denies nothing."""
        meaning = tables.words().get(text, (0, 0))[0]
        if meaning & Flag.AUXILIARY and not self.fresh:
            self.put("?", Kind.FUNCTION)
        whether = self.fresh and self.tokens[-1].text == "or"
        if not self.han and meaning & Flag.ENGLISH_FUNCTION:
            self.put(text, Kind.FUNCTION)
        elif len(text) == 1 or meaning & Flag.FORMULA:
            self.put(text, Kind.LETTER, flags=Flag.LATIN)
        else:
            self.put(text, Kind.WORD, 8.0, Flag.LATIN)
        if whether:
            self.change_last(flags=self.tokens[-1].flags & ~Flag.NEGATES)

    def put_han(self, text):
        """Add the words of jieba, but for what only asks: 会不会, 是否."""
        run = _A_NOT_A.sub("", text)
        for word in jieba.cut(run):
            flags = Flag.PROPER if word in tables.proper_nouns() else NO_FLAG
            is_function = tables.words().get(word, (0, 0))[0] & Flag.FUNCTION
            weight = tables.idf().get(word, 10.0 if len(word) > 1 else 7.0)
            self.put(word, *((Kind.FUNCTION, 0.0) if is_function else (Kind.WORD, weight)), flags)
        if run != text:
            self.put("?", Kind.FUNCTION)


def asks(text, is_long):
    """Return whether a stem asks for something."""
    body = re.sub("[ \n。!]+$", "", text)
    if body[-1:] in tuple("?是为=_"):
        return True
    asked = any(c == "?" and 4 * (len(text) - i) <= len(text) + 80 for i, c in enumerate(text))
    if not is_long and (asked or any(m["blank"] for m in SCANNER.finditer(text))):
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
    choices, *others = (
        [Tokenizer(parts.images, parts.han).run(one) for one in some]
        for some in (parts.choices, [parts.answer, parts.explanation, parts.notes])
    )
    lines = [stem.tokens[i:j] for i, j in pairwise([*stem.starts, len(stem.tokens)]) if i < j]
    is_long = len(lines) > 3 or len(parts.stem) > 300
    provisions = len(stem.provisions) + parts.provision
    layout = Layout(lines, provisions, [*stem.provisions, 0][0], asks(parts.stem, is_long), is_long)
    asked = [*stem.tokens, *(t for choice in choices for t in choice)]
    return Form(stem.tokens, choices, *others[0], layout, asked)
