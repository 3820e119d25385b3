"""Differences, guards and features of two forms: the plain version, for comparison with the core.

Everything is counted alike in both orders of the two: `compare` puts them into an order of its own.
"""

import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby

from dedup_job import _core
from dedup_job.judgment.tables import relations
from tests.reference import articles
from tests.reference.form import Flag, Kind, Token

FEATURES = tuple(name for name, _ in _core.FEATURES)
GUARDS = _core.GUARDS


@dataclass(frozen=True)
class Difference:
    """What stands in one form at a place, and in the other; one of them may be empty.

    choice: it is of a choice, not of the stem. edge: the part begins or ends with it. clauses: it
    is of whole clauses, with no counterpart. moved: it is in both, at other places.
    """

    left: list[Token]
    right: list[Token]
    choice: bool
    edge: bool
    clauses: bool
    moved: bool = False


@dataclass
class Alignment:
    """Differences of two parts, and the weight of what is in both at other places."""

    differences: list[Difference] = field(default_factory=list)
    exchanged: bool = False


@dataclass(frozen=True)
class Comparison:
    """What is known of a pair; features in the order of FEATURES."""

    differences: list[Difference]
    guards: list[str]
    features: list[float]


def compare(a, b):
    """Return the differences of two forms, the guards that hold, and the features."""
    turned = _order(b) < _order(a)
    if turned:
        a, b = b, a
    stem = align(a.stem, b.stem)
    changes = [Change(one) for one in stem.differences if not one.moved]
    alone = [
        one.difference
        for one in changes
        if (one.asks if one.null else not one.replaced and not one.clauses)
    ]
    left, right = ([t for one in alone for t in getattr(one, side)] for side in ("left", "right"))
    lone = Change(Difference(left, right, choice=False, edge=False, clauses=False))
    if len(alone) > 4:
        lone.numbers_differ = lone.opposite = False
    choices = Choices(a, b)
    explained = {} if a.choices and b.choices and a.answer and b.answer else _explained(a, b)
    kind = articles.kind_of(a, b)
    written = [one.difference for one in changes if one.null or one.alike]
    same = {t.key for one in written for t in one.left + one.right}
    shared = _shared(_asked(a), _asked(b))
    features = (
        _stem_features(a, b, changes)
        | articles.own_features(a, b, stem.differences, same, shared, kind)
        | _choice_features(choices)
    )
    features = {name: features[name] for name in FEATURES}
    guards = _guards(a, b, stem, changes, lone, choices, features, kind)
    if kind == articles.ARTICLE:
        stated = guards["number"] if choices.stated else False
        heeded = articles.heeded(features)
        guards = {name: guards.get(name, False) and name in heeded for name in GUARDS}
        guards |= {
            name: holds or (name == "number" and stated) or (name == "name" and guards["name"])
            for name, holds in articles.article_guards(a, b, changes, same, features).items()
        }
    assert tuple(features) == FEATURES
    differences = stem.differences + choices.differences
    if turned:
        differences = [replace(one, left=one.right, right=one.left) for one in differences]
    return Comparison(
        differences,
        [name for name, holds in guards.items() if holds or explained.get(name)],
        [float(value) for value in features.values()],
    )


def _order(form):
    tokens = [*_asked(form), *form.answer, *form.explanation]
    parts = [len(form.stem), len(form.answer), *map(len, form.choices)]
    return len(tokens), [(list(map(ord, t.text)), t.clause, t.flags) for t in tokens], parts


# --- alignment


def align(a, b, *, choice=False):
    """Align two parts: clauses that both have, in order and then elsewhere; then tokens between."""
    found = Alignment()
    clauses_a, clauses_b = _clauses(a), _clauses(b)
    x, y = [_keys(said(c)) for c in clauses_a], [_keys(said(c)) for c in clauses_b]
    same = lcs_pairs(x, y)
    moved = _runs(x, y, same, longest=1)
    rest_a, rest_b = (
        [c for k, c in enumerate(part) if k not in {one[side] for one in [*same, *moved]}]
        for side, part in enumerate((clauses_a, clauses_b))
    )
    same_words = sorted(_keys(a)) == sorted(_keys(b))
    found.exchanged = _swapped(text(a), text(b), same_words=same_words) or _crossed(rest_a, rest_b)
    gone_a, gone_b = set(), set()
    for i, j, _ in moved:
        if len(x[i]) >= 2:
            gone_a.add(i)
            gone_b.add(j)
            found.differences.append(
                Difference(clauses_a[i], clauses_b[j], choice, edge=False, clauses=True, moved=True)
            )
    at_a = at_b = 0
    for i, j in [*same, (len(x), len(y))]:
        left = [t for k in range(at_a, i) if k not in gone_a for t in clauses_a[k]]
        right = [t for k in range(at_b, j) if k not in gone_b for t in clauses_b[k]]
        if left or right:
            ends = (at_a == 0 and at_b == 0, i == len(x) and j == len(y))
            _align_tokens(left, right, choice, ends, found)
        at_a, at_b = i + 1, j + 1
    return found


def _align_tokens(a, b, choice, ends, found):
    """Add what differs between two lists of tokens; ends: whether the part begins, ends there."""
    x, y = _keys(a), _keys(b)
    same = lcs_pairs(x, y)
    gone_a, gone_b = set(), set()
    runs = _runs(x, y, same, longest=len(x))
    if any(content(a[i : i + count]) for i, _, count in runs):
        found.exchanged |= Exchange(a, b, [*runs, *((i, j, 1) for i, j in same)]).holds()
    known = []  # of runs before
    for i, j, count in runs:
        run = a[i : i + count]
        known += [(i + k, j + k) for k in range(count)]
        denies = count == 1 and a[i].flags & Flag.NEGATES
        if denies and (a[i].flags & Flag.LATIN or len(a[i].text) == 1):
            matched = [*same, *known]
            both = i + 1 in {p for p, _ in matched} and j + 1 in {q for _, q in matched}
            found.exchanged |= both or a[i].clause != b[j].clause
        arguments = a[i].flags & b[j].flags & Flag.ARGUMENT
        found.exchanged |= bool(arguments) and a[i].clause != b[j].clause
        least = 5 if count == 1 else 8
        if any(t.kind == Kind.WORD for t in run) and weight(run) > least:
            gone_a.update(range(i, i + count))
            gone_b.update(range(j, j + count))
            found.differences.append(
                Difference(run, b[j : j + count], choice, edge=False, clauses=False, moved=True)
            )
    at_a = at_b = 0
    for i, j in [*same, (len(a), len(b))]:
        left = [a[k] for k in range(at_a, i) if k not in gone_a]
        right = [b[k] for k in range(at_b, j) if k not in gone_b]
        if left or right:
            first, last = at_a == 0 and at_b == 0, i == len(a) and j == len(b)
            edge = (ends[0] and first) or (ends[1] and last)
            found.differences.append(Difference(left, right, choice, edge, not (a and b)))
        at_a, at_b = i + 1, j + 1


def _clauses(tokens):
    return [list(clause) for _, clause in groupby(tokens, key=lambda t: t.clause)]


def _runs(x, y, same, longest):
    """Return runs that what is left of both has, each from its first place on."""
    rest_x = set(range(len(x))) - {i for i, _ in same}
    rest_y = set(range(len(y))) - {j for _, j in same}
    places = defaultdict(deque)
    for j in sorted(rest_y):
        places[y[j]].append(j)
    found = []
    for i in range(len(x)):
        if i not in rest_x:
            continue
        while places[x[i]] and places[x[i]][0] not in rest_y:
            places[x[i]].popleft()
        if not places[x[i]]:
            continue
        j, count = places[x[i]][0], 0
        while count < longest and {i + count} <= rest_x and {j + count} <= rest_y:
            if x[i + count] != y[j + count]:
                break
            rest_x.remove(i + count)
            rest_y.remove(j + count)
            count += 1
        found.append((i, j, count))
    return found


def _swapped(x, y, *, same_words):
    """Return whether two Han characters have changed places, no neighbours, and nothing else."""
    if len(x) != len(y):
        return False
    changed = [(i, p, q) for i, (p, q) in enumerate(zip(x, y, strict=True)) if p != q]
    if len(changed) < (3 if same_words else 1):
        return False
    first, one, other = changed[0]
    back = any(
        (p, q) == (other, one) and x[first + 1 : i] not in ("", *"和与及或") for i, p, q in changed
    )
    rest = [(p, q) for _, p, q in changed if (p, q) != (other, one)]
    return back and all(pair == (one, other) and min(pair) >= "\u3400" for pair in rest)


class Exchange:
    """Two lists of tokens, and the runs that both have, from their places in each on."""

    def __init__(self, a, b, runs):
        self.a, self.b = a, b
        self.runs = []
        for i, j, count in sorted(runs):
            if self.runs and sum(self.runs[-1][::2]) == i and sum(self.runs[-1][1:]) == j:
                x, y, n = self.runs.pop()
                self.runs.append((x, y, n + count))
            else:
                self.runs.append((i, j, count))

    def holds(self):
        """Return whether two runs stand at each other's places, around what relates them."""
        runs = self.runs
        for k, p in enumerate(runs):
            for m in range(k + 2, len(runs)):
                q = runs[m]
                if q[1] > p[1] or not (self._has_words(p) and self._has_words(q)):
                    continue
                if self._replaces(p, q) and self._replaces(q, p) and not self._are_members(p, q):
                    between = [t for run in runs[k + 1 : m] for t in self._between(run, p, q)]
                    relates = any(not t.flags & (Flag.EQUALS | Flag.JOINS) for t in between)
                    equates = _any(between, Flag.EQUALS) and any(
                        run[1] > p[1] and self._has_words(run) and _beside(self.a, run[0], q[0])
                        for run in runs[m + 1 :]
                    )
                    if (relates or equates) and not self._is_repeated(p, q):
                        return True
        return False

    def _has_words(self, run):
        return bool(content(self.a[run[0] : run[0] + run[2]]))

    def _between(self, run, *ends):
        p, q = ends
        inside = q[1] <= run[1] <= p[1]
        left = any(_beside(self.a, run[0], end[0]) for end in ends)
        right = any(_beside(self.b, run[1], end[1]) for end in ends)
        return self.a[run[0] : run[0] + run[2]] if inside and left and right else []

    def _replaces(self, p, q):
        i, j = p[0] + p[2] - 1, q[1] + q[2] - 1
        before = _near(self.a, p[0], -1) == _near(self.b, q[1], -1)
        return before or _near(self.a, i, 1) == _near(self.b, j, 1)

    def _are_members(self, p, q):
        left, right = (p[0] + p[2], q[0]), (q[1] + q[2], p[1])
        return all(_joint(self.a, at) for at in left) and all(_joint(self.b, at) for at in right)

    def _is_repeated(self, p, q):
        begin = p[0] + p[2]
        begin += bool(self.a[begin].flags & Flag.JOINS)
        x = _keys(self.a)
        between = x[begin : q[0]]
        size, end = len(between), q[0] + q[2]
        before = x[max(0, p[0] - size) : p[0]]
        return between in (before, x[end : end + size])


def _beside(tokens, at, of):
    """Return whether there is a token, in the same clause as another one."""
    return 0 <= at < len(tokens) and tokens[at].clause == tokens[of].clause


def _near(tokens, of, step):
    """Return the key of the next word with a meaning in the same clause, 0 if there is none."""
    at = of + step
    while _beside(tokens, at, of) and not content([tokens[at]]):
        at += step
    return tokens[at].key if _beside(tokens, at, of) else 0


def _joint(tokens, at):
    """Return whether members of a list meet before a token."""
    if not _beside(tokens, at, at - 1):
        return True
    return bool(tokens[at].flags & (Flag.JOINS | Flag.LISTED) or tokens[at - 1].flags & Flag.JOINS)


def _crossed(a, b):
    """Return whether two clauses share words with the same two clauses of the other text."""
    owners_a, owners_b = _owners(a), _owners(b)
    links = {(owners_a[key], owners_b[key]) for key in owners_a.keys() & owners_b.keys()}
    forks = Counter((d, e) for c, d in links for other, e in links if c == other and d < e)
    return any(count > 1 for count in forks.values())


def _owners(clauses):
    held = defaultdict(set)
    for k, clause in enumerate(clauses):
        for t in content(clause):
            held[t.key].add(k)
    return {key: min(those) for key, those in held.items() if len(those) == 1}


# --- longest common subsequences, by bits (Hyyrö, "Bit-parallel LCS-length computation revisited")


def lcs_pairs(x, y):
    """Return the places of a longest common subsequence."""
    begin, end = frame(x, y)
    i, j = len(x) - end, len(y) - end
    inner = []
    rows = list(_rows(x[begin:i], y[begin:j]))
    column, row = i - begin, j - begin
    while column and row:
        if rows[row - 1] >> (column - 1) & 1:
            column -= 1
        elif row > 1 and not rows[row - 2] >> (column - 1) & 1:
            row -= 1
        else:
            column, row = column - 1, row - 1
            inner.append((begin + column, begin + row))
    return [
        *((k, k) for k in range(begin)),
        *reversed(inner),
        *((i + k, j + k) for k in range(end)),
    ]


def lcs_length(x, y):
    """Return the length of a longest common subsequence."""
    begin, end = frame(x, y)
    i, j = len(x) - end, len(y) - end
    row = -1
    for row in _rows(x[begin:i], y[begin:j]):  # noqa: B007 - the last one counts
        pass
    return begin + end + (i - begin - (row & (1 << (i - begin)) - 1).bit_count())


def frame(x, y):
    """Return the lengths of the beginning and then of the end that are equal."""
    most = min(len(x), len(y))
    begin = 0
    while begin < most and x[begin] == y[begin]:
        begin += 1
    end = 0
    while end < most - begin and x[-1 - end] == y[-1 - end]:
        end += 1
    return begin, end


def _rows(x, y):
    """Yield after each of y the bits of x; a 0 is a place where the subsequence grew."""
    masks = defaultdict(int)
    for i, one in enumerate(x):
        masks[one] |= 1 << i
    every = (1 << len(x)) - 1
    row = every
    for one in y:
        matched = row & masks[one]
        row = ((row + matched) | (row - matched)) & every
        yield row


# --- one difference


class Change:
    """What is known of one difference."""

    def __init__(self, one):
        left, right = one.left, one.right
        both = left + right
        words_left, words_right = content(left), content(right)
        known = relations()
        self.difference = one
        self.edge, self.clauses = one.edge, one.clauses
        p, q = plain(text(left)), plain(text(right))
        x, y = text(words_left), text(words_right)
        self.opposite = p != q and _opposite(p, q, left, right)
        self.null = not self.opposite and (p == q or not (words_left or words_right))
        self.replaced = bool(words_left and words_right)

        m, n = numbers(p), numbers(q)
        wordless = not any(t.kind == Kind.WORD for t in both)
        circled = all(t.text in CIRCLED for t in both if t.kind == Kind.NUMBER)
        notation = _same_notation(p, q)
        self.numbers_differ = not notation and bool(m and n) and m != n
        self.number_alone = not notation and bool(m) != bool(n) and wordless and not circled
        self.unit = p != q and p in known.unit_symbols and q in known.unit_symbols
        self.formula = _signs(left) != _signs(right) and wordless and not notation
        self.blanks = (_blanks(left) - _blanks(right)) if words_left or words_right else 0
        self.asks = _any(both, Flag.ASKS)
        self.polar = sum(bool(t.flags & Flag.POLAR) for t in left)
        self.polar -= sum(bool(t.flags & Flag.POLAR) for t in right)
        denied = _negations(left) - _negations(right)
        self.negation = (1 if denied > 0 else -1) if denied % 2 else 0
        if self.opposite:
            words = _groups("opposites")
            self.negation = 0
            self.opposite = _negations(t for t in both if t.text not in words) % 2 == 0

        latin = _any(words_left, Flag.LATIN) and _any(words_right, Flag.LATIN)
        self.alike = _alike(x, y) or _alike(p, q) or (latin and _close(x, y))
        self.replaced = self.replaced or self.alike
        self.unlike = self.replaced and not (self.alike or notation) and sorted(x) != sorted(y)
        common = lcs_length(x, y) if self.unlike else 0
        self.ratio = common / max(len(x), len(y)) if self.unlike else 1.0
        self.contained = self.unlike and common == min(len(x), len(y))

        words = _words(both)
        self.weight_left, self.weight_right = weight(words_left), weight(words_right)
        self.least = min(self.weight_left, self.weight_right)
        self.most = max(self.weight_left, self.weight_right)
        self.heaviest = max((t.weight for t in words), default=0.0)
        words_a, words_b = _words(left), _words(right)
        self.names = (
            _any(words_a, Flag.PROPER)
            and _any(words_b, Flag.PROPER)
            and abs(len(words_left) - len(words_right)) <= 1
        )
        single = len(words_left) == len(words_right) == 1 and words_a and words_b
        self.single = (words_a[0].key, words_b[0].key) if single else None
        self.latins = _any(words_left, Flag.LATIN) and _any(words_right, Flag.LATIN)
        self.limits = _any(both, Flag.LIMITS)

    def in_tail(self, last_a, last_b):
        """Return whether it is in the last clause of one of two stems."""
        left, right = self.difference.left, self.difference.right
        return any(t.clause == last_a for t in left) or any(t.clause == last_b for t in right)


def _same_notation(p, q):
    """Return whether two texts are the same but for notation, or how a machine reads it."""
    if bool(re.search(r"[\^_]", p)) != bool(re.search(r"[\^_]", q)):
        # but 3^2 is not 32, and __init__ no init
        p, q = (re.sub(r"(?:(?<![0-9\^_])|(?<=10))[\^_]", "", one) for one in (p, q))
    groups = _groups("alike")
    return len(p) == len(q) and all(
        c == d or (max(c, d) < "\u3000" and groups.get(c, set()) & groups.get(d, set()))
        for c, d in zip(p, q, strict=True)
    )


def _words(tokens):
    return [t for t in tokens if t.kind == Kind.WORD]


def _any(tokens, flag):
    return any(t.flags & flag for t in tokens)


def _signs(tokens):
    return [t.key for t in tokens if t.kind in (Kind.SYMBOL, Kind.LETTER) and t.text != "_"]


def _blanks(tokens):
    return sum(t.kind == Kind.BLANK for t in tokens)


def _negations(tokens):
    return sum(bool(t.flags & Flag.NEGATES) for t in tokens)


def _opposite(p, q, left, right):
    """Return whether words that exclude each other stand on the two sides.

    They are words there, or all that the two texts differ by.
    """
    groups = _groups("opposites")
    one, other = {t.text for t in left}, {t.text for t in right}
    groups_a, groups_b = (
        {group for word in side for group in groups.get(word, ())}
        for side in (one - other, other - one)
    )
    begin, end = frame(p, q)
    u, v = p[begin : len(p) - end], q[begin : len(q) - end]
    return bool(groups_a & groups_b or groups.get(u, set()) & groups.get(v, set()))


@cache
def _groups(name):
    found = defaultdict(set)
    for number, group in enumerate(getattr(relations(), name)):
        for one in group:
            found[one].add(number)
    return dict(found)


def _close(x, y):
    """Return whether two words differ by one letter, of six at least."""
    longer = max(len(x), len(y))
    if longer < 6 or longer > min(len(x), len(y)) + 1 or x == y:
        return False
    letters = all("a" <= c <= "z" for c in x + y)
    return letters and lcs_length(x, y) + 1 == longer


def _alike(x, y):
    """Return whether two texts differ by one or two characters that look or sound alike."""
    if len(x) != len(y):
        return False
    groups = _groups("alike")
    changed = [(c, d) for c, d in zip(x, y, strict=True) if c != d]
    return 1 <= len(changed) <= 2 and all(
        groups.get(c, set()) & groups.get(d, set()) for c, d in changed
    )


# --- texts of tokens

CIRCLED = frozenset(map(chr, range(0x2460, 0x249C)))
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)?|[\u2460-\u249b]")
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_LARGEST = 10**15
_N = "[零〇一二两三四五六七八九十百千万亿]+"
_NUMERALS = re.compile(
    rf"(?P<below>{_N})分之(?P<above>{_N})|百分之(?P<percent>[0-9]+(?:\.[0-9]+)?)|(?P<han>{_N})"
    r"|(?P<digits>[0-9]+(?:\.[0-9]+)?)(?P<scale>[万亿]?)"
)


def text(tokens):
    """Return the texts of tokens, one after the other."""
    return "".join(t.text for t in tokens)


def weight(tokens):
    """Return their weight. Sums of float32 in float64 are exact here, in any order."""
    return float(sum(t.weight for t in tokens))


def content(tokens):
    """Return those that carry a meaning."""
    return [t for t in tokens if t.kind not in (Kind.FUNCTION, Kind.BLANK)]


def said(tokens):
    """Return those that may change what is said."""
    return [t for t in tokens if content([t]) or t.flags & Flag.GRAMMAR]


def _keys(tokens):
    return tuple(t.key for t in tokens)


def numbers(plain_text):
    """Return the numbers of a text that `plain` returned."""
    return Counter(_NUMBERS.findall(plain_text))


def plain(written):
    """Return a text with its numerals in digits, and units behind them as symbols."""
    known = relations()
    if written in known.whole:
        return known.whole[written]
    return _unit_pattern().sub(lambda m: known.units[m[0]], _NUMERALS.sub(_numeral, written))


@cache
def _unit_pattern():
    units = sorted(relations().units, key=len, reverse=True)
    return re.compile(rf"(?<=[0-9])(?:{'|'.join(map(re.escape, units))})")


def _numeral(m):
    if m["below"]:
        below = "%" if m["below"] == "百" else "/" + _han_value(m["below"])
        return _han_value(m["above"]) + below
    if m["percent"]:
        return m["percent"] + "%"
    return _han_value(m["han"]) if m["han"] else _scaled(m["digits"], m["scale"])


def _han_value(run):
    """Return a Chinese numeral in digits: 二〇二四, 一百零五, 三万; itself where it is none."""
    if not any(c in _SCALES for c in run):
        return "".join(str(_DIGITS[c]) for c in run)
    if not any(c in _DIGITS or c == "十" for c in run):
        return run
    total = section = number = 0
    for c in run:
        if c in _DIGITS:
            number = _DIGITS[c]
            continue
        scale = _SCALES[c]
        if scale < 10**4:
            section += (number or 1) * scale
        elif total + section + number > _LARGEST // scale:
            return run
        else:
            total, section = (total + section + number) * scale, 0
        number = 0
    return str(total + section + number)


def _scaled(digits, scale):
    """Return 1.5 and 万 as 15000: the point moves."""
    if not scale:
        return digits
    whole, _, part = digits.partition(".")
    places = 4 if scale == "万" else 8
    part = part.ljust(places, "0")
    whole, part = (whole + part[:places]).lstrip("0") or "0", part[places:].rstrip("0")
    return f"{whole}.{part}" if part else whole


# --- features


def _stem_features(a, b, changes):
    real = [one for one in changes if not one.null]
    inserted = [one for one in real if not one.replaced and not one.clauses]
    edge = [one for one in real if not one.replaced and one.clauses]
    replaced = [one for one in real if one.replaced]
    unlike = [one for one in replaced if one.unlike]
    total = max(weight(a.stem), weight(b.stem), 1.0)
    whole_a, whole_b = text(a.stem), text(b.stem)
    letters = _letters(_asked(a), _asked(b))
    begins = list(zip(_keys(a.stem[:8]), _keys(b.stem[:8]), strict=False))
    m, n = numbers(plain(whole_a)), numbers(plain(whole_b))
    han = sum("\u3400" <= c < "\ua000" for c in whole_a + whole_b)
    han_share = _share(han, len(whole_a) + len(whole_b), 0.0)
    notation = sum(t.kind in (Kind.SYMBOL, Kind.LETTER, Kind.NUMBER) for t in a.stem + b.stem)
    return {
        "pieces": min(len(real), 10),
        "forms": min(len(changes) - len(real), 6),
        "grammar": _grammar(a, b),
        "begin": next((k for k, (x, y) in enumerate(begins) if x != y), len(begins)),
        "edge_share": sum(one.weight_left + one.weight_right for one in edge) / total,
        "inserted_max": _most(one.heaviest for one in inserted),
        "replaced": min(len(replaced), 6),
        "replaced_min": _most(one.least for one in replaced),
        "replaced_share": sum(one.most for one in replaced) / total,
        "unlike": min(len(unlike), 6),
        "unlike_max": _most(one.heaviest for one in unlike),
        "unlike_min": _most(one.least for one in unlike),
        "unlike_ratio": min((one.ratio for one in unlike), default=1.0),
        "contained": sum(one.contained for one in unlike),
        "length": max(len(whole_a), len(whole_b)),
        "letters_min": min(letters),
        "letters_max": max(letters),
        "han": han_share,
        "notation": notation / max(1, len(a.stem) + len(b.stem)),
        "numbers": min((m & n).total(), 10),
    }


def _grammar(a, b):
    """Return how many light words only one has; 1 if their order differs."""
    x, y = (Counter(t.key for t in _asked(one) if t.flags & Flag.GRAMMAR) for one in (a, b))
    stems = ([t.key for t in one.stem if t.flags & Flag.GRAMMAR] for one in (a, b))
    return min(max((x - y).total() + (y - x).total(), len({*map(tuple, stems)}) > 1), 6)


def _asks(form):
    asking = Flag.ASKS | Flag.TASK | Flag.POLAR
    return any(t.flags & asking or t.kind == Kind.BLANK for t in form.stem)


def _most(values):
    return max(values, default=0.0)


def _share(part, whole, of_none):
    return part / whole if whole else of_none


def _last_clause(tokens):
    return max((t.clause for t in tokens if t.kind != Kind.SYMBOL), default=0)


def _asked(form):
    return [t for part in (form.stem, *form.choices) for t in part]


def _shared(a, b):
    """Return the weight of the words that both have, and of those of each, repeats apart."""
    of_a, of_b = ({}, {})
    for tokens, weights in ((a, of_a), (b, of_b)):
        for t in content(tokens):
            weights[t.key] = max(weights.get(t.key, 0.0), t.weight)
    shared = sum(min(one, of_b[key]) for key, one in of_a.items() if key in of_b)
    return float(shared), float(sum(of_a.values())), float(sum(of_b.values()))


def _letters(a, b):
    """Return how many characters of each the other lacks."""
    x, y = Counter(text(content(a))), Counter(text(content(b)))
    return (x - y).total(), (y - x).total()


# --- choices


class Choices:
    """The choices of two forms as sets: equal ones are matched first, then the most similar."""

    def __init__(self, a, b):
        self.a, self.b = a.choices, b.choices
        self.differences = []
        self.opposite = self.negated = self.stated = self.alike = 0
        self.matches = []  # similarity, places
        if not (self.a and self.b):
            return
        self.x, self.y = ([plain(text(content(c))) for c in part] for part in (self.a, self.b))
        self._match([_keys(said(c)) for c in self.a], [_keys(said(c)) for c in self.b])
        for ratio, i, j in self.matches:
            if 0.5 <= ratio < 1:
                says = ratio >= 0.85 and min(len(self.x[i]), len(self.y[j])) >= 12
                self._look_into(align(self.a[i], self.b[j], choice=True), says)

    def _match(self, keys_a, keys_b):
        free = list(range(len(self.b)))
        rest = []
        for i, x in enumerate(self.x):
            equal = [j for j in free if self.y[j] == x or keys_b[j] == keys_a[i]]
            if equal:
                free.remove(equal[0])
                self.matches.append((1.0, i, equal[0]))
            else:
                rest.append(i)
        found = []
        for i in rest:
            for j in free:
                x, y = self.x[i], self.y[j]
                found.append((2 * lcs_length(x, y) / (len(x) + len(y)), i, j))
        taken_a, taken_b = set(), set()
        for ratio, i, j in sorted(found, key=lambda f: (-f[0], abs(f[1] - f[2]), f[1], f[2])):
            if i not in taken_a and j not in taken_b:
                taken_a.add(i)
                taken_b.add(j)
                self.matches.append((ratio, i, j))

    def _look_into(self, alignment, says):
        self.differences += alignment.differences
        changes = [Change(one) for one in alignment.differences if not one.moved]
        real = [one for one in changes if not one.null]
        self.alike += bool(real) and all(one.alike for one in real)
        self.stated += says and any(one.numbers_differ for one in real)
        self.opposite += any(one.opposite and not one.names for one in real)
        self.negated += sum(one.negation for one in real) % 2


def _choice_features(choices):
    a, b = choices.a, choices.b
    names = FEATURES[FEATURES.index("choices_unmatched") :]
    if not (a and b):
        return dict.fromkeys(names, 0.0)
    apart = 0.0
    for ratio, i, j in choices.matches:
        apart += (1 - ratio) * (len(choices.x[i]) + len(choices.y[j])) / 2
    count = max(len(a), len(b))
    letters = _letters(*([t for choice in part for t in choice] for part in (a, b)))
    return {
        "choices_unmatched": (count - sum(ratio >= 0.6 for ratio, _, _ in choices.matches)) / count,
        "choices_order": any(i != j for _, i, j in choices.matches),
        "choices_weight": sum(weight(a[i]) for ratio, i, _ in choices.matches if ratio == 1),
        "choices_length": sum(map(len, choices.x + choices.y)) / (len(a) + len(b)),
        "choices_apart": apart,
        "choices_letters_min": min(letters),
        "choices_letters_max": max(letters),
    }


# --- guards


def _guards(a, b, stem, changes, lone, choices, features, kind):
    real = [one for one in changes if not one.null]
    moods = sum(one.polar for one in changes if not one.clauses)
    marked_a, marked_b = _emphasised(a), _emphasised(b)
    han = features["han"] > 0.3
    keys_a, keys_b = set(_keys(content(_asked(a)))), set(_keys(content(_asked(b))))
    tail_a, tail_b = _last_clause(a.stem), _last_clause(b.stem)
    return {
        "number": lone.numbers_differ
        or choices.stated > 0
        or any(one.numbers_differ or (one.number_alone and not one.edge) for one in real),
        "name": any(
            one.names and one.unlike and not one.contained and one.ratio <= 0.5 for one in real
        ),
        "blanks": any(one.blanks > 0 for one in real) and any(one.blanks < 0 for one in real),
        "unit": any(one.unit for one in real),
        "formula": any(
            (one.formula and not one.numbers_differ)
            or (han and one.latins and one.unlike and one.ratio < 0.8)
            for one in real
        )
        or _other_signs(a, b),
        "negation": sum(
            one.negation
            for one in real
            if not one.clauses
            or one.limits
            or (kind != articles.MESSAGE and one.in_tail(tail_a, tail_b))
        )
        != 0,
        "mood": moods != 0 and not _asks(b if moods > 0 else a),
        "opposite": any(one.opposite for one in [*real, lone]),
        "exchanged": stem.exchanged
        or any(
            one.single
            and one.in_tail(tail_a, tail_b)
            and one.unlike
            and not one.contained
            and one.single[0] in keys_b
            and one.single[1] in keys_a
            for one in real
        ),
        "image": _images(a) != _images(b),
        "emphasis": bool(marked_a and marked_b) and marked_a != marked_b,
        "answer": bool(a.answer and b.answer) and _keyed(a) != _keyed(b),
        "choice_negation": choices.negated > 0,
        "choice_opposite": choices.opposite > 0,
    }


def _explained(a, b):
    """Return the guards of two explanations: of words only where most of them are the same."""
    if not (a.explanation and b.explanation):
        return {}
    found = align(a.explanation, b.explanation, choice=True)
    changes = [Change(one) for one in found.differences if not one.moved]
    real = [one for one in changes if not one.null]
    inner = [one for one in real if not one.clauses]
    apart = sum(one.weight_left + one.weight_right for one in real)
    versions = 2 * apart <= weight(a.explanation) + weight(b.explanation)
    known_a, known_b = (_figures(c.stem, *c.choices, c.answer, c.explanation) for c in (a, b))
    return {
        "number": bool(_figures(a.explanation) - known_b and _figures(b.explanation) - known_a),
        "exchanged": versions and found.exchanged,
        "negation": versions and sum(one.negation != 0 for one in inner) % 2 == 1,
        "formula": versions and any(one.formula for one in inner),
        "opposite": versions and any(one.opposite and not one.names for one in inner),
    }


def _figures(*parts):
    return {number for part in parts for t in part for number in numbers(plain(t.text))}


def _other_signs(a, b):
    """Tell whether other signs stand between the same tokens."""
    places = [defaultdict(list), defaultdict(list)]
    for form, found in zip((a, b), places, strict=True):
        keys = [0, *_keys(_asked(form))]
        for before, token in zip(keys, _asked(form), strict=False):
            if token.signs:
                found[before, token.key].append(token.signs)
    at = [(signs, places[1][key]) for key, signs in places[0].items()]
    return any(x != y for one, other in at for x, y in zip(one, other, strict=False))


def _images(form):
    return sorted(t.text for t in _asked(form) if t.kind == Kind.IMAGE)


def _emphasised(form):
    """Return the words that are marked, each with its neighbours."""
    tokens = _asked(form)
    return [
        text(tokens[max(0, i - 1) : i + 2])
        for i, t in enumerate(tokens)
        if t.flags & Flag.EMPHASISED
    ]


def _keyed(form):
    """Return the choices that an answer names; the answer itself where it names none."""
    letters = text(form.answer)
    if not form.choices or not re.fullmatch("[a-h]+", letters):
        return [letters]
    named = [ord(letter) - ord("a") for letter in letters]
    return sorted(text(form.choices[k]) for k in named if k < len(form.choices))
