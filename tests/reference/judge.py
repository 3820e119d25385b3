"""The judge of two canonical forms, written naively: what dedup_job.judgment does natively."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jieba

import dedup_job

FOLDER = Path(dedup_job.__file__).parent / "judgment"
RELATIONS = frozenset(
    "把被将给向从到来去往由自至在于对为与和及或而且并若如则但虽却即乃因以按据除让使令叫替同跟比当着了过"
    "起出入进回上下内外前后左右间"
)
MEANING = (
    RELATIONS
    | frozenset("有已均皆都只也还又再才就最更较每各某他她它")
    | frozenset(
        "不无未非没否勿莫别零一二三四五六七八九十百千万亿两半双单左右上下前后内外东南西北中里大小多少高低长短增减正负加乘除"
        "升降进退出开关阴阳男女老父母子甲乙丙丁戊己庚辛壬癸丑寅卯辰巳午申酉戌亥冷热寒暑干湿快慢轻重深浅粗细强弱公私红橙黄绿"
        "青蓝紫黑白灰春夏秋冬年月时分秒天夜早晚先首末始终氢氦锂铍硼碳氮氧氟氖钠镁铝硅磷硫氯氩钾钙钪钛钒铬锰铁钴镍铜锌镓锗"
        "砷硒溴氪铷锶钇锆铌钼锝钌铑钯银镉铟锡锑碲碘氙铯钡镧铪钽钨铼锇铱铂金汞铊铅铋钋氡钫镭锕钍铀烷烯炔醇醛酮酸酯醚胺酚烃苯萘"
        "蒽胍肽苷醌羟羧氨糖碱盐酐腈肟脲铵"
    )
)
NEGATIONS = frozenset("不无未非没否勿莫")
OPERATORS = frozenset("+-×/=<>^_√·*%≤≥|{}()[]")
BRACKETS = frozenset("()[]{}|")
NUMERALS = "零〇一二两三四五六七八九十百千万亿"
DIGITS = {d: i for i, ds in enumerate(("零〇", "一", "二两", *"三四五六七八九")) for d in ds}
TENS, MYRIADS = {"十": 10, "百": 100, "千": 1000}, {"万": 4, "亿": 8}
MISREAD = {"i": "1", "l": "1", "|": "1", "o": "0"}
ASKING = frozenset("哪什下")
HARMLESS = frozenset(
    {
        *("punctuation", "notation", "typo", "numeral", "function_word", "synonym", "order"),
        *("truncated", "added", "numbering", "corrected"),
    }
)
MOST_EDITS, MOST_REWRITTEN, CONTEXT, NEAR = 1000, 32, 4, 3
LONG, VERY_LONG, SHORTEST_LONE_STEM, SHORTEST_CUT = 80, 200, 12, 15
PROSE, SHORTEST_PROSE, SENTENCE, TAIL, CORRECTED, ADDED = 150, 100, 6, 20, 0.02, 0.3
MOST_CLAUSES, LONGEST_LIST = 6, 60


@dataclass
class Form:
    """The canonical form of a text, as tests/reference/canonical.py makes it."""

    stem: str
    choices: list[str] = field(default_factory=list)
    answer: str = ""
    emphasis: str = ""
    clauses: list[str] = field(default_factory=list)
    question: bool = False
    cut_left: bool = False
    cut_right: bool = False
    spelling: bool = False
    sequence: bool = False
    short: bool = False

    @property
    def ends(self) -> list[int]:
        """Where each clause ends in the stem."""
        at, ends = 0, []
        for clause in self.clauses or [self.stem]:
            at = self.stem.index(clause, at) + len(clause)
            ends.append(at)
        return ends

    @property
    def main(self) -> str:
        """All that is compared first, in the order of the text."""
        return self.stem + "".join(self.choices)


@dataclass(frozen=True)
class Found:
    """A difference: its class, the words of either text."""

    kind: str
    text: str
    other: str


@functools.cache
def words() -> tuple[dict[str, set[int]], set[str]]:
    """Return the groups of each synonym, and the function words."""
    synonyms: dict[str, set[int]] = {}
    function: set[str] = set()
    section = ""
    for number, line in enumerate((FOLDER / "words.txt").read_text("utf-8").splitlines()):
        if line.startswith("["):
            section = line
        elif section == "[function words]" and not line.startswith("#"):
            function.update(line.split())
        elif section == "[synonyms]" and not line.startswith("#"):
            for word in line.split():
                synonyms.setdefault(word, set()).add(number)
    return synonyms, function


@functools.cache
def sections() -> dict[str, list[str]]:
    """Return the lines of alike.txt by section."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / "alike.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            found[line] = []
        elif line and not line.startswith("#"):
            found[[*found][-1]].append(line)
    return found


@functools.cache
def alike() -> tuple[set[frozenset[str]], set[frozenset[str]]]:
    """Return the pairs of characters that look alike, and those that every OCR program confuses."""
    near = {frozenset((line[0], other)) for line in sections()["[shapes]"] for other in line[1:]}
    sure = set(map(frozenset, sections()["[sure]"]))
    return near | sure, sure


@functools.cache
def readings() -> dict[str, set[str]]:
    """Return the readings of each character without their tones."""
    found: dict[str, set[str]] = {}
    for line in sections()["[sounds]"]:
        reading, _, those = line.partition(" ")
        for character in those:
            found.setdefault(character, set()).add(reading)
    return found


@functools.cache
def dictionary() -> dict[str, int]:
    """Return jieba's words with their frequencies."""
    jieba.setLogLevel(60)
    jieba.initialize()
    return {word: count for word, count in jieba.dt.FREQ.items() if count}


def frequency(word: str) -> int:
    """Return how often a word occurs, 0 where it is none."""
    return dictionary().get(word, 0)


def heard(character: str) -> set[str]:
    """Return the readings of a character."""
    return readings().get(character, set())


def blurry(character: str) -> set[str]:
    """Return its readings with n for ng and z, c, s for zh, ch, sh."""
    return {
        re.sub(r"\A([zcs])h", r"\1", reading).replace("ng", "n") for reading in heard(character)
    }


def is_han(character: str) -> bool:
    """Tell whether a character is Han."""
    return "\u3400" <= character <= "\u9fff" or character == "〇"


def is_digit(character: str) -> bool:
    """Tell whether a character is an ASCII digit."""
    return "0" <= character <= "9"


def in_number(character: str) -> bool:
    """Tell whether a character can be part of a number."""
    return is_digit(character) or character == "."


def is_latin(character: str) -> bool:
    """Tell whether a character is a small ASCII letter."""
    return "a" <= character <= "z"


def is_rare(character: str) -> bool:
    """Tell whether a character is so rare that it must be a misread one."""
    return is_han(character) and character not in readings() and not frequency(character)


def are_strange(x: str, y: str, size: int) -> bool:
    """Tell whether too many runs of five characters of the shorter long text are not shared.

    That is 0.7 of them, or half of `size`: the characters of the shorter part that they are from.
    """
    grams = [Counter(s[i : i + 5] for i in range(len(s) - 4)) for s in (x, y)]
    least = min(len(x), len(y)) - 4
    lacking = least - (grams[0] & grams[1]).total()
    return least >= 300 and lacking > min(0.7 * least, 0.5 * size)


def edits(a: str, b: str) -> list[tuple[int, int, int, int]] | None:
    """Return the hunks a[i:j] -> b[k:z] of a shortest edit script; None beyond MOST_EDITS.

    Myers, "An O(ND) difference algorithm and its variations" (1986), the greedy algorithm, between
    the common beginning and the common end.
    """
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    x, y = a[start : len(a) - end], b[start : len(b) - end]
    if not x or not y:
        return [(start, start + len(x), start, start + len(y))] if x or y else []
    if are_strange(x, y, min(len(a), len(b))):
        return None
    reach = {1: 0}
    trace = []
    for d in range(min(MOST_EDITS, len(x) + len(y)) + 1):
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and reach[k - 1] < reach[k + 1])
            i = reach[k + 1] if down else reach[k - 1] + 1
            while i < len(x) and i - k < len(y) and x[i] == y[i - k]:
                i += 1
            reach[k] = i
            if i >= len(x) and i - k >= len(y):
                return _hunks(x, y, [*trace, dict(reach)], start)
        trace.append(dict(reach))
    return None


def _hunks(
    x: str, y: str, trace: list[dict[int, int]], start: int
) -> list[tuple[int, int, int, int]]:
    """Walk the script back; deletions and insertions that touch make one hunk."""
    i, j = len(x), len(y)
    found: list[tuple[int, int, int, int]] = []
    for d in range(len(trace) - 1, 0, -1):
        reach, k = trace[d - 1], i - j
        down = k == -d or (k != d and reach[k - 1] < reach[k + 1])
        before = k + 1 if down else k - 1
        from_i = reach[before]
        from_j = from_i - before
        to_i, to_j = (from_i, from_j + 1) if down else (from_i + 1, from_j)
        if found and found[-1][0] == start + to_i and found[-1][2] == start + to_j:
            last = found.pop()
            found.append((start + from_i, last[1], start + from_j, last[3]))
        else:
            found.append((start + from_i, start + to_i, start + from_j, start + to_j))
        i, j = from_i, from_j
    return found[::-1]


def hunks(a: str, b: str) -> list[tuple[int, int, int, int]] | None:
    """Return the hunks of an edit script, each grown over the numbers it cuts."""
    script = edits(a, b)
    if script is None:
        return None
    out: list[tuple[int, int, int, int]] = []
    for i, j, k, z in script:
        while i > 0 and k > 0 and in_number(a[i - 1]) and (_cut(a, i, j) or _cut(b, k, z)):
            i, k = i - 1, k - 1
        while (
            j < len(a)
            and z < len(b)
            and in_number(a[j])
            and (_cut_end(a, i, j) or _cut_end(b, k, z))
        ):
            j, z = j + 1, z + 1
        while out and (i <= out[-1][1] or k <= out[-1][3]):
            before = out.pop()
            i, j = min(before[0], i), max(before[1], j)
            k, z = min(before[2], k), max(before[3], z)
        out.append((i, j, k, z))
    return out


def _cut(s: str, i: int, j: int) -> bool:
    return i < j and in_number(s[i])


def _cut_end(s: str, i: int, j: int) -> bool:
    return i < j and in_number(s[j - 1])


def value(word: str) -> str | None:
    """Return a number, written in digits or Han numerals, in digits."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", word):
        return word
    return han_value(word) if word and all(c in NUMERALS for c in word) else None


def han_value(word: str) -> str | None:
    """Return the value of Han numerals; None where they are no number."""
    if all(c in DIGITS for c in word):
        return "".join(str(DIGITS[c]) for c in word).lstrip("0") or "0"
    total = section = 0
    digit: int | None = None
    for c in word:
        if c in DIGITS:
            if digit:
                return None
            digit = DIGITS[c]
        elif c in TENS:
            if not digit and (c != "十" or section):
                return None
            section += (digit or 1) * TENS[c]
            digit = None
        else:
            section += digit or 0
            if not section and (c == "万" or not total):
                return None
            before = total if c == "亿" else 0
            total += (before + section) * 10 ** MYRIADS[c] - before
            section, digit = 0, None
    return str(total + section + (digit or 0))


def rewritten(x: str, y: str) -> frozenset[str] | None:
    """Return the classes by which x is y: function words, synonyms, numerals; None if it is not.

    Of several ways the one with the fewest classes, of these the first found.
    """
    if len(x) > MOST_REWRITTEN or len(y) > MOST_REWRITTEN:
        return None
    synonyms, function = words()
    longest = max(map(len, synonyms)), max(map(len, function))
    best: dict[tuple[int, int], frozenset[str]] = {(0, 0): frozenset()}
    for i in range(len(x) + 1):
        for j in range(len(y) + 1):
            if (i, j) in best:
                for to, kind in _steps(x, y, i, j, synonyms, function, longest):
                    reached = best[i, j] | ({kind} if kind else set())
                    if to not in best or len(reached) < len(best[to]):
                        best[to] = reached
    return best.get((len(x), len(y)))


def _steps(
    x: str,
    y: str,
    i: int,
    j: int,
    synonyms: dict[str, set[int]],
    function: set[str],
    longest: tuple[int, int],
) -> Iterator[tuple[tuple[int, int], str | None]]:
    if i < len(x) and j < len(y) and x[i] == y[j]:
        yield (i + 1, j + 1), None
    for n in range(1, min(longest[1], len(x) - i) + 1):
        if x[i : i + n] in function:
            yield (i + n, j), "function_word"
    for m in range(1, min(longest[1], len(y) - j) + 1):
        if y[j : j + m] in function:
            yield (i, j + m), "function_word"
    for n in range(1, min(longest[0], len(x) - i) + 1):
        for m in range(1, min(longest[0], len(y) - j) + 1):
            a, b = x[i : i + n], y[j : j + m]
            if a != b and synonyms.get(a, set()) & synonyms.get(b, set()):
                yield (i + n, j + m), "synonym"
    for n in range(1, min(8, len(x) - i) + 1):
        for m in range(1, min(8, len(y) - j) + 1):
            a, b = x[i : i + n], y[j : j + m]
            whole = x[i + n : i + n + 1], y[j + m : j + m + 1]
            cut = any(c and in_number(c) for c in whole)
            if a != b and not cut and value(a) is not None and value(a) == value(b):
                yield (i + n, j + m), "numeral"


def covering(s: str, i: int, j: int) -> int:
    """Return the frequency of the commonest word of 2 to 4 Han characters that holds s[i:j]."""
    spans = (
        s[p:q]
        for p in range(max(0, j - 4), i + 1)
        for q in range(j, min(len(s), p + 4) + 1)
        if q - p >= 2 and q - p > j - i
    )
    return max((frequency(w) for w in spans if all(map(is_han, w))), default=0)


def is_typo(a: str, i: int, j: int, b: str, k: int, z: int, size: int) -> bool:
    """Tell whether a[i:j] and b[k:z] are the same but for a misspelling, an OCR error or a loss.

    size: characters of the shorter text.
    """
    x, y = a[i:j], b[k:z]
    if len(x) == len(y) and all(map(_is_misread, x, y)):
        return True
    if len(x) + len(y) == 1:
        return _is_lost(a, i, b, k, x) if x else _is_lost(b, k, a, i, y)
    if not x or not y or not all(map(is_han, x + y)):
        return False
    if len(x) == len(y) <= 2:
        return _is_misspelt(a, i, j, b, k, z, size)
    return abs(len(x) - len(y)) <= 2 and (all(map(is_rare, x)) or all(map(is_rare, y)))


def _is_misread(x: str, y: str) -> bool:
    return x == y or (MISREAD.get(x, x) == MISREAD.get(y, y) and {x, y} != {"i", "l"})


def _is_misspelt(a: str, i: int, j: int, b: str, k: int, z: int, size: int) -> bool:
    x, y = a[i:j], b[k:z]
    pairs = [frozenset(pair) for pair in zip(x, y, strict=True)]
    if any(pair <= MEANING for pair in pairs):
        return False
    near, sure = alike()
    if all(pair in sure for pair in pairs) or any(map(is_rare, x)) != any(map(is_rare, y)):
        return True
    more, less = sorted((covering(a, i, j), covering(b, k, z)), reverse=True)
    looks = all(pair in near for pair in pairs)
    sounds = all(heard(c) & heard(d) for c, d in zip(x, y, strict=True))
    blurred = all(blurry(c) & blurry(d) for c, d in zip(x, y, strict=True))
    clearly = more >= (20 * max(less, 1) if less <= 5 else 200 * less)
    if (looks or blurred) and less <= 20 and clearly:
        return True
    if len(x) == 2:
        return False
    if sounds and size >= 100 and min(len(a), len(b)) >= 10:
        return True
    if sounds and not more and _run(a, i, j) >= 4:
        return True
    if less or x in MEANING or y in MEANING:
        return False
    function = words()[1]
    if looks and (x in function or y in function):
        return True
    for odd, usual in ((x, y), (y, x)):
        strange = odd not in MEANING and frequency(odd) * 1000 < frequency(usual)
        if usual in function and strange:
            return True
    return (size >= LONG and more >= 100) or (size >= VERY_LONG and more > 0)


def _run(s: str, i: int, j: int) -> int:
    """Return how many Han characters stand together around s[i:j]."""
    while i > 0 and is_han(s[i - 1]):
        i -= 1
    while j < len(s) and is_han(s[j]):
        j += 1
    return j - i


def _is_lost(s: str, i: int, other: str, k: int, lost: str) -> bool:
    """Tell whether other[k:] lacks the one character s[i] of a word, or s has it twice."""
    if not is_han(lost) or lost in MEANING:
        return False
    if other[k - 1 : k] == lost or other[k : k + 1] == lost:
        return True
    rest = frequency(other[k - 1 : k + 1]) if k and is_han(lost) else 0
    for p in range(max(0, i - 3), i + 1):
        for q in range(i + 1, min(len(s), p + 4) + 1):
            whole = q - p >= 2 and is_han(lost) and frequency(s[p:q]) >= 20 * max(rest, 1)
            if not whole:
                continue
            if q - p == 2:
                at = k - 1 if p < i else k
                rest_of_word = other[at : at + 1] if at >= 0 else ""
                if rest_of_word and (rest_of_word in words()[1] or covering(other, at, at + 1)):
                    continue
            elif frequency(s[p:i] + s[i + 1 : q]):
                continue
            return True
    return False


def bracket_class(a: str, i: int, j: int, b: str, k: int, z: int) -> str | None:
    """Return the class of a difference in brackets alone, if it is harmless."""
    x, y = a[i:j], b[k:z]
    if not set(x + y) & BRACKETS:
        return None
    bare = str.maketrans("", "", "()")
    if x.translate(bare) == y.translate(bare) and len(x) + len(y) <= 12:
        near = a[max(0, i - 3) : j + 3] + b[max(0, k - 3) : z + 3]
        if not set(near) & set("+-×/=<>^√,[]{}|"):
            return "notation"
    if set(x + y) <= BRACKETS:
        if all(map(is_han, a[max(0, i - 1) : i] + a[j : j + 1])):
            return "punctuation"
        if _is_balanced(a) != _is_balanced(b):
            return "typo"
    return None


def _is_balanced(s: str) -> bool:
    count = Counter(s)
    opened, closed = count["("] + count["["], count[")"] + count["]"]
    return opened == closed and count["|"] % 2 == 0


def classes_of(
    a: str, hunk: tuple[int, int, int, int], b: str, size: int, spelling: bool
) -> frozenset[str] | None:
    """Return the harmless classes of a hunk, None where it is not harmless."""
    i, j, k, z = hunk
    x, y = a[i:j], b[k:z]
    if x and y and all(map(in_number, x + y)):
        return None
    if kind := bracket_class(a, i, j, b, k, z):
        return frozenset({kind})
    if x + y == "-" and re.search("[a-z]{2}$", a[:i]) and re.match("[a-z]{2}", a[j:]):
        return frozenset({"punctuation"})
    if re.fullmatch(r"\([0-9]\)", x + y) and (i == 0 or is_han(a[i - 1])):
        return frozenset({"numbering"})
    if not (x and y) and j == len(a) and z == len(b) and a[i - 1 : i] == "=" == b[k - 1 : k]:
        return frozenset({"added"})
    if not spelling and is_typo(a, i, j, b, k, z, size):
        return frozenset({"typo"})
    if spelling and len(x) == len(y):
        return None
    for left in range(CONTEXT + 1):
        if left and (left > min(i, k) or a[i - left] != b[k - left]):
            break
        for right in range(CONTEXT + 1):
            if right and (
                j + right > len(a) or z + right > len(b) or a[j + right - 1] != b[z + right - 1]
            ):
                break
            kinds = rewritten(a[i - left : j + right], b[k - left : z + right])
            if kinds:
                short = 0 < len(x) <= 2 and 0 < len(y) <= 2
                words_of_their_own = short and covering(a, i, j) and covering(b, k, z)
                other = bool(x and y) and any(
                    len(w) > 1 and frequency(w) and w not in words()[1] for w in (x, y)
                )
                asked = bool(x and y) and bool(set(x) & ASKING) != bool(set(y) & ASKING)
                part = not (x and y) and (covering(a, i, j) if x else covering(b, k, z)) > 0
                other = other or asked or part
                own = (words_of_their_own or other) and kinds == {"function_word"}
                signs = len(x) == len(y) == 1 and rewritten(x, y) == {"synonym"}
                return None if own or (signs and words_of_their_own) else kinds
    return None


def harmful_class(x: str, y: str) -> str:
    """Name a difference that is not harmless."""
    both = x + y
    if any(c == "\ufffc" or ord(c) >= 0xF0000 for c in both):
        return "image"
    if any(map(is_digit, both)):
        return "number"
    letters = all(map(is_latin, both)) and max(len(x), len(y)) <= 2
    if letters or any(c in OPERATORS or "α" <= c <= "ω" for c in both):
        return "formula"
    return "polarity" if bool(set(x) & NEGATIONS) != bool(set(y) & NEGATIONS) else "content"


def part(a: str, b: str, size: int, spelling: bool) -> list[Found]:
    """Return the differences of two parts."""
    if a == b:
        return []
    left, right = Counter(a), Counter(b)
    unlike = min((left - right).total(), (right - left).total())
    script = hunks(a, b) if unlike <= max(8, min(len(a), len(b)) * 3 // 10) else None
    if script is None:
        return [Found("content", a, b)]
    found = []
    t = 0
    while t < len(script):
        last = t
        while last + 1 < len(script) and last < t + 2 and _are_near(script, last):
            last += 1
        for e in range(last, t - 1, -1):
            hunk = (script[t][0], script[e][1], script[t][2], script[e][3])
            kinds = classes_of(a, hunk, b, size, spelling)
            if kinds in ({"typo"}, {"function_word"}) and e == t and not _is_alone(a, b, script, t):
                kinds = None
            if kinds:
                x, y = a[hunk[0] : hunk[1]], b[hunk[2] : hunk[3]]
                found += [Found(kind, x, y) for kind in sorted(kinds)]
                t = e + 1
                break
        else:
            i, j, k, z = script[t]
            found.append(Found(harmful_class(a[i:j], b[k:z]), a[i:j], b[k:z]))
            t += 1
    return found


def _are_near(script: list[tuple[int, int, int, int]], t: int) -> bool:
    return script[t + 1][0] - script[t][1] <= NEAR


def _is_alone(a: str, b: str, script: list[tuple[int, int, int, int]], t: int) -> bool:
    i, j, k, z = script[t]
    if i < j and k < z:
        return True
    for at in (t - 1, t + 1):
        if not 0 <= at < len(script):
            continue
        p, q, r, s = script[at]
        apart = p - j if at > t else i - q
        opposite = (p < q) != (i < j) and (r < s) != (k < z)
        if apart < 2 and opposite and is_han((a[p:q] + b[r:s])[0]):
            return False
    return True


def is_harmless(found: Sequence[Found]) -> bool:
    """Tell whether all differences are harmless."""
    return all(f.kind in HARMLESS for f in found)


def choices(a: Sequence[str], b: Sequence[str], size: int, spelling: bool) -> list[Found]:
    """Return the differences of two sets of answer choices, in the order of their labels."""
    if Counter(a) == Counter(b):
        return [Found("order", "", "")] if list(a) != list(b) else []
    left, right = _unlike(a, b), _unlike(b, a)
    first = min([*left, *right])
    most = max(len(a), len(b))
    if first > 0 and left == [*range(first, len(a))] and right == [*range(first, len(b))]:
        x = [a[i] if i < len(a) else "" for i in range(first, most)]
        y = [b[i] if i < len(b) else "" for i in range(first, most)]
        if _begin(x, y) or _begin(y, x):
            return [Found("truncated", u, v) for u, v in zip(x, y, strict=True) if u != v]
    found = []
    free = list(right)
    for i in left:
        for j in free:
            between = part(a[i], b[j], size, spelling)
            if is_harmless(between):
                found += between
                free.remove(j)
                break
        else:
            ends = i in free and (i == len(a) - 1 or i == len(b) - 1)
            if ends and (is_cut_off(b[i], a[i]) or is_cut_off(a[i], b[i])):
                found.append(Found("truncated", a[i], b[i]))
                free.remove(i)
            else:
                found.append(Found("truncated" if i >= len(b) else "choice", a[i], ""))
    return found + [Found("truncated" if j >= len(a) else "choice", "", b[j]) for j in free]


def _unlike(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Return the places of those of a that are not among b."""
    there = Counter(b)
    out = []
    for i, choice in enumerate(a):
        if there[choice] > 0:
            there[choice] -= 1
        else:
            out.append(i)
    return out


def _begin(short: Sequence[str], long: Sequence[str]) -> bool:
    return all(is_cut_off(u, v) for u, v in zip(short, long, strict=True))


def is_cut_off(cut: str, whole: str) -> bool:
    """Tell whether a choice is the other one, or its beginning, cut off in a word."""
    if not whole.startswith(cut):
        return False
    around = whole[max(0, len(cut) - 1) : len(cut) + 1]
    return not cut or cut == whole or all(map(is_han, around)) or all(map(is_latin, around))


def stems(a: Form, b: Form, size: int, spelling: bool) -> list[Found]:
    """Return the differences of two stems; clauses in another order are one."""
    found = part(a.stem, b.stem, size, spelling)
    if is_harmless(found):
        return found
    for cut, whole in ((a, b), (b, a)):
        if len(cut.stem) >= SHORTEST_CUT and (
            (cut.cut_left and whole.stem.endswith(cut.stem))
            or (cut.cut_right and whole.stem.startswith(cut.stem))
        ):
            return [Found("truncated", "", "")]
    if _is_one_clause(a, b):
        return found
    left = [a.clauses[i] for i in _unlike(a.clauses, b.clauses)]
    right = [b.clauses[i] for i in _unlike(b.clauses, a.clauses)]
    if min(len(a.clauses), len(b.clauses)) < 2 or a.sequence or b.sequence:
        return found
    if len(left) != len(right) or len(left) > MOST_CLAUSES or len(a.clauses) > LONGEST_LIST:
        return found
    moved = [Found("order", "", "")]
    for x in left:
        for y in right:
            between = part(x, y, size, spelling)
            if is_harmless(between):
                moved += between
                right.remove(y)
                break
        else:
            return found
    return moved


def common(a: str, b: str) -> int:
    """Return how many characters at the beginning are the same."""
    pairs = zip(a, b, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_one_clause(a: Form, b: Form) -> bool:
    start = common(a.stem, b.stem)
    behind = common(a.stem[start:][::-1], b.stem[start:][::-1])
    for form in (a, b):
        stop = len(form.stem) - behind
        ends = [end for end in form.ends if end > start]
        if ends and ends[0] < stop:
            return False
    return True


def core(words_: str) -> str:
    """Return what is left of some words without the function words around them."""
    function = words()[1]
    longest = max(map(len, function))
    again = True
    while again:
        again = False
        for n in range(longest, 0, -1):
            if len(words_) > n and words_[:n] in function:
                words_, again = words_[n:], True
            if len(words_) > n and words_[-n:] in function:
                words_, again = words_[:-n], True
    return words_


def prose_class(a: str, hunk: tuple[int, int, int, int], b: str) -> str:
    """Return the class of a hunk of prose: a word may be corrected, a name may not."""
    i, j, k, z = hunk
    kind = harmful_class(a[i:j], b[k:z])
    if kind == "formula":
        return kind if set(a[i:j] + b[k:z]) & set("+-×=<>^√≤≥%") else "corrected"
    if kind != "content":
        return kind
    if set(a[i:j] + b[k:z]) & RELATIONS:
        return "content"
    one_sided = i == j or k == z
    plain = are_plain_words(a, i, j) and are_plain_words(b, k, z)
    return "corrected" if one_sided or plain else "content"


def are_plain_words(s: str, i: int, j: int) -> bool:
    """Tell whether each character of s[i:j] is a function word or lies in a known word, no name."""
    for at in range(i, j):
        spans = (
            s[p:q]
            for p in range(max(0, at - 3), at + 1)
            for q in range(max(at + 1, p + 2), min(len(s), p + 4) + 1)
        )
        around = [w for w in spans if frequency(w)]
        plain = bool(around) and max(around, key=frequency) not in names()
        if s[at] not in words()[1] and not (plain and is_han(s[at])):
            return False
    return True


@functools.cache
def names() -> set[str]:
    """Return the words that jieba's dictionary tags as names or dates."""
    with jieba.get_dict_file() as file:
        lines = file.read().decode("utf-8").splitlines()
    tagged = (line.split() for line in lines)
    return {word for word, _, tag in tagged if tag.startswith(("nr", "ns", "nt", "nz", "t"))}


def are_clauses(one: Form, other: Form, hunk: tuple[int, int, int, int]) -> bool:
    """Tell whether what one form has at a hunk, or what is alike before it, are whole clauses."""
    i, j, k, z = hunk
    form, start, stop = (one, i, j) if i < j else (other, k, z)
    places = {0, *form.ends}
    while not {start, stop} <= places:
        if start == 0 or form.stem[start - 1] != form.stem[stop - 1]:
            return False
        start, stop = start - 1, stop - 1
    return True


def prose(one: Form, other: Form) -> list[Found]:
    """Return the differences of two texts of prose: sentences and a few words are harmless."""
    a, b = one.stem, other.stem
    script = hunks(a, b)
    if script is None:
        return [Found("content", "", "")]
    size = min(len(a), len(b))
    gone = {core(a[i:j]) for i, j, k, z in script if k == z}
    come = {core(b[k:z]) for i, j, k, z in script if i == j}
    found = []
    corrected = added = 0
    own = [0, 0]
    for hunk in script:
        i, j, k, z = hunk
        x, y = a[i:j], b[k:z]
        if kinds := classes_of(a, hunk, b, size, False):
            found += [Found(kind, x, y) for kind in sorted(kinds)]
        elif not (x and y) and core(x + y) in gone & come:
            found.append(Found("order", x, y))
        elif not (x and y) and j == len(a) and z == len(b) and len(x + y) >= TAIL:
            own = [own[0] + len(x), own[1] + len(y)]
            found.append(Found("truncated", x, y))
        elif not (x and y) and (
            harmful_class(x, y) == "image"
            or (len(x + y) >= SENTENCE and are_clauses(one, other, hunk))
        ):
            added += len(x + y)
            own = [own[0] + len(x), own[1] + len(y)]
            found.append(Found("added", x, y))
        else:
            kind = prose_class(a, hunk, b)
            corrected += max(len(x), len(y)) if kind == "corrected" else 0
            found.append(Found(kind, x, y))
    overlapping = min(own) > max(12, 0.08 * size)
    if overlapping or corrected > CORRECTED * size or added > ADDED * size:
        found.append(Found("content", "", ""))
    return found


def judge(a: Form, b: Form) -> list[Found]:
    """Return the differences of two forms; they are the same if all are harmless."""
    if a.main > b.main:
        return [Found(f.kind, f.other, f.text) for f in judge(b, a)]
    size = min(len(a.main), len(b.main))
    spelling = a.spelling or b.spelling
    if a.short or b.short:
        start = common(a.main, b.main)
        left, right = a.main[start:], b.main[start:]
        behind = common(left[::-1], right[::-1])
        left, right = left[: len(left) - behind], right[: len(right) - behind]
        return [Found(harmful_class(left, right), left, right)] if left or right else []
    found = []
    if a.emphasis and b.emphasis and a.emphasis != b.emphasis:
        found.append(Found("emphasis", a.emphasis, b.emphasis))
    if a.answer and b.answer and not is_harmless(part(a.answer, b.answer, size, spelling)):
        found.append(Found("answer", a.answer, b.answer))
    if bool(a.choices) != bool(b.choices):
        full = a if a.choices else b
        lone = part(a.stem, b.stem, size, spelling)
        if len(full.stem) >= SHORTEST_LONE_STEM and is_harmless(lone):
            return [*found, *lone, Found("truncated", "", "")]
        return found + part(a.main, b.main, size, spelling)
    if a.choices:
        found += stems(a, b, size, spelling)
        return found + choices(a.choices, b.choices, size, spelling)
    lengths = sorted((len(a.stem), len(b.stem)))
    if lengths[0] >= SHORTEST_PROSE and lengths[1] >= PROSE and not (a.question or b.question):
        return found + ([] if a.stem == b.stem else prose(a, b))
    return found + stems(a, b, size, spelling)
