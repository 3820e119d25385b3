"""The canonical form by regular expressions and recursion; of dedup_job it reads words.txt alone.

In order: each character becomes its plain form (`plain`); notes, answer key and what stands before
a question go (`split`); stem and choices are written out (`Writer`).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import opencc

FILE = Path(__file__).parents[2] / "dedup_job/judgment/words.txt"
SEPARATOR, IMAGE = "\x1f", "\ufffc"
NARROW = {ord("！") + i: chr(ord("!") + i) for i in range(94)}


def sections() -> dict[str, list[list[str]]]:
    """Return the lines of each section of words.txt; a dash in an English entry is a space."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    name = ""
    for line in FILE.read_text("utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif line and not line.startswith("#"):
            found[name].append([w.replace("-", " ") if w.isascii() else w for w in line.split()])
    return found


SECTIONS = sections()


def one_of(*names: str, latin: bool | None = None) -> str:
    """Return a pattern for the words of sections, the longest first."""
    words = {word for name in names for line in SECTIONS[name] for word in line}
    kept = [w for w in words if latin is None or w.isascii() == latin]
    return "(?:" + "|".join(map(re.escape, sorted(kept, key=lambda w: (-len(w), w)))) + ")"


# --- characters


@functools.cache
def simplified() -> dict[str, str]:
    """Return the simplified form of each traditional character."""
    those = [chr(i) for i in range(0x3400, 0xA000)]
    converted = opencc.OpenCC("t2s").convert("\n".join(those)).split("\n")
    return {a: b for a, b in zip(those, converted, strict=True) if len(b) == 1}


ALIKE = {
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
    **dict(zip("АВЕКМНОРСТХасеорху", "ABEKMHOPCTXaceopxy", strict=True)),
    **dict.fromkeys("−‐‑–⁃", "-"), **dict.fromkeys("∙•⋅・●", "·"), **dict.fromkeys("△∆Δ", "δ"),
    **dict.fromkeys("∣￨", "|"), **dict.fromkeys("′‘’", "'"), **dict.fromkeys("⁄∕", "/"),
    **dict.fromkeys("º˚∘", "°"), "∶": ":", "∼": "~", "⋯": "…", "⩽": "≤", "⩾": "≥", "≦": "≤",
    "≧": "≥", "▁": "_",
}  # fmt: skip
HAN = "\u3400-\u9fff〇"


@functools.cache
def raised(c: str) -> str:
    """Return what a superscript stands for, "" where it is none."""
    tag, *points = unicodedata.decomposition(c).split() or [""]
    single = tag == "<super>" and len(points) == 1 and c not in ALIKE and c < "\U00010000"
    return plain_one(unicodedata.normalize("NFKC", c).lower()) if single else ""


@functools.cache
def lowered(c: str) -> str:
    """Return what a subscript stands for, "" where it is none."""
    if unicodedata.decomposition(c).startswith("<sub>") and c < "\U00010000":
        return plain_one(unicodedata.normalize("NFKC", c).lower())
    return "a" if c == "ᴀ" else ""


@functools.cache
def plain(c: str) -> str:
    """Return what a character becomes."""
    if (
        c < "\x80"
        or raised(c)
        or lowered(c)
        or (c > "\uffff" and not "\U0001d400" <= c < "\U0001d800")
    ):
        return c
    decomposition = unicodedata.decomposition(c)
    tag, _, points = decomposition.partition(" ")
    if (
        c not in ALIKE
        and decomposition
        and c != "…"
        and not decomposition.startswith("<compat> 0020 ")
    ):
        if tag == "<square>":  # ㎡ is m²
            c = "".join(chr(int(point, 16)) for point in points.split())
        elif tag in ("<circle>", "<fraction>"):
            inner = unicodedata.normalize("NFKC", c)
            c = f" {inner}" if tag == "<fraction>" else f"({inner})" if inner.isascii() else inner
        else:
            c = unicodedata.normalize("NFKC", c)
    return "".join(d if raised(d) or lowered(d) else plain_one(d) for d in c)


def plain_one(c: str) -> str:
    """Return the plain form of a character that is not put together from others."""
    if "❶" <= c <= "❿":
        return f"({ord(c) - ord('❶') + 1})"
    digit = unicodedata.decimal(c, None)
    return ALIKE.get(c, str(digit) if digit is not None else simplified().get(c, c))


def is_han(c: str) -> bool:
    """Tell whether it is a Chinese character of the basic plane."""
    return "\u3400" <= c <= "\u9fff" or c == "〇"


def is_latin(c: str) -> bool:
    """Tell whether it is a letter of ASCII."""
    return c.isascii() and c.isalpha()


def is_digit(c: str) -> bool:
    """Tell whether it is a digit of ASCII."""
    return c.isascii() and c.isdigit()


def is_word(c: str) -> bool:
    """Tell whether it is a letter, digit or character of any script."""
    return c.isalnum() or c > "\uffff"


def words_in(text: str) -> int:
    """Return the number of letters, digits and _."""
    return sum(is_word(c) or c == "_" for c in text)


LOWER = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}

# --- images

PRIME = 0x9E3779B97F4A7C15
DIGITS_5, HEX = re.compile(r"[0-9]{5,}"), re.compile(r"(?=.*[0-9])(?=.*[a-f])[0-9a-f]{4,}")


def is_distinctive(name: str) -> bool:
    """Tell whether a part of a file name is a long number, a hash, or digits among letters."""
    mixed = len(name) >= 8 and len(re.findall(r"[0-9]+", name)) >= 2 and re.search("[a-z]", name)
    return bool(DIGITS_5.fullmatch(name) or HEX.fullmatch(name) or mixed)


def image(address: str) -> str:
    """Return IMAGE and three characters for an address.

    A distinctive file name stands for the image whatever host and path; else path and query do.
    """
    key = address
    if not address.startswith("data:"):
        key = re.sub(r"^(?:[A-Za-z]+:)?//[^/]*", "", address)
        name = key.partition("?")[0].rpartition("/")[2]
        stem = name.rpartition(".")[0] if "." in name else name
        if any(is_distinctive(part) for part in re.split("[^0-9a-z]+", stem.translate(LOWER))):
            key = name
    value = 0
    for c in key:
        value = (value ^ ord(c)) * PRIME % 2**64
        value ^= value >> 29
    return IMAGE + "".join(chr(0xF0000 + (value >> shift & 0xFFFF)) for shift in (0, 16, 32))


# --- notes

NO_IMAGE = r"(?<!!\[\])(?<!!\[audio\])(?<!!\[video\])"
CALLED = r"(?<![A-Za-z`])\(\)|\(\s+\)"  # now() is no blank, no__such no line
NAMED = r"(?<!_)__(?![A-Za-z_])(?<![A-Za-z]__)|___"
BLANK = re.compile(rf"{NO_IMAGE}(?:{CALLED})|{NAMED}")
LINE = re.compile(rf"(?:^|(?<=\s))(?:【{one_of('line')}】|{one_of('line')}\s*:)")
SENTENCE_END = re.compile(r"[。!]|(?<![0-9])\.(?=\s)")
BEFORE = r"(?:^|(?<=[\n。！？.?!)\s]))"
CLOSED = rf"【{one_of('answer', 'explanation')}】|\[{one_of('answer', 'explanation')}\]"
KEY = re.compile(rf"{BEFORE}(?={CLOSED}|{one_of('answer')}\s*:)")
EXPLANATION = re.compile(rf"{BEFORE}(?={CLOSED}|{one_of('answer', 'explanation')}\s*:)")
TASK = re.compile(r"(?:\n\s*|(?<=[。!.?])\s+)(?<=\s)[0-9]{1,3}\s*[.、](?![0-9])")
GAP = r"[^\w\U00010000-\U0010ffff]*"
LETTERS = re.compile(rf"{GAP}([A-Ha-h](?:\s*[,、]?\s*[A-Ha-h])*)(?![A-Za-z])")
FIGURE = re.compile(rf"{GAP}([1-8])(?![0-9])")
BRACKET = re.compile(rf"(?:{NO_IMAGE}\(|[\[【〔])([^()\[\]【】〔〕\n]{{0,60}})[)\]】〕](?!\{{\.)")
YEAR = r"(?<![0-9])(?:19|20)[0-9][0-9](?![0-9])"
SOURCE = re.compile(
    rf"[0-9]\s*分|[一二三四五六七八九十]分|{one_of('bracket', latin=False)}"
    rf"|{YEAR}.*(?:卷|考|·|届|学年)|卷.*{YEAR}",
    re.S,
)
SOURCE_LATIN = re.compile(one_of("bracket", latin=True))
NOTE = re.compile(one_of("note"))
LINE_NOTE = re.compile(
    rf"第\s*[0-9]+\s*页|共\s*[0-9]+\s*页|page\s*[0-9]+\s*of\s*[0-9]+"
    rf"|阅读\s*[0-9]+|密{GAP}封{GAP}线|^文/"
)


def is_source(inner: str) -> bool:
    """Tell whether what stands in brackets is a note: points, a source."""
    if SOURCE_LATIN.search(inner.translate(LOWER)):
        return True
    return bool(SOURCE.search(inner)) and not re.search(r"[A-Za-z=]{3}", inner)


def asks(text: str, start: int, stop: int) -> bool:
    """Tell whether a question mark or a blank is in a part of a text."""
    return "?" in text[start:stop] or BLANK.search(text[:stop], start) is not None


def without_last_notes(text: str) -> str:
    """Take off the notes that end a text: each a sentence of at most 60 characters in a line."""
    while True:
        end = len(text.rstrip())
        line = text.rfind("\n", 0, end) + 1
        behind = max((m.end() for m in SENTENCE_END.finditer(text, 0, end - 1)), default=0)
        first = max(line, behind, end - 60)
        marks = LINE.finditer(text[:end].translate(LOWER))
        found = [m.span() for m in marks if m.start() >= first]
        if not found or demands(text, found[-1][0], end):
            return text
        start, body = found[-1]
        if re.search(f"[{HAN}]:", text[body:end]):
            return text
        text = text[:start]


def without_notes(text: str) -> str:
    """Take out notes in brackets, then short lines and sentences that are notes."""
    text = BRACKET.sub(lambda m: " " if is_source(m[1]) and not is_within(m) else m[0], text)
    pieces = [m.span() for m in re.finditer(r"[^。\n]*[。\n]|[^。\n]+", text)]
    return "".join("\n" if is_note(text, a, b) else text[a:b] for a, b in pieces)


def is_within(m: re.Match[str]) -> bool:
    """Tell whether a bracket stands right behind a word, and something right behind the bracket."""
    before, behind = m.string[: m.start()][-1:], m.string[m.end() :][:1]
    return bool(before) and (is_word(before) or before == "_") and bool(behind.strip())


def is_note(text: str, start: int, stop: int) -> bool:
    """Tell whether a line or sentence is short, holds the mark of a note and asks nothing."""
    piece = text[start:stop].translate(LOWER)
    line = text[start - 1 : start] in ("", "\n") and (stop == len(text) or piece[-1] == "\n")
    noted = NOTE.search(piece) or (line and LINE_NOTE.search(piece))
    return bool(noted) and stop - start <= 60 and not demands(text, start, stop)


def demands(text: str, start: int, stop: int) -> bool:
    """Tell whether a question or an imperative stands in a sentence of a text."""
    last = re.split(r"[。!?\n]", text[start:stop].rstrip(" 。\n"))[-1]
    return asks(text, start, stop) or ASKS.search(last.translate(LOWER)) is not None


N10 = "[一二三四五六七八九十]"
NOT = "[^\n。,;? ]"
# not of 3.5, 12、 18, 三、四 or 3:x
DELIMITER = rf"(?:[.)](?![0-9])|、(?!\s*(?:[0-9]|{N10}))|:(?![0-9A-Za-z]))"
CLOSED_BY = r"(?:\s*[.、:)]|\s+|(?=[(\[【〔]))"
PREFIX = re.compile(
    rf"""\s*(?:
    (?P<number>
      \(?\s*(?:[0-9]{{1,3}}|{N10}{{1,3}})\s*\)?\s*{DELIMITER}\s*
      | 第\s*(?:[0-9]+|{N10}+)\s*小?题{CLOSED_BY}\s*
      | (?:例题?|习题|练习)\s*[0-9]+(?:\.[0-9]+)?{CLOSED_BY}\s*
      | (?:question|problem|exercise|q)\s*[0-9]+\s*[.、:)]\s*
    )
    | (?:19|20)[0-9][0-9]年?[^\n。,;?]{{0,24}}?
      (?:真题|模拟{NOT}{{0,6}}|高考|中考|卷{NOT}{{0,4}})\s*(?:第?\s*[0-9]+\s*题)?\s*[:、.\s]\s*
    | (?:[单多]选题|选择题|填空题|判断题|[简解]答题|[单多]项选择题)\s*:?\s*
    | [(【\[〔](?P<source>[^()\[\]【】〔〕\n]{{1,40}})[)】\]〕]\s*
    )""",
    re.X,
)


def without_prefix(text: str) -> tuple[str, int]:
    """Take off number, kind and source of a question, as long as a question remains.

    The second is how many letters and digits the numbers had.
    """
    numbers = 0
    for _ in range(8):
        found = PREFIX.match(text.translate(LOWER))
        if not found or (found["source"] is not None and not is_marked(found["source"])):
            break
        rest = text[found.end() :]
        if re.match(r"[+\-*/=^<>×÷%]", rest) or words_in(rest) < 4:
            break
        numbers += words_in(found["number"] or "")
        text = rest
    return text, numbers


def is_marked(inner: str) -> bool:
    """Tell whether it holds the mark of a source."""
    return bool(SOURCE_LATIN.search(inner) or SOURCE.search(inner))


# --- choices

Cuts = list[tuple[int, int]]
LABEL = re.compile(
    rf"(?P<before>^|[\s。,;.?!:)\]】$]|(?<=[{HAN}0-9%°])(?=[A-I][.、]))"
    r"(?:\(\s*(?P<a>[A-Ia-i])\s*\)|(?P<b>[A-I])\s*[.、:)]|(?<=\n)(?P<c>[A-Ia-i])[.、 \t])"
)
FIGURE_LABEL = re.compile(r"(?<=\n)\(?([1-8])\)?\s*[.、)]\s*(?=\S)")


def lettered(text: str) -> Cuts | None:
    """Find the last A, B, C ...: where each label begins and ends."""
    best: Cuts = []
    run: Cuts = []
    for m in LABEL.finditer(text):
        k = ord((m["a"] or m["b"] or m["c"]).upper()) - ord("A")
        if k == 8:
            if len(run) == 8:  # more than eight are no choices
                best, run = [], []
            continue
        if k == 0:
            run = [(m.end("before"), m.end())]
        elif run and k == len(run):
            run.append((m.end("before"), m.end()))
        elif k >= len(run):
            run = []
        if len(run) >= 2:
            best = list(run)
    glued = any(start and is_han(text[start - 1]) for start, _ in best)
    return best if len(best) >= (4 if glued else 2) else None


def figured(text: str) -> Cuts | None:
    """Find 1. 2. 3. at the end of a text, each on a short line of its own."""
    run: Cuts = []
    for m in FIGURE_LABEL.finditer(text):
        if int(m[1]) == 1:
            run = []
        elif not run or int(m[1]) != len(run) + 1:
            return None
        run.append(m.span())
    short = all(b[0] - a[0] <= 60 and text.count("\n", a[0], b[0]) <= 1 for a, b in pairwise(run))
    return run if len(run) >= 3 and len(text) - run[-1][0] <= 60 and short else None


STEM_KEY = re.compile(r"(?<![A-Za-z])\(\s*([A-H]{1,6})\s*\)\s*[。.]?\s*\Z")

# --- numbers

DIGIT = dict(zip("零〇一二两三四五六七八九", (0, 0, 1, 2, 2, *range(3, 10)), strict=True))
TEN, MYRIAD = {"十": 10, "百": 100, "千": 1000}, {"万": 4, "亿": 8}
NUMERAL = "[零〇一二两三四五六七八九十百千万亿]+"
LARGEST = 10**17
FIGURES = re.compile(
    r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]{1,3}(?:[ $]+[0-9]{3})+(?![0-9])"
    r"|[0-9]+(?:\.[0-9]+)?"
)
UNITS = {line[0]: line[1] for line in SECTIONS["units"]}
UNIT = re.compile("|".join(map(re.escape, sorted(UNITS, key=len, reverse=True))))
ENGLISH = {line[0]: line[1] for line in SECTIONS["numerals"]}
ONES = {word: n for word, n in ENGLISH.items() if len(n) == 1 and n != "0"} | {"one": "1"}
COUNTERS = {word for line in SECTIONS["counters"] for word in line}
SYMBOLS = {line[0]: line[1] for line in SECTIONS["symbols"]}
LOOKS = {word for line in SECTIONS["looks"] for word in line}
PARTS = {"百": "%", "千": "/1000", "万": "/10000"}
NO_NUMBER = ("千万", "百万", "万千", "千百", "万一", "百千", "十一")


def numeral_value(numeral: str) -> str | None:
    """Return the number that a Chinese numeral stands for, None where it is none."""
    if all(c in DIGIT for c in numeral):
        return "".join(str(DIGIT[c]) for c in numeral).lstrip("0") or "0"
    total = section = digit = 0
    for c in numeral:
        if c in DIGIT:
            if digit:
                return None
            digit = DIGIT[c]
        elif c in TEN:
            if not digit and (c != "十" or section):
                return None
            section, digit = section + (digit or 1) * TEN[c], 0
        else:
            section += digit
            if not section and (c == "万" or not total):
                return None
            before = total if c == "亿" else 0
            total += (before + section) * 10 ** MYRIAD[c] - before
            section = digit = 0
        if total >= LARGEST:
            return None
    return str(total + section + digit)


def figures(whole: str, fraction: str, shift: int = 0) -> str:
    """Return a number times 10 ** shift, without zeros that say nothing."""
    fraction = fraction.ljust(shift, "0")
    whole = (whole + fraction[:shift]).lstrip("0") or "0"
    fraction = fraction[shift:].rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


# --- writing

DROPPED = set('.,;:?"_#…。、“”《》〈〉「」『』【】〔〕〖〗·')
EMPHASIS = re.compile(r"\[([^\[\]]*)\]\{\.(?:underline|dots|bold|italic)\}")
TARGET = re.compile(r"\]\((?:http|#|/[A-Za-z])[^()\s]*\)")
LINK = re.compile(rf"\[[^\[\]]*{TARGET.pattern}")
LINKED = re.compile(rf"(?<!!){LINK.pattern}\Z")
IMAGE_LINK = re.compile(r"!\[(?:audio|video)?\]\(([^()\s]*)\)")
FRACTIONS = {"frac", "dfrac", "tfrac", "cfrac"}


def wrapped(text: str) -> str:
    """Put brackets around what is neither a number nor one character."""
    return text if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?|.|", text, re.S) else f"({text})"


class Writer:
    """Writes the canonical form of a part; clauses and emphasis are places in it."""

    def __init__(self, text: str, *, latex: bool, within: Writer | None = None) -> None:
        self.text = text
        self.latex = latex
        self.within = within  # emphasis writes to what surrounds it
        self.out: list[str] = within.out if within else []
        self.clauses: list[int] = within.clauses if within else []
        self.emphasis: list[tuple[int, int]] = within.emphasis if within else []

    def written(self) -> str:
        """Write all of it."""
        i = 0
        while i < len(self.text):
            i = self.element(i)
        return "".join(self.out)

    @property
    def last(self) -> str:
        """The last character that was written."""
        return self.out[-1] if self.out else ""

    def put(self, text: str) -> None:
        """Write as it is."""
        self.out.extend(text)

    def put_number(self, text: str) -> None:
        """Write a number, apart from one before it."""
        if is_digit(self.last):
            self.put(",")
        self.put(text)

    def match(self, pattern: str, i: int) -> re.Match[str] | None:
        """Look for a pattern at i, in small letters."""
        return re.compile(pattern).match(self.text.translate(LOWER), i)

    def before(self, i: int) -> str:
        """Return the last character before i that is not white space."""
        return self.text[:i].rstrip()[-1:]

    def after(self, i: int) -> str:
        """Return the first character from i on that is not white space."""
        return self.text[i:].lstrip()[:1]

    def element(self, i: int) -> int:
        """Write what stands at i; return where the next begins."""
        t, c = self.text, self.text[i]
        if c == "\\":
            return self.command(i)
        if c == "!" and (m := IMAGE_LINK.match(t, i)):
            self.put(image(m[1]))
            return m.end()
        if c == "[" and (m := EMPHASIS.match(t, i)):
            start = len(self.out)
            Writer(m[1], latex=self.latex, within=self).written()
            if len(self.out) > start:
                self.emphasis.append((start, len(self.out)))
            return m.end()
        if raised(c) or lowered(c) or c == "^" or (c == "_" and self.is_index(i)):
            return self.script(i)
        if is_digit(c) or (c == "." and self.is_point(i)):
            return self.number(i)
        if re.match(NUMERAL, c):
            return self.numeral(i)
        if is_latin(c):
            return self.word(i)
        if c == "至" and self.is_range(i, i + 1):
            self.put("-")
        elif is_word(c):
            lower = c.lower()
            self.put(lower if len(lower) == 1 and c < "\U00010000" else c)
        elif c.isspace():
            if c == "\n":
                self.clauses.append(len(self.out))
        else:
            return self.mark(i)
        return i + 1

    # commands and groups

    def command(self, i: int) -> int:
        """Write a command of LaTeX, or a character behind a backslash."""
        m = re.compile(r"\\([A-Za-z]+)").match(self.text, i)
        if not m:
            after = self.text[i + 1 : i + 2]
            if after in ("{", "}", "%"):
                self.put(after)
            return i + 1 if is_word(after) else i + 2
        name, i = m[1], m.end()
        if name in FRACTIONS:
            top, i = self.group(i)
            bottom, i = self.group(i)
            self.put_number(f"{wrapped(top)}/{wrapped(bottom)}")
        elif name in ("begin", "end"):
            for _ in range(2 if name == "begin" else 1):
                m = re.compile(r"\s*\{[^{}]*\}").match(self.text, i)
                i = m.end() if m else i
        elif name == "sqrt":
            degree = ""
            if m := re.compile(r"\s*\[([^\[\]\n]{0,20})\]").match(self.text, i):
                degree, i = Writer(m[1], latex=True).written(), m.end()
            inner, i = self.group(i)
            self.put_number(f"{degree}√{wrapped(inner)}")
        elif name == "textcircled":
            inner, i = self.group(i)
            self.put(f"({inner})" if inner else "")
        elif name not in LOOKS:
            symbol = SYMBOLS.get(name, name.lower())
            if symbol == "~":  # a range, as ~ is
                symbol = "-" if self.is_range(m.start(), i) else ""
            self.put(symbol)
        return i

    def group(self, i: int) -> tuple[str, int]:
        """Write {...}, a command, a character, or digits outside LaTeX; return them and the end."""
        t = self.text
        i += len(t[i:]) - len(t[i:].lstrip())
        if i == len(t):
            return "", i
        if t[i] == "{":
            end = self.closing(i)
            return (
                ("", i + 1) if end < 0 else (Writer(t[i + 1 : end], latex=True).written(), end + 1)
            )
        if t[i] == "\\":
            writer = Writer(t[i:], latex=True)
            end = writer.element(0)
            return "".join(writer.out), min(i + end, len(t))
        if not self.latex and (m := re.compile("[0-9]+").match(t, i)):
            return m[0], m.end()
        return Writer(t[i], latex=True).written(), i + 1

    def closing(self, i: int) -> int:
        """Return where the brace at i is closed, -1 where it is not."""
        depth = 0
        for k in range(i, len(self.text)):
            if self.text[k] in "{}" and (k == i or self.text[k - 1] != "\\"):
                depth += 1 if self.text[k] == "{" else -1
                if depth == 0:
                    return k
        return -1

    def is_index(self, i: int) -> bool:
        """Tell whether the _ at i stands within something."""
        around = self.text[i - 1 : i] + self.text[i + 1 : i + 2]
        return len(around) == 2 and not set(around) & set("_ \n")

    def script(self, i: int) -> int:
        """Write an exponent or index."""
        t, c = self.text, self.text[i]
        of = raised if raised(c) or c == "^" else lowered
        if c not in "^_":
            end = i
            while end < len(t) and of(t[end]):
                end += 1
            inner = "".join(map(of, t[i:end]))
        elif c == "^" and self.after(i + 1) == "(":
            self.put("^")
            return i + 1
        elif m := self.match("-[0-9]+" if self.latex else "-?[0-9]+", i + 1):
            inner, end = m[0], m.end()
        elif m := self.match(r"\s*(?:([-+'])|\{\s*(\+|-{1,8}|'{1,8})\s*\})", i + 1):
            inner, end = re.sub("-+", "-", m[1] or m[2]), m.end()
        else:
            inner, end = self.group(i + 1)
        if of is lowered:
            joined = (is_word(self.last) and not is_digit(self.last)) or self.last == ")"
            joined = joined and wrapped(inner) == inner
            self.put(inner if joined or not inner else f"_{wrapped(inner)}")
        elif inner in ("°", "+", "-") or re.fullmatch("'{0,8}", inner):
            self.put(inner)
        else:
            self.put_exponent(inner)
        return end

    def put_exponent(self, inner: str) -> None:
        """Write an exponent; m·s^-1 is m/s."""
        k = len(self.out)
        while k > max(0, len(self.out) - 8) and (
            "a" <= self.out[k - 1] <= "z" or self.out[k - 1] == "μ"
        ):
            k -= 1
        if re.fullmatch("-[0-9]", inner) and 0 < k < len(self.out) and self.out[k - 1] == "·":
            self.out[k - 1] = "/"
            self.put("" if inner == "-1" else f"^{inner[1]}")
        elif re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?|[0-9]+[+-]", inner):
            self.put(f"^{inner}")
        else:
            self.put(f"^{wrapped(inner)}")

    # numbers and words

    def is_point(self, i: int) -> bool:
        """Tell whether .5 stands at i."""
        before = self.text[i - 1 : i]
        apart = not before or before.isspace() or before in "=+-×÷<>(,$~/|"
        return apart and is_digit(self.text[i + 1 : i + 2])

    def number(self, i: int) -> int:
        """Write a number in digits, and the unit behind it."""
        t = self.text
        if t[i] == ".":
            m = self.match(r"\.([0-9]+)", i)
            whole, fraction = "0", m[1] if m else ""
        else:
            m = FIGURES.match(t, i)
            assert m
            whole, _, fraction = re.sub("[, $]", "", m[0]).partition(".")
        assert m
        end = m.end()
        zero = self.match("o(?![a-z])" if len(whole) > 1 else "o[0-9]|o 0", end)
        if zero and m[0] == whole and not is_latin(t[i - 1 : i]):  # an o for a zero
            m = self.match(r"[0-9o]+(?:(?: [0-9]{3})+(?![0-9]))?", i)
            assert m
            whole, end = m[0].replace("o", "0").replace(" ", ""), m.end()
        shift = 0
        if m := self.match(r"(?:\s?[万亿]){1,2}", end):
            shift, end = sum(MYRIAD.get(c, 0) for c in m[0]), m.end()
        self.put_number(figures(whole, fraction, shift))
        return self.put_unit(end)

    def unit(self, i: int) -> str:
        """Return the word for a unit that stands at i, "" where none does."""
        m = UNIT.match(self.text.translate(LOWER), i)
        whole = m and not (m[0].isascii() and is_latin(self.text[m.end() : m.end() + 1]))
        return m[0] if m and whole else ""

    def put_unit(self, i: int) -> int:
        """Write the unit behind a number, if there is one."""
        start = len(self.text) - len(self.text[i:].lstrip())
        unit = self.unit(start)
        if not unit:
            return i
        self.put(UNITS[unit])
        end = start + len(unit)
        while self.text[end : end + 1] == "/" and (unit := self.unit(end + 1)):
            self.put(f"/{UNITS[unit]}")
            end += 1 + len(unit)
        return end

    def is_range(self, i: int, end: int) -> bool:
        """Tell whether text[i:end] stands between two numbers."""
        before = self.before(i)
        return (is_digit(before) or before in ("%", "°")) and is_digit(self.after(end))

    def numeral(self, i: int) -> int:
        """Write a Chinese numeral: as a number where it counts something."""
        t = self.text
        m = re.compile(NUMERAL).match(t, i)
        assert m
        numeral, end = m[0], m.end()
        value = numeral_value(numeral)
        below = PARTS.get(numeral) or (value and f"/{value}")
        m = re.compile(rf"分之({NUMERAL}|[0-9]+(?:\.[0-9]+)?)").match(t, end)
        if m and below:
            whole, _, fraction = m[1].partition(".")
            above = figures(whole, fraction) if is_digit(whole[0]) else numeral_value(whole)
            if above:
                self.put_number(above + below)
                return m.end()
        if value is None or not self.counts(i, end, numeral):
            self.put(numeral)
            return end
        self.put_number(value)
        return self.put_unit(end) if self.unit(end) else end

    def counts(self, i: int, end: int, numeral: str) -> bool:
        """Tell whether a numeral is used to count, not within a word."""
        t = self.text
        counted = t[end : end + 1] in COUNTERS
        if len(numeral) == 1:
            if not self.before(i) and not self.after(end):
                return numeral not in "百千万亿"
            if numeral in "十百千万亿零〇":
                return numeral == "十" and counted and t[end] != "分"
            return t[i - 1 : i] == "第" or (numeral != "一" and bool(counted or self.unit(end)))
        if all(c in DIGIT for c in numeral):
            return len(numeral) >= 4 or "零" in numeral or "〇" in numeral
        return counted or numeral not in NO_NUMBER

    def word(self, i: int) -> int:
        """Write a word in Latin letters."""
        m = self.match("[a-z]+", i)
        assert m
        word, end = m[0], m.end()
        number = ENGLISH.get(word)
        if number is None:
            self.put(word)
            return end
        m = self.match(rf"[- ]({'|'.join(ONES)})(?!\w|[\U00010000-\U0010ffff])", end)
        if m and len(number) == 2 and number >= "20":
            number, end = str(int(number) + int(ONES[m[1]])), m.end()
        self.put_number(number)
        return end

    # marks

    def mark(self, i: int) -> int:
        """Write a mark where it means something; return where the next begins."""
        t, c = self.text, self.text[i]
        before, after = self.before(i), self.after(i + 1)
        if c in "([":
            if c == "[" and LINK.match(t, i) and t[i - 1 : i] != "!":
                return i + 1
            if m := re.compile(r"[(\[][\s_]*[)\]]").match(t, i):
                return m.end()
            self.put(c if after and not is_han(after) and after not in '“"《' else "")
        elif c in ")]":
            if c == "]" and (m := TARGET.match(t, i)) and LINKED.search(t[: m.end()]):
                return m.end()
            if before and not is_han(before) and before not in '”"》':
                self.close(c)
        elif c == "-":
            return self.dash(i, before, after)
        elif c in "~—":
            end = i + len(t[i:]) - len(t[i:].lstrip("~—"))
            self.put("-" if self.is_range(i, end) else "")
            return end
        elif c in "<>":
            if t[i : i + 2] == "<<" and is_han(t[i + 2 : i + 3] or " "):
                return i + 2
            if t[i : i + 2] == ">>" and is_han(before):
                return i + 2
            self.put(c)
        elif c == "*":
            if t[i : i + 2] == "**":
                return i + 2
            item = t[i - 1] == "\n" and t[i + 1 : i + 2].isspace() if i else False
            meant = before == ")" or (is_word(before) and (is_word(after) or after == "("))
            self.put("×" if meant and not item else "")
        elif c == "!":
            if self.bang(i, before):
                self.put("!")
                return i + 1
        elif c in "{}&":
            self.put("" if self.latex else c)
        elif self.is_kept(i, c, before, after):
            self.put(c)
        stop = c == "." and i and not is_digit(t[i - 1]) and not t[i + 1 : i + 2].strip()
        if c in ",;?!。" or stop:
            self.clauses.append(len(self.out))
        return i + 1

    def is_kept(self, i: int, c: str, before: str, after: str) -> bool:
        """Tell whether a mark means something where it stands."""
        if c in "$`":
            return False
        if c == "|":  # between cells
            return not all(
                x.isspace() for x in self.text[max(0, i - 1) : i] + self.text[i + 1 : i + 2]
            )
        if c == "/":
            return not is_han(before or "一") or not is_han(after or "一")
        if c == "·":
            return bool(before and after) and not is_han(before) and not is_han(after)
        if c == "'":
            variable = is_latin(before) or is_digit(before) or before == ")" or "α" <= before <= "ω"
            variable = variable or before == self.last == "'"
            in_word = is_latin(self.text[i + 1 : i + 2])
            return variable and not in_word and not re.search(r"[A-Za-z]{2}\s*\Z", self.text[:i])
        return c not in DROPPED

    def close(self, c: str) -> None:
        """Write a closing bracket; a pair with nothing in it goes."""
        here = len(self.out)
        noted = here in self.clauses[-1:] or here in [end for _, end in self.emphasis[-1:]]
        if self.last == {")": "(", "]": "["}[c] and not noted:
            self.out.pop()
        else:
            self.put(c)

    def dash(self, i: int, before: str, after: str) -> int:
        """Write a minus; a dash between words goes."""
        t = self.text
        end = i
        while t[end : end + 1] == "-":
            end += 1
        if end - i > 2:
            return end
        if end - i == 2:
            following = self.after(end)
            if (
                not (is_word(following) or following in ("_", "("))
                or is_han(before)
                or is_han(following)
            ):
                return end
        words = re.search(r"[A-Za-z]{2}\Z", t[:i]) and re.match(r"-[A-Za-z]{2}", t[i:])
        if not words and not (is_han(before or "一") and is_han(after or "一") and before + after):
            self.put("-")
        return i + 1

    def bang(self, i: int, before: str) -> bool:
        """Tell whether the ! at i is a factorial, or that of !=."""
        t = self.text
        if is_digit(before) or re.search(r"(?:\A|[^A-Za-z])[A-Za-z]\Z", t[:i]):
            return bool(re.match(r"!\s*[=+\-×÷/*)0-9]", t[i:]))
        return t[i : i + 2] == "!="


# --- the form


@dataclass(frozen=True)
class Form:
    """What is the same for all notations of one content; see dedup_job/judgment/forms.py."""

    stem: str
    choices: tuple[str, ...]
    answer: tuple[str, ...]
    emphasis: tuple[str, ...]
    clauses: tuple[int, ...]
    flags: frozenset[str]
    left_out: float = 0


@dataclass
class Split:
    """A text in its parts, as written."""

    text: str
    stem: str
    choices: list[str]
    letters: str = ""
    answer: str = ""
    notes: str = ""
    left_out: int = 0  # letters and digits


def split(text: str, most: int) -> Split:
    """Take a text apart; where more letters and digits than `most` would be left out, none are."""
    parts = parts_of(text, notes_go=True)
    return parts if parts.left_out <= most else parts_of(text, notes_go=False)


def parts_of(given: str, *, notes_go: bool) -> Split:
    """Take a text apart; notes_go: without notes and what stands before a question."""
    text, notes, letters, answer, numbers = given, "", "", "", 0
    if notes_go:
        text = without_last_notes(text)
        cut = key_start(text)
        notes, text = text[cut:], text[:cut]
        letters, answer = read_key(notes, text)
        text, numbers = without_prefix(without_notes(text))
    left_out = words_in(given) - words_in(text) - numbers
    parts = Split(text, text, [], letters, answer, notes, left_out)
    cuts = lettered(text) or figured(text) or []
    ends = [start for start, _ in cuts[1:]] + [len(text)]
    choices = [text[start:end] for (_, start), end in zip(cuts, ends)]  # noqa: B905
    if all(len(c) <= 300 for c in choices) and any(words_in(c) or "!" in c for c in choices):
        parts.choices, parts.stem = choices, text[: cuts[0][0]]
        if m := STEM_KEY.search(parts.stem):
            parts.stem = parts.stem[: m.start()]
            parts.letters = letters or ("" if answer else m[1])
    return parts


def key_start(text: str) -> int:
    """Return where the answer key begins that ends a text, its length where there is none."""
    lower = text.translate(LOWER)
    keys = {m.start() for m in KEY.finditer(lower)}
    starts = [m.start() for m in EXPLANATION.finditer(lower)]
    for start in [start for start in starts if words_in(text[:start]) >= 4][:8]:
        if asks(text, start, len(text)) or TASK.search(text, start + 1):
            continue
        noted = LINE.match(lower, start)
        if noted and noted[0][-1] == ":" and demands(text, noted.end() - 1, len(text)):
            continue
        before, behind = (
            bool(lettered(part) or figured(part)) for part in (text[:start], text[start:])
        )
        last = "\n" not in text[start:].rstrip()
        bare = lower[start] not in "【["
        if before or (start in keys and not behind and (last or not bare)):
            return start
    return len(text)


def read_key(notes: str, text: str) -> tuple[str, str]:
    """Return the letters of an answer key, and the answer in words."""
    m = re.compile(r"(?:答案|answer)[^】\]:]*[】\]:]").search(notes.translate(LOWER))
    if not m:
        return "", ""
    body = notes[m.end() :]
    if m := LETTERS.match(body):
        return re.sub("[^A-H]", "", m[1].upper()), ""
    if not lettered(text) and (m := FIGURE.match(body)):
        return "ABCDEFGH"[int(m[1]) - 1], ""
    return "", body.partition("\n")[0].strip()


ASKS = re.compile(rf"(?:^|[,;》]|\s){one_of('imperatives')}")


def flags_of(parts: Split) -> frozenset[str]:
    """Return the flags of a text."""
    stem, lower = parts.stem, parts.stem.translate(LOWER)
    last = re.split(r"[。!?\n]", stem.rstrip(" 。\n"))[-1]
    blank = BLANK.search(stem)
    told = {
        "question": parts.choices or re.search(r"\?\s*\Z", stem) or blank or ASKS.search(last),
        "cut left": re.match(r"\s*(?:…|\.\.\.)", parts.text),
        "cut right": re.search(r"(?:…|\.\.\.)\s*\Z", parts.text),
        "explained": words_in(parts.notes) >= 30,
        "spelling": re.search(one_of("spelling"), lower),
        "sequence": re.search(one_of("sequence"), lower),
    }
    return frozenset(name for name, is_so in told.items() if is_so)


def canonical(given: str, most_left_out: float = 0.2) -> Form:
    """Return the canonical form of a cleaned text."""
    text = "".join(map(plain, given))
    latex = re.search(r"\\[A-Za-z]", text) is not None
    total = words_in(text)
    most = int(most_left_out * total)
    parts = split(text, most)
    body = Writer(parts.stem, latex=latex)
    stem = body.written()
    writers = [Writer(choice, latex=latex) for choice in parts.choices]
    choices = [writer.written() for writer in writers]
    while choices and not choices[-1]:
        choices.pop()
    answer = [Writer(parts.answer, latex=latex).written()]
    if parts.letters:
        at = {"ABCDEFGH".index(letter) for letter in parts.letters}
        answer = sorted(choices[k] for k in at if k < len(choices))
    flags = flags_of(parts)
    if len(stem + "".join(choices)) < 10:  # as it is, but for white space and width
        whole = "".join(given.translate(NARROW).split())
        return Form(whole, (), (), (), (len(whole),) if whole else (), flags | {"short"}, 0)
    return Form(
        stem,
        tuple(choices),
        tuple(words for words in answer if words),
        tuple(words for writer in (body, *writers) for words in emphasised(writer)),
        tuple(sorted({end for end in (*body.clauses, len(stem)) if end})),
        flags,
        round(parts.left_out / max(total, 1), 4),
    )


def emphasised(writer: Writer) -> list[str]:
    """Return the emphasised words, each with a little of what surrounds it."""
    out = "".join(writer.out)
    return [f"{out[max(0, a - 3) : a]}|{out[a:b]}|{out[b : b + 2]}" for a, b in writer.emphasis]
