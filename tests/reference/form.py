"""The form of a text, read the slow way: see src/judgment/form.cpp."""

import re
from dataclasses import dataclass, field, replace
from enum import IntEnum, IntFlag, StrEnum
from functools import cache
from itertools import pairwise

import jieba
import numpy as np
import xxhash

from dedup_job import _core
from dedup_job.judgment import tables
from dedup_job.judgment.tables import sections_of

Class = StrEnum("Class", [(name.upper(), name) for name in _core.CLASSES])
Flag, Phrase = (
    IntFlag(name, [(key.upper(), bit) for key, bit in bits.items()])
    for name, bits in (("Flag", _core.FLAGS), ("Phrase", _core.PHRASES))
)

SPACES = " \n"  # of folded texts
OPEN, CLOSE, IMAGE = "\ufdd0", "\ufdd1", "\ufdd2"  # in place of marks and images: no characters
NO_FLAG = Flag(0)
class_of = cache(tables.class_of)
_PROVISION = re.compile(r"第\s*[0-9零一二三四五六七八九十百千]+\s*条|(article|section) [0-9]")
LABELS, FIGURES = "abcdefgh", "12345678"


class Kind(IntEnum):
    """What a token is."""

    WORD, FUNCTION, NUMBER, LETTER, SYMBOL, IMAGE, BLANK = range(7)


@dataclass(frozen=True)
class Token:
    """A word, number, sign or image."""

    text: str
    kind: Kind
    weight: float
    clause: int
    flags: Flag
    key: int  # what it is compared by
    signs: str = ""  # before it, which are no tokens


@dataclass
class Layout:
    """How a stem lies on its page: its lines, the provisions among them, whether it asks."""

    lines: list[list[Token]] = field(default_factory=list)
    provisions: int = 0
    preamble: int = 0
    asks: bool = False
    is_long: bool = False


@dataclass
class Form:
    """The parts of a text."""

    stem: list[Token] = field(default_factory=list)
    choices: list[list[Token]] = field(default_factory=list)
    answer: list[Token] = field(default_factory=list)
    explanation: list[Token] = field(default_factory=list)
    notes: list[Token] = field(default_factory=list)
    layout: Layout = field(default_factory=Layout)


def _utf32(text):
    return text.encode("utf-32-le", "surrogatepass")


# Characters


def fold(text):
    """Return characters as they are compared; superscripts and subscripts as ^{...} and _{...}."""
    out, script = "", ""
    for i, character in enumerate(text):
        plain, raised = tables.folds().get(character, (character, ""))
        if raised == tables.JOINED:
            raised = script
            whole = tables.words().get(out[-1:] + plain, (0, 0))[1]
            if whole and plain not in ("'", '"'):
                out = out[:-1] + chr(whole)
                continue
            named = at(text, i - 1) if i else " "
            written = is_han(named) or "A" <= named <= "Z"
            if plain in ("'", '"') and out[-2:-1] == plain and written:
                out = out[:-1] + named
            behind = tables.folds().get(at(text, i + 1), (at(text, i + 1), ""))[0]
            before = at(out, len(out) - 1)
            if character == "著" and (is_word(f"{before}著") or is_word(f"著{behind}")):
                plain = character
        if raised != script:
            out += ("}" if script else "") + (f"{raised}{{" if raised else "")
            script = raised
        out += plain
    return out + ("}" if script else "")


def is_word(text):
    jieba.dt.check_initialized()
    return jieba.dt.FREQ.get(text, 0) > 0


def is_symbol(text, i, end):
    """Tell whether letters are a symbol: x, Dd or XBXb, no label as A. and (A)."""
    run = text[i:end]
    if len(run) == 1 and at(text, i - 1) in "|{" and run in "clr":
        return False  # a column of a table
    if len(run) == 1:
        before = at(text, i - 2) if at(text, i - 1) == " " else at(text, i - 1)
        label = at(text, end) in ".．、:：)）" and not re.match("[A-Za-z]", at(text, i - 2))
        return run > "H" or not (label or before in ":：")
    if len(run) == 2:
        return run[0].lower() == run[1].lower()
    return len(run) <= 6 and run[1:] != run[1:].lower()


def keep_capitals(text):
    """Return the text with what folds to a capital in place of those that stay."""
    runs = [m.span() for m in re.finditer("[A-Za-z]+", text)]
    han = any(map(is_han, text))
    symbols = [text[i:end] for i, end in runs if is_symbol(text, i, end)]
    alone = {run for run in symbols if len(run) == 1 and (han or run.lower() not in "ai")}
    both = {c for c in alone if c.swapcase() in alone}
    longer = {c for run in symbols for c in run if len(run) > 1}
    both |= {c for c in longer if c.swapcase() in longer}
    out = list(text)
    for i, end in runs:
        run, before = text[i:end], text[:i]
        if len(run) == 1 and not is_symbol(text, i, end):
            continue
        word = re.match("这个单词|这个词|一词", text[end:])
        word = word or re.search(r"单词\Z|word \Z", before)
        option = re.search(r"\\\Z|[A-Za-z]{2} -\Z", before) and len(run) == 1
        figure = bool(before) and is_digit(at(text, i - 1 - (before[-1] == " ")))
        unit = re.match("[KMGT]b$|M[VJN]", run) or (run == "M" and at(text, end) in "Ω\u2126")
        first = word or option or (figure and unit)
        for k, c in enumerate(run):
            kept = c in both and is_symbol(text, i, end)
            kept = kept or (k == 0 and first) or (k == 1 and figure and re.match("m[WHP]", run))
            if kept and c.isupper():
                out[i + k] = chr(ord(c) - ord("A") + 0xFDD6)
    return "".join(out)


def at(text, i):
    return text[i] if 0 <= i < len(text) else " "


def is_digit(c):
    return class_of(c) == Class.DIGIT


def is_letter(c):
    return class_of(c) == Class.LETTER


def is_han(c):
    return class_of(c) == Class.HAN


def is_plain(c):
    """Tell whether it is a letter or digit, and not Han."""
    return class_of(c) in (Class.LETTER, Class.DIGIT)


def letters(text):
    return sum(class_of(c) in (Class.LETTER, Class.DIGIT, Class.HAN) for c in text)


def skip(text, i):
    while i < len(text) and class_of(text[i]) == Class.SPACE:
        i += 1
    return i


def digits(text, i):
    """Return how many digits stand here."""
    n = 0
    while is_digit(at(text, i + n)):
        n += 1
    return n


def phrase(text, i, wanted):
    """Return length and kinds of the longest phrase of those kinds that stands here, or 0."""
    for known, kinds in _phrases().get(at(text, i), ()):
        if text.startswith(known, i) and kinds & wanted:
            return len(known), Phrase(kinds)
    return 0, Phrase(0)


@cache
def _phrases():
    """Return the phrases by their first characters, the longest first."""
    known = sorted(tables.phrases().items(), key=lambda one: -len(one[0]))
    return {first: [one for one in known if one[0][0] == first] for first, *_ in tables.phrases()}


def holds(text, wanted):
    return any(phrase(text, i, wanted)[0] for i in range(len(text)))


# Notes


def tag_end(text, i):
    """Return the place behind a tag of a post that begins here, or the place itself."""
    c, rest = at(text, i), text[i:]
    if is_plain(at(text, i - 1)) or (c != "[" and is_han(at(text, i - 1))):
        return i
    if c == "@":
        n = 1 + _run(rest[1:30], lambda o: is_plain(o) or is_han(o) or o in "_-")
        return i + n + (at(text, i + n) == ":") if n > 1 else i
    if c == "#":
        n = 1 + _run(rest[1:30], lambda o: o not in "#\n")
        return i + n + 1 if n > 1 and rest[1] != " " and at(rest, n) == "#" else i
    if c == "[":
        n = 1 + _run(rest[1:], is_han)
        return i + n + 1 if 1 < n < 6 and at(rest, n) == "]" else i
    if c == "(":
        end = closing(text, i, 20)
        passed = rest[1:].startswith(("via ", "by ")) or tag_end(text, i + 1) == end
        return end + 1 if end and passed else i
    if rest.startswith("http"):
        return i + _run(rest, lambda o: is_plain(o) or o in ":/?.=&%_-~+")
    if c == "转":
        n = 1 + (at(rest, 1) in "发载")
        goes = is_plain(at(rest, n)) or is_han(at(rest, n))
        return i if goes else i + n + (at(rest, n) == ":")
    return i


def _run(text, wanted):
    return next((n for n, c in enumerate(text) if not wanted(c)), len(text))


def strip_tags(text):
    """Return the text without tags at its ends, and these."""
    begin = 0
    while (end := tag_end(text, skip(text, begin))) > skip(text, begin):
        begin = end
    stop = end = len(text)
    while True:
        while stop > begin and (
            text[stop - 1] in "。.!~" or class_of(text[stop - 1]) == Class.SPACE
        ):
            stop -= 1
        near = range(stop - 1, max(begin, stop - 60) - 1, -1)
        start = next((i for i in near if tag_end(text, i) == stop), None)
        if start is None:
            break
        stop = end = start
    if letters(text[begin:end]) < 20:
        return text, ""
    return text[begin:end], text[:begin] + text[end:]


def take_brackets(text):
    """Return the text without brackets that hold points or say where it is from, and those."""
    out, notes, i = "", "", 0
    while i < len(text):
        end = closing(text, i, 120) if text[i] in "([" else 0
        inner = text[i + 1 : end]
        outside = holds(inner, Phrase.POINTS) or is_outside(text, i, end)
        if end and (
            (is_points(inner) and outside)
            or (at(text, end + 1) not in "({" and holds(inner, Phrase.BRACKET))
        ):
            notes += text[i : end + 1] + " "
            out += " "
            i = end + 1
        else:
            out += text[i]
            i += 1
    return out, notes


def closing(text, i, most):
    """Return where the bracket closes; 0 if it is long, or holds a line end or bracket."""
    for j in range(i + 1, min(i + most + 2, len(text))):
        if text[j] in "()[]\n":
            return j if text[j] in ")]" else 0
    return 0


def is_points(inner):
    """Tell whether brackets hold points: 本题满分 12 分, 5 points."""
    i = skip(inner, 0)
    while n := phrase(inner, i, Phrase.POINTS)[0]:
        i = skip(inner, i + n)
    n = digits(inner, i)
    if not 1 <= n <= 3:
        return False
    i += n
    if at(inner, i) == "." and digits(inner, i + 1) == 1:
        i += 2
    i = skip(inner, i)
    n = phrase(inner, i, Phrase.UNIT)[0]
    return n > 0 and skip(inner, i + n) == len(inner)


def is_outside(text, begin, end):
    """Return whether a bracket begins or ends a sentence."""
    before = text[:begin].rstrip(" 0123456789")
    behind = text[end + 1 :].lstrip(" ")
    labels = "a" <= behind[:1] <= "z" and after_label(behind, 1, ".、:)") > 0
    return (
        labels
        or not before
        or not behind
        or before[-1] in "\n。?!.:;)]、"
        or behind[0] in "\n。?!.:;(["
    )


def take_sentences(text):
    """Return the text without short sentences in which a page speaks of itself, and those."""
    out = notes = ""
    for sentence in re.findall("[^\n。?!]*[\n。?!]|[^\n。?!]+", text):
        found = [i for i in range(len(sentence)) if phrase(sentence, i, Phrase.NOTE)[0]]
        if len(sentence) <= 80 and found:
            start = max(sentence.rfind(c, 0, found[0]) for c in " ,") + 1
            notes += sentence[start:] + " "
            out += sentence[:start] + "\n"
        else:
            out += sentence
    return out, notes


def after_label(text, i, ends):
    """Return the place behind a bracket, one of `ends`, or both; 0 if there is none."""
    i = skip(text, i)
    if at(text, i) in ")]":
        j = skip(text, i + 1)
        if at(text, j) in ends:
            return j + 1
    return i + 1 if at(text, i) in ends else 0


def find_marks(text):
    """Return where 答案: and the like stand, behind a line, space, sentence, bracket."""
    marks, i = [], 0
    while i < len(text):
        end = 0
        quoted = i > 1 and text[i - 1] == '"' and text[i - 2] in "。?!"
        if (i == 0 or quoted or text[i - 1] in "\n 。?!)") and text[i] not in "\n ":
            j = skip(text, i + (text[i] in "(["))
            n, kinds = phrase(text, j, Phrase.ANSWER | Phrase.EXPLANATION | Phrase.LINE)
            end = after_label(text, j + n, ":]") if n else 0
            if end:
                marks.append((i, end, kinds))
        i = end or i + 1
    return marks


def split_notes(text):
    """Return body, answer, explanation and notes of a text.

    What follows a mark is still the task where choices follow, or where most of the text does.
    """
    marks = find_marks(text)
    if not marks:
        return text, "", "", ""
    body, listed, out = text[: marks[0][0]], False, 0
    answer = explanation = notes = ""
    ends = [start for start, *_ in marks[1:]] + [len(text)]
    for (start, begin, kinds), end in zip(marks, ends, strict=True):
        is_answer = bool(kinds & Phrase.ANSWER)
        is_line = not is_answer and bool(kinds & Phrase.LINE)
        task = begin + find_part(text[begin:end], source=is_line)
        piece = text[begin:task]
        line = re.match("[^\n。?!]*" if is_line else "[^\n]*", piece)[0]
        behind = piece[len(line) :]
        stem, choices = find_choices(behind)
        listing = bool(choices) and letters(stem) == 0
        asks = is_line and letters(body) == 0 and (behind[:1] == "?" or listing)
        if asks:
            line = re.match("[ \n]*[^ ]*", piece)[0]
        rest = piece[len(line) + 1 :]
        more = bool(not is_line and find_choices(piece)[1])
        if not is_line and not more and not answer and out + letters(piece) > letters(body):
            listed = listed or bool(find_choices(body)[1])
            more = not listed
        if more:
            body += text[start:end]
        elif is_line and (letters(line) > 60 or (asks and line == piece)):
            body += "\n" + text[begin:end]
        elif is_line:
            notes += line + "\n"
            body += "\n" + rest + text[task:end]
        else:
            answer += (line + "\n") * is_answer
            explanation += (rest if is_answer else line + "\n" + rest) + "\n"
            out += letters(piece)
            body += "\n" + text[task:end]
    single = len(marks) == 1 and not marks[0][2] & Phrase.LINE
    if letters(body[opening_end(body) :]) < (4 if single else 1):
        return text, "", "", ""
    return body, answer, explanation, notes


def find_part(text, source):
    """Return where a part of the task begins: a heading, a number with no 1 before; or the end."""
    line = counts = False
    for i, c in enumerate(text):
        if class_of(c) == Class.SPACE:
            line |= c == "\n"
            continue
        if i == 0 or text[i - 1] in '\n 。?!)"':
            first = skip(text, i + (c == "("))
            n = is_part_number(text, i, line or i == 0)
            counts |= n > 0 and (i == 0 or (n == 1 and at(text, first) in "1①一"))
            if i > 0 and ((n > 0 and not counts) or is_heading(text, i, line, source)):
                return i
        line = False
    return len(text)


def part_number(text, i):
    """Return the length of the number that stands here."""
    circled = class_of(at(text, i)) == Class.CIRCLED
    return digits(text, i) or (1 if circled else phrase(text, i, Phrase.NUMERAL)[0])


def is_part_number(text, i, line):
    """Return the length of the number of (2) or ②, or of 2. at the start of a line; or 0."""
    bracket, circled = text[i] == "(", class_of(text[i]) == Class.CIRCLED
    first = skip(text, i + bracket)
    n = part_number(text, first)
    end = skip(text, first + n)
    dotted = line and at(text, end) in ".、:)" and not is_digit(at(text, end + 1))
    is_one = at(text, end) == ")" if bracket else circled or dotted
    return n if n <= 2 and is_one else 0


def is_heading(text, i, line, source):
    """Tell whether Constraints: or [要求] or 例2 stands here, or a line that is a short label."""
    if line and text[i] == "#":
        return True
    while line and at(text, i) in "*>-":
        i = skip(text, i + 1)
    bracket = at(text, i) in "(["
    first = skip(text, i + bracket)
    named = phrase(text, first, Phrase.PART)[0]
    if not is_han(at(text, first)) and not "a" <= at(text, first) <= "z":
        return False
    if at(text, i) == "[":
        return at(text, max(closing(text, i, 30), i)) == "]"
    behind = skip(text, first + named)
    n = part_number(text, behind)
    end = behind + n if n else first + named
    if named and after_label(text, end, ":]"):
        return True
    if source:
        return False
    stop = i + len(text[i : i + 20].partition("\n")[0])
    if named and (n or line) and skip(text, end) >= stop:
        return True
    is_label = line and at(text, stop) == "\n" and at(text, stop - 1) == ":"
    return is_label or (not bracket and opening(text, i) > 0)


def strip_opening(text):
    """Return the text without the numbers, headings and names of papers that it begins with."""
    i = opening_end(text)
    return text[i:] if letters(text[i:]) >= 4 else text


def opening_end(text):
    """Return the place behind the numbers, headings and names of papers that a text begins with."""
    i = date_line(text)
    while (j := opening(text, i)) > i:
        bracket = at(text, skip(text, i)) == "("
        if goes_on(text, j, Phrase.JOINT | Phrase.HANGER if bracket else Phrase.JOINT):
            break
        i = j
    return i


def date_line(text):
    """Return the place behind a first line that is a date above an article, or 0."""
    found = re.match(r"(?=[^\n]{,24}\n)[0-9]{4}[-/.年][0-9][-0-9/.:年月日时分 ]*\n", text)
    return found.end() if found and letters(text[found.end() :]) >= 60 else 0


def type_opening(text, i):
    """Return the place behind (单选) or 《单选题》, or the number of 一、单选题; or 0."""
    n = phrase(text, i, Phrase.NUMERAL)[0]
    if n and at(text, i + n) in "、." and phrase(text, i + n + 1, Phrase.HEADING)[0]:
        return i + n + 1
    first = skip(text, i + 1)
    named = phrase(text, first, Phrase.HEADING)[0]
    end = skip(text, first + named)
    return end + 1 if named and at(text, i) in '("《' and at(text, end) in ')"》' else 0


def goes_on(text, i, kinds):
    """Tell whether a sentence goes on here, so that a number before numbers nothing."""
    i = skip(text, i)
    if at(text, i) == "$":
        i = skip(text, i + 1)
    sign = at(text, i)
    if command := re.match(r"\\[a-z]*", text[i:]):
        flags, number = tables.words().get(command[0], (0, 0))
        sign = chr(number) if flags & Flag.SIGN else ""
    if sign and sign in "+×÷·=<>≤≥≠≈≡±^/%°" and at(text, i + 1) != sign:
        return True
    n = phrase(text, i, kinds)[0]
    if not n or not is_han(at(text, i)):
        return n > 0 and not is_plain(at(text, i + n))
    longer = (text[i : i + size] for size in range(n + 1, n + 4) if i + size <= len(text))
    return not any(map(is_word, longer))


def opening(text, i):
    """Return the place behind 12. or 第12题 or question 12 or 单选题 3、 or 1-2-3; or 0."""
    i = skip(text, i)
    if end := type_opening(text, i):
        return end
    if at(text, i) in "([":
        return bracketed_opening(text, i)
    if end := paper_opening(text, i):
        return end
    numbered = re.match("第[0-9零〇一二三四五六七八九十百]+[条章节课]", text[i:])
    if numbered and class_of(at(text, i + numbered.end())) == Class.SPACE:
        return i + numbered.end()
    if at(text, i) == "第":
        i = skip(text, i + 1)
    n, kinds = phrase(text, i, Phrase.NUMBERED | Phrase.HEADING)
    named = i + n
    if kinds:
        i = skip(text, named)
        i = skip(text, i + 1) if at(text, i) == "." else i
    n = digits(text, i)
    end, j = skip(text, i + n), i + n
    points = 0
    while n < 4 and at(text, j) in "-." and 1 <= digits(text, j + 1) <= 3:
        points += at(text, j) == "."
        j += 1 + digits(text, j + 1)
    if j > i + n and points != 1:
        return j if class_of(at(text, j)) == Class.SPACE else 0
    if n > 4 or (n == 0 and not kinds & Phrase.HEADING):
        return 0
    apart = class_of(at(text, named)) == Class.SPACE or at(text, named) == "("
    if n == 0 and apart and is_han(at(text, named - 1)):
        return named
    if at(text, end) == "题" or (at(text, end) in ".、:)" and not is_digit(at(text, end + 1))):
        return end + 1
    return i + n if kinds & Phrase.NUMBERED and at(text, named - 1) != "t" else 0


def paper_opening(text, i):
    """Return the place behind 2019年真题第48题, or 0."""
    found = False
    for k in range(i, min(i + 30, len(text))):
        if not is_han(text[k]) and not is_digit(text[k]) and text[k] not in "· ":
            return 0
        first = skip(text, k + 1)
        n = digits(text, first)
        end = skip(text, first + n)
        if found and text[k] == "第" and n and at(text, end) == "题":
            return end + 1 + (at(text, end + 1) in ".、:")
        found = found or phrase(text, k, Phrase.PAPER)[0] > 0
    return 0


def bracketed_opening(text, i):
    """Return the place behind (12) or (三) or [多选] or (2019年北京), or 0."""
    close = closing(text, i, 30)
    if not close:
        return 0
    if text[i] == "[":
        return close + 1 if text[close] == "]" and at(text, close + 1) not in "{(" else 0
    first = skip(text, i + 1)
    named = phrase(text, first, Phrase.POINTS)[0]
    if named and digits(text, skip(text, first + named)) and text[close - 1] in "题分":
        return close + 1
    inner = text[first:close].rstrip(SPACES)
    n = digits(inner, 0)
    if n == 4 and inner[:2] in ("19", "20"):
        return close + 1
    numerals = sections_of(tables.WORDS)["numeral"][0].split()
    is_numeral = bool(inner) and all(c in numerals for c in inner)
    if not is_numeral and not (1 <= n <= 3 and n == len(inner)):
        return 0
    end = skip(text, close + 1)
    end += at(text, end) in ".、"
    behind = at(text, skip(text, end))  # (1)+(2) is a formula
    return end if is_numeral or is_han(behind) or "a" <= behind <= "z" or behind in "$\\" else 0


# Choices


@dataclass
class Label:
    """What stands before a choice; of name 0 is A."""

    name: int
    start: int
    end: int
    bare: bool = False


def find_choices(text, unmarked=False):
    """Return the stem, and choices behind A. B. C., or short ones behind 1. 2. 3. 4. on lines.

    unmarked: or on lines behind one that asks, or between | in a text of one line.
    """
    best = longest_run(find_labels(text))
    if len(best) < 3 and any(label.bare for label in best):
        best = []
    if not best:
        best = longest_run(find_figures(text))
        ends = [label.start for label in best[1:]] + [len(text)]
        if len(best) < 4 or any(end - x.end > 40 for x, end in zip(best, ends, strict=True)):
            best = []
    if not best and unmarked:
        best = longest_run(find_lines(text))
    if not best:
        return text, []
    edges = [*best, Label(0, len(text), 0)]
    choices = [text[x.end : y.start] for x, y in pairwise(edges)]
    return text[: best[0].start], without_repeated(choices)


def without_repeated(choices):
    """Drop labels that all choices repeat, as in A. A苯耗下降."""
    inner = [choice[skip(choice, 0) :] for choice in choices]
    if all(one[:1] == LABELS[k : k + 1] and is_han(at(one, 1)) for k, one in enumerate(inner)):
        return [one[1:] for one in inner]
    return choices


def longest_run(labels):
    """Return the longest run of labels, each the next of its name; the last of equal ones."""
    runs = {}
    best = []
    for label in reversed(labels):
        runs[label.name] = [label, *runs.get(label.name + 1, [])]
        if label.name == 0 and len(runs[0]) > max(1, len(best)):
            best = runs[0]
    return best


def find_labels(text):
    labels, i = [], 0
    while i < len(text):
        label = label_at(text, i)
        if label:
            labels.append(label)
        i = max(label.end, i + 1) if label else i + 1
    return labels


def label_at(text, i):
    """Return A. or (A) or A), or A alone on a line; not the first of A.B. or A、B、."""
    before = at(text, i - 1) if i else "\n"
    if class_of(text[i]) == Class.SPACE:
        return None
    if not (class_of(before) == Class.SPACE or before in ";。?!.,)]_、:$" or is_han(before)):
        return None
    j = skip(text, i + 1) if text[i] in "([" else i
    if at(text, j) not in LABELS:
        return None
    name = LABELS.index(text[j])
    end = after_label(text, j + 1, ".、:)]")
    if end:
        letter, behind = at(text, end), at(text, skip(text, end + 1))
        is_next = behind == "、" and letter == chr(ord(text[j]) + 1)
        abbreviated = "a" <= letter <= "z" and (behind == "." or is_next)
        return None if abbreviated else Label(name, i, end)
    alone = before == "\n" and j == i and class_of(at(text, i + 1)) == Class.SPACE
    if alone and skip(text, i + 1) < len(text):
        return Label(name, i, i + 1, bare=True)
    return None


def find_figures(text):
    """Return 1. or 1、 or 1) at the starts of lines."""
    labels, i = [], 0
    while i < len(text):
        i = skip(text, i)
        if at(text, i) in FIGURES and at(text, i + 1) in ".、)":
            labels.append(Label(FIGURES.index(text[i]), i, i + 2))
        while i < len(text) and text[i] != "\n":
            i += 1
    return labels


def find_lines(text):
    """Return the last lines, behind one that asks, or the parts of a single line behind |."""
    single = "\n" not in text
    labels = []
    end = len(text)
    while end > 0 and len(labels) <= len(LABELS):
        i = text.rfind("|" if single else "\n", 0, end) + 1
        last = i + len(text[i:end].rstrip(" ,;。:"))
        asks = at(text, last - 1) in "?是_)" or (single and i == 0 and letters(text[:last]) >= 4)
        if asks and len(labels) >= (2 if single else 3):
            ordered = enumerate(reversed(labels))
            return [Label(k, label.start, label.end) for k, label in ordered]
        begin = skip(text, i)
        if at(text, begin) in "-*·●" or class_of(at(text, begin)) == Class.CIRCLED:
            begin = skip(text, begin + 1)
        if at(text, begin) in "甲乙丙丁戊" and at(text, begin + 1) in "、.":
            begin = skip(text, begin + 2)
        first = at(text, begin)
        is_word = is_han(first) or (not is_digit(first) and letters(text[begin:last]) >= 4)
        if not begin < last <= begin + 20 or not is_word or at(text, begin + 1) in "、:":
            return []
        labels.append(Label(0, i - (single and i > 0), begin))
        end = max(i, 1) - 1
    return []


# Formulas


class Flattener:
    r"""Text in one line: \frac{a}{b} is a/b, \leq is ≤, braces and \left are gone.

    Brackets ⟨ and ⟩ hold what is more than a number or letter in a fraction, power or index.
    """

    def __init__(self, text):
        self.text, self.out, self.images = text, [], []
        self.apart = False  # a letter or digit does not join that before it
        self.groups = []

    def put(self, c):
        """Write a character."""
        if self.apart and self.out and is_plain(self.out[-1]) and is_plain(c):
            self.out.append(" ")
        self.apart = False
        self.out.append(c)

    @property
    def start(self):
        """Return where the innermost group starts."""
        return self.groups[-1][1] if self.groups else 0

    def trim(self):
        """Drop spaces at the end of the innermost group."""
        while len(self.out) > self.start and self.out[-1] == " ":
            self.out.pop()

    def flat(self):
        """Return the text in one line."""
        text, latex, i = self.text, "\\" in self.text, 0
        while i < len(text):
            c = text[i]
            if c == "\\":
                i = self.command(i)
            elif c == "{":
                i = self.open(i)
            elif c == "}":
                i = self.close(i + 1)
            elif c == "!" and (end := self.image(i)):
                i = end
            elif c == "[" and (end := closing(text, i, 60)) and mark_end(text, end) and end > i + 1:
                self.out.append(OPEN)
                i += 1
            elif c == "]" and (end := mark_end(text, i)):
                self.out.append(CLOSE)
                i = end
            elif c == "(" and (number := enumerated(text, i))[0]:
                self.put(chr(0x245F + number[0]))
                i = number[1]
            else:
                if c in "~—" and is_digit(at(text, i - 1)) and is_digit(at(text, i + 1)):
                    c = "-"
                elif c == "~" and latex:
                    c = " "
                dollar = c == "$" and text.count("$") == 1
                dollar = dollar and (is_digit(at(text, i - 1)) or is_digit(at(text, i + 1)))
                if c not in "$`" or dollar:
                    self.put(c)
                i += 1
        return "".join(self.out)

    def command(self, i):
        r"""Take a command such as \leq; return the place behind, as the following do."""
        text, j = self.text, i + 1
        while "a" <= at(text, j) <= "z":
            j += 1
        if j == i + 1:
            self.put(at(text, j) if at(text, j) in "%_" else " ")
            return j + 1
        flags, sign = tables.words().get(text[i:j], (0, 0))
        brace = at(text, skip(text, j)) == "{"
        if flags & Flag.SIGN:
            self.trim()
            if chr(sign) == "°" and len(self.out) > self.start and self.out[-1] == "^":
                self.out.pop()
            self.apart = True
            self.put(chr(sign))
            self.apart = True
            return skip(text, j)
        self.apart = True
        if flags & Flag.ENVIRONMENT and brace:
            return environment_end(text, skip(text, j))
        if flags & Flag.FRACTION and brace:
            return self.wrap("numerator", skip(text, j) + 1)
        if flags & Flag.LOOK or flags & Flag.UNDERLINE:
            if not brace:
                return j
            self.apart = False
            self.groups.append(("underline" if flags & Flag.UNDERLINE else "look", len(self.out)))
            return skip(text, j) + 1
        for c in text[i + 1 : j]:
            self.put(c)
        self.apart = True
        return j

    def wrap(self, kind, i):
        """Begin what stands in brackets if it is long."""
        self.put("⟨")
        self.groups.append((kind, len(self.out)))
        return skip(self.text, i)

    def open(self, i):
        """Take {."""
        out, k = self.out, len(self.out)
        while k > max(self.start, len(out) - 3) and out[k - 1] == " ":
            k -= 1
        if k > self.start and (out[k - 1] == "^" or (out[k - 1] == "_" and at(out, k - 2) != "_")):
            del out[k:]
            return self.wrap("script", i + 1)
        self.apart = True
        self.groups.append(("plain", len(out)))
        return i + 1

    def close(self, i):
        """Take }."""
        if not self.groups:
            return i
        self.trim()
        kind, start = self.groups.pop()
        out = self.out
        if kind == "plain":
            self.apart = True
        elif kind == "underline":
            if all(c in " _.~" for c in out[start:]):
                out += " __ "
        elif kind != "look":
            if kind == "script" and out[start:] == ["°"] and out[start - 2] == "^":
                del out[start - 2 : start]
            elif is_atom(out[start:]):
                out[start - 1 : start] = " " if kind == "numerator" else ""
            else:
                out.append("⟩")
            self.apart = True
            k = skip(self.text, i)
            if kind == "numerator" and at(self.text, k) == "{":
                out.append("/")
                return self.wrap("denominator", k + 1)
        return i

    def image(self, i):
        """Take ![alternative](address); return the place behind, or 0."""
        text = self.text
        middle = closing(text, i + 1, 60) if at(text, i + 1) == "[" else 0
        if not middle or text[middle : middle + 2] != "](":
            return 0
        end = middle + 2
        while end < len(text) and text[end] != ")" and class_of(text[end]) != Class.SPACE:
            end += 1
        if at(text, end) != ")":
            return 0
        self.out.append(IMAGE)
        self.images.append(image_key(text[middle + 2 : end]))
        return end + 1


_FILES = ["png", "jpg", "jpeg", "gif", "bmp", "webp", "svg", "wmf", "tiff", "mp3", "wav"]
_FILES += ["m4a", "mp4"]
_NAMING = {"id", "fileid", "imgid", "picid", "file", "filename", "key", "page", "index"}
_NAMING |= {"top_left_x", "top_left_y"}
_PASSING = {
    *("e", "expires", "sign", "signature", "sig", "token", "access_token", "auth", "auth_key"),
    *("keyid", "accesskeyid", "ossaccesskeyid", "awsaccesskeyid", "key-pair-id", "policy"),
    *("wssecret", "wstime", "t", "ts", "v", "ver", "version", "_", "_t", "timestamp", "time"),
    *("r", "rnd", "rand", "random", "nocache", "cache", "cb", "date", "w", "h", "width"),
    *("height", "size", "quality", "format", "dpr", "scale", "tp", "from", "source", "ref"),
}
_PASSING_BEGINNINGS = ("x-amz-", "x-oss-", "x-cos-", "x-image-", "security-", "q-", "utm_", "wx")


def is_size(part):
    """Tell whether it says how large a picture is: 300x200, 720w, thumb."""
    if both := re.fullmatch("([0-9]{2,})x([0-9]{2,})", part):
        return len(both[1]) + len(both[2]) > 4
    return bool(re.fullmatch("[0-9]{2,}(w|h|px)|thumbs?|thumbnail|preview|scaled", part))


def without_size(address):
    """Return an address without sizes: 1_720w.png, 1-300x200.png, max/60/1.png, 1.png/220px-1."""
    parts, out, wanted = address.split("/"), "", False
    for k, part in enumerate(parts):
        end = file_end(part)
        if end or k == len(parts) - 1:
            dot = part.rfind(".", 0, end) if end else len(part)
            mark = max(part.rfind(c, 0, dot) for c in "_-")
            zhihu = part.startswith("v2-") and mark > 2
            sized = mark > 0 and (is_size(part[mark + 1 : dot]) or zhihu)
            return out + part[: mark if sized else dot] + part[dot : end or len(part)]
        if not is_size(part) and not (wanted and all(map(is_digit, part))):
            out += f"{part}/"
        wanted = part == "max"
    return out


def file_end(part):
    """Return where the name of a file ends: x.png of x.png!thumb or x.jpg_300x300.jpg; or 0."""
    for kind in _FILES:
        start = part.find(kind)
        end = start + len(kind)
        n = digits(part, end + 1)
        sized = n > 1 and at(part, end + 1 + n) == "x"
        is_end = end == len(part) or at(part, end) in "!@" or sized
        if start > 1 and part[start - 1] == "." and is_end:
            return end
    return 0


def image_key(address):
    """Return the file's name where it is one by itself, else the address without protocol.

    Behind it stand the parameters that name the picture; all that follows if nothing else does.
    """
    whole = address if address.startswith("data:") else re.split("[?#]", address)[0]
    behind = address[len(whole) :]
    whole = whole if whole.startswith("data:") else without_size(whole)
    before, protocol, path = whole.partition("//")
    path = path if protocol else before
    name = whole.rpartition("/")[2]
    own = len(name.rpartition(".")[0] or name) >= 8 and any(map(is_digit, name))
    is_file = "." in name and name.rpartition(".")[2] in _FILES
    kept = ""
    for part in re.findall("[?&][^&]*", behind.split("#")[0]):
        given = part[1:].split("=")[0]
        passing = given in _PASSING or given.startswith((*_PASSING_BEGINNINGS, "spm"))
        if given in _NAMING if is_file else given and not passing:
            kept += part
    is_named = is_file or any(map(is_digit, path[path.find("/") :] if protocol else path))
    return (name if own else path) + (kept or ("" if is_named else behind)) or "image"


def mark_end(text, i):
    """Return the place behind ]{.name}, or 0."""
    if text[i : i + 3] != "]{.":
        return 0
    j = i + 3
    while is_plain(at(text, j)) or at(text, j) == "_":
        j += 1
    return j + 1 if j > i + 3 and at(text, j) == "}" else 0


def enumerated(text, i):
    """Return the number of (1) to (20) and the place behind, or 0; f(1) and (1)= are formulas."""
    j = skip(text, i + 1)
    n = digits(text, j)
    end = skip(text, j + n)
    value = int(text[j : j + n]) if 1 <= n <= 2 else 0
    if at(text, end) != ")" or not 1 <= value <= 20:
        return 0, 0
    if i and (is_plain(text[i - 1]) or text[i - 1] in ")}"):
        return 0, 0
    j = skip(text, end + 1)
    if "a" <= at(text, j) <= "z":
        j = skip(text, j + 1)
    return (0, 0) if at(text, j) in "-+=" else (value, end + 1)


def environment_end(text, i):
    r"""Return the place behind {name} and {c|c} of \begin."""
    for allowed in ("abcdefghijklmnopqrstuvwxyz* ", "clr| "):
        j = i + 1
        while j < len(text) and text[j] in allowed:
            j += 1
        if at(text, i) != "{" or at(text, j) != "}":
            return i
        i = j + 1
    return i


def is_atom(content):
    """Tell whether it is one character or number at most, with a sign or without."""
    content = content[content[:1] in (["+"], ["-"]) :]
    return len(content) <= 1 or re.fullmatch(r"[0-9][0-9.]*", "".join(content)) is not None


# Tokens

WEIGHTS = {Kind.NUMBER: 6.0, Kind.LETTER: 4.0, Kind.SYMBOL: 2.0, Kind.IMAGE: 8.0}
CLAUSE_ENDS = ",;。?!.:\n"
OF_WORDS = (Flag.NEGATES | Flag.LIMITS | Flag.GRAMMAR | Flag.JOINS | Flag.EQUALS | Flag.POLAR) | (
    Flag.ASKS | Flag.TASK
)
A_NOT_A = re.compile(r"(?<=(.))[不没]\1|(?<=[是能可会])否")


class Tokenizer:
    """Makes tokens of a part."""

    def __init__(self, text, han):
        flattener = Flattener(text)
        self.text, self.images, self.han = flattener.flat(), iter(flattener.images), han
        self.tokens = []
        self.starts = [0]  # of lines, in tokens
        self.provisions = []  # tokens before each
        self.clause, self.fresh, self.emphasised, self.signs = 0, False, False, ""
        self.listed = False
        self.arguments = 0  # where those of a function end

    def put(self, text, kind, weight=None, flags=NO_FLAG):
        """Add a token."""
        meaning, synonym = (0, 0) if kind == Kind.IMAGE else tables.words().get(text, (0, 0))
        known = Flag(meaning) & OF_WORDS
        flags |= known & (Flag.NEGATES | Flag.LIMITS) if kind == Kind.LETTER else known
        if not meaning & Flag.NOT_NEGATING and any(c in tables.negating() for c in text):
            flags |= Flag.NEGATES
        if self.emphasised:
            flags |= Flag.EMPHASISED
        if self.listed:
            flags |= Flag.LISTED
        if self.arguments:
            flags |= Flag.ARGUMENT
        self.listed = False
        if weight is None:
            weight = WEIGHTS.get(kind, 0.0)
        weight = float(np.float32(weight))
        key = synonym or xxhash.xxh3_64_intdigest(_utf32(text))
        self.tokens.append(Token(text, kind, weight, self.clause, flags, key, self.signs))
        self.signs = ""
        self.fresh = True

    def run(self):
        """Return the tokens."""
        text, keep, i = self.text, kept_brackets(self.text), 0
        quote, quoted = 0, None
        begin = 0  # of the clause
        while i < len(text):
            c, kind, end = text[i], class_of(text[i]), i + 1
            if i >= self.arguments:
                self.arguments = 0
            if c == "\n" and len(self.tokens) > self.starts[-1]:
                self.starts.append(len(self.tokens))
            if len(self.tokens) == self.starts[-1] and is_provision(text, i):
                self.provisions.append(len(self.tokens))
            if c == IMAGE:
                self.put(next(self.images, ""), Kind.IMAGE)
            elif c in (OPEN, CLOSE):
                self.emphasised = c == OPEN
            elif c == '"':
                if quoted == len(self.tokens):
                    self.signs += text[quote:i]
                quoted, quote = len(self.tokens) if quoted is None else None, end
            elif c == "、":
                self.listed = True
            elif blank := blank_end(text, i):
                self.put("＿", Kind.BLANK)
                end = blank
            elif kind == Class.DIGIT:
                end = number_end(text, i)
                numbering = self.clause and not self.fresh and end - i <= 2 and at(text, end) == "."
                begins = is_han(at(text, skip(text, end + 1))) and not goes_on(
                    text, end + 1, Phrase.JOINT
                )
                if not (numbering and begins):
                    self.put(plain_number(text[i:end]), Kind.NUMBER)
            elif kind == Class.CIRCLED:
                self.put(c, Kind.NUMBER, 3.0)
            elif kind == Class.LETTER:
                end = latin_end(text, i)
                self.put_latin(text[i:end])
            elif kind == Class.HAN:
                while is_han(at(text, end)):
                    end += 1
                run = A_NOT_A.sub("", text[i:end])
                for word in jieba.cut(run):
                    self.put_han(word)
                if run != text[i:end]:
                    self.put("?", Kind.FUNCTION)
            elif c in "()[]":
                if c == "(" and "a" <= at(text, i - 1) <= "z":
                    self.arguments = closing(text, i, 80)
                if i in keep:
                    self.put(c, Kind.SYMBOL, 1.0)
                elif is_mark(text, i):
                    self.signs += c
            elif kind == Class.SIGN and is_operator(text, i):
                self.put(c, Kind.SYMBOL)
            elif is_mark(text, i):
                self.signs += c
            if c in CLAUSE_ENDS and self.fresh and end == i + 1 and not within(text, i):
                if c == "?":
                    first = self.tokens[begin]
                    if len(self.tokens) - begin == 2 and first.flags & Flag.LATIN:  # isn't it?
                        self.tokens[begin] = replace(first, flags=first.flags & ~Flag.NEGATES)
                    last = self.tokens[-1]
                    self.tokens[-1] = replace(last, flags=last.flags | Flag.TASK)
                self.clause += 1
                self.fresh = False
                begin = len(self.tokens)
            i = end
        if self.tokens and self.signs:
            last = self.tokens[-1]
            self.tokens[-1] = replace(last, signs=f"{last.signs} {self.signs}")
        return self.tokens

    def put_latin(self, text):
        """Add a word of letters."""
        meaning = tables.words().get(text, (0, 0))[0]
        if meaning & Flag.AUXILIARY and not self.fresh:
            self.put("?", Kind.FUNCTION)
        whether = self.fresh and self.tokens[-1].text == "or"
        self.add_latin(text, meaning)
        if whether:
            self.tokens[-1] = replace(last := self.tokens[-1], flags=last.flags & ~Flag.NEGATES)

    def add_latin(self, text, meaning):
        """Add one that is no mark of a question."""
        if not self.han and meaning & Flag.ENGLISH_FUNCTION:
            self.put(text, Kind.FUNCTION)
        elif len(text) == 1 or meaning & Flag.FORMULA:
            self.put(text, Kind.LETTER, flags=Flag.LATIN)
        else:
            self.put(text, Kind.WORD, tables.idf().get(text, 8.0), Flag.LATIN)

    def put_han(self, text):
        """Add a word of jieba's."""
        flags = Flag.PROPER if text in tables.proper_nouns() else NO_FLAG
        if tables.words().get(text, (0, 0))[0] & Flag.FUNCTION:
            self.put(text, Kind.FUNCTION, flags=flags)
        else:
            weight = tables.idf().get(text, 10.0 if len(text) > 1 else 7.0)
            self.put(text, Kind.WORD, weight, flags)


def blank_end(text, i):
    """Return the place behind __ or ( ), or 0."""
    if text[i] in "([":
        j = skip(text, i + 1)
        return j + 1 if at(text, j) == {"(": ")", "[": "]"}[text[i]] else 0
    count, j = 0, i
    while at(text, j) == "_":
        count, end = count + 1, j + 1
        j = skip(text, end)
    return end if count > 1 else 0


def within(text, i):
    """Tell whether a mark stands within a number or abbreviation, as in 3,4 and e.g here."""
    behind = at(text, i + 1)
    return (is_digit(at(text, i - 1)) and is_digit(behind)) or (
        text[i] == "." and (is_plain(behind) or is_han(behind))
    )


def number_end(text, i):
    """Return the place behind 1,234,567.8."""
    n = digits(text, i)
    end = i + n
    while n <= 3 and at(text, end) == "," and digits(text, end + 1) == 3:
        end += 4
    decimals = digits(text, end + 1) if at(text, end) == "." else 0
    return end + 1 + decimals if decimals else end


def plain_number(text):
    """Return 3 for 3.0 and 7 for 007."""
    whole, point, decimals = text.replace(",", "").partition(".")
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + decimals if decimals else "")


def latin_end(text, i):
    """Return the place behind a word, and 's or n't behind it."""
    while is_letter(at(text, i)):
        i += 1
    end = i
    if at(text, i) == "'":
        i += 1
        while "a" <= at(text, i) <= "z":
            i += 1
        end = i if i > end + 1 else end
    return end


def kept_brackets(text):
    """Return the brackets that belong to formulas: (a+b), [2,6]."""
    stack = []
    keep = set()
    for i, c in enumerate(text):
        if c in "([":
            stack.append(i)
        elif c in ")]" and stack:
            start = stack.pop()
            if i - start <= 81 and is_formula(text[start + 1 : i]):
                keep |= {start, i}
        elif c == "\n":
            stack.clear()
    return keep


def is_formula(text):
    """Tell whether it is letters or digits with a sign, without Han characters and words."""
    signs = any(c in ",^" or (class_of(c) == Class.SIGN and c not in "_'!~%°·") for c in text)
    word = longest = 0
    for c in text:
        word = word + 1 if "a" <= c <= "z" else 0
        longest = max(longest, word)
    return signs and longest < 5 and any(map(is_plain, text)) and not any(map(is_han, text))


def is_operator(text, i):
    """Tell whether a sign has a meaning here: - in a-1, not in well-known."""
    c, before, after = text[i], at(text, i - 1), at(text, i + 1)
    if c == "-":
        k = i + 1
        while at(text, k) == " " and k < len(text):
            k += 1
        near = at(text, k)
        if is_digit(near):
            return not is_han(before)
        single = near in "(⟨√" or (is_letter(near) and not is_letter(at(text, k + 1)))
        return (
            single
            and (not is_letter(before) or not is_letter(at(text, i - 2)))
            and not is_han(before)
        )
    if c in "<>":
        return c not in (before, after)
    if c in "|&" and before == " " and is_alone(text, i - 2) and is_alone(text, i + 2):
        return True  # x | y
    if c == "|":
        return is_side(before) or is_side(after)
    if c == "_":
        return before != "_" and after != "_" and is_side(before) and is_side(after)
    if c == "!":
        goes = after in "=(" or is_letter(after)
        return not is_letter(before) if goes else is_digit(before)
    if c == "'":
        k, end = len(text[:i].rstrip("'")) - 1, len(text) - len(text[i:].lstrip("'"))
        alone = is_letter(at(text, k)) and not is_letter(at(text, k - 1))
        return alone and not is_letter(at(text, end))
    if c == "/":
        return is_side(before) and is_side(after)
    if c in "·*~&":
        return is_side(before) and is_side(after)
    return True


def is_alone(text, i):
    """Tell whether a letter or digit stands between others."""
    return is_plain(at(text, i)) and not is_plain(at(text, i - 1)) and not is_plain(at(text, i + 1))


def is_mark(text, i):
    """Tell whether what is no token is a sign: ♀ and £, * of **kwargs, [ and : of a[:3]."""
    c, before = text[i], at(text, i - 1)
    if c == ":":
        return before == "[" or at(text, i + 1) == "]"
    return c in "&*·" or class_of(c) == Class.MARK or (c == "[" and is_plain(before))


def is_side(c):
    return is_plain(c) or c in "()⟨⟩√|"


# Forms


@dataclass
class Parts:
    """A text in parts, folded; notes and answer are behind what they were taken from."""

    stem: str
    choices: list[str]
    answer: str
    explanation: str
    notes: str
    han: bool
    provision: bool


def parts_of(text):
    """Return the parts of a text."""
    text, tags = strip_tags(fold(keep_capitals(text)))
    text, notes = take_brackets(text)
    notes = tags + notes
    rest, more = take_sentences(text)
    if letters(rest) >= 4:
        text, notes = rest, notes + more
    body, answer, explanation, lines = split_notes(text)
    provision = is_provision(body, 0)
    body = strip_opening(body)
    stem, choices = find_choices(body, unmarked=True)
    return Parts(
        stem, choices, answer, explanation, notes + lines, any(map(is_han, body)), provision
    )


def form_of(text):
    """Return the form of a text."""
    parts = parts_of(text)

    def tokens(part):
        return Tokenizer(part, parts.han).run()

    stem = Tokenizer(parts.stem, parts.han)
    outside = [*map(tokens, (parts.answer, parts.explanation, parts.notes))]
    form = Form(stem.run(), [*map(tokens, parts.choices)], *outside)
    ends = [*stem.starts[1:], len(stem.tokens)]
    lines = [stem.tokens[i:j] for i, j in zip(stem.starts, ends, strict=True) if i < j]
    is_long = len(lines) > 3 or len(stem.text) > 300
    provisions, first = len(stem.provisions) + parts.provision, [*stem.provisions, 0]
    form.layout = Layout(lines, provisions, first[0], asks(stem.text, is_long), is_long)
    return form


def is_provision(text, i):
    """Return whether a line begins there as a provision of a statute does."""
    return bool(_PROVISION.match(text, i))


def asks(text, is_long):
    """Return whether a text asks for something."""
    body = re.sub("[ \n。!]+$", "", text)
    if body[-1:] in tuple("?是为=_"):
        return True
    if not is_long and any(
        (c == "?" and 4 * (len(text) - i) <= len(text) + 80) or (c in "_([" and blank_end(text, i))
        for i, c in enumerate(text)
    ):
        return True
    begin = skip(text, max(body.rfind(c) for c in "\n。!?") + 1)
    last = text[min(begin, len(body)) : len(body)]
    if not is_long:
        return holds(last, Phrase.ASK)
    while begin < len(body) and text[begin] in "(0123456789) ":
        begin += 1
    return phrase(text, begin, Phrase.ASK)[0] > 0 or bool(re.search("的是[ (①\n]", last))
