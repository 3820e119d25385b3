"""Differences of two token lists, beside src/judgment/pair.cpp.

Longest common subsequences by bits: Hyyrö, "Bit-parallel LCS-length computation revisited".
"""

from collections import defaultdict, deque
from dataclasses import dataclass
from itertools import groupby

from tests.reference.form import Flag, Kind, Token


@dataclass(frozen=True)
class Difference:
    """Tokens of two forms at one position; one list may be empty.

    clauses: whole clauses without a counterpart. moved: both lists are equal, at other positions.
    """

    left: list[Token]
    right: list[Token]
    clauses: bool = False
    moved: bool = False

    @property
    def both(self):
        return self.left + self.right


# --- tokens


def text_of(tokens):
    """Return the texts of tokens, one after the other."""
    return "".join(t.text for t in tokens)


def weight_of(tokens):
    """Return the sum of their weights; exact in any order, since the weights are float32."""
    return float(sum(t.weight for t in tokens))


def content_of(tokens):
    """Return the tokens that carry a meaning."""
    return [t for t in tokens if t.kind not in (Kind.FUNCTION, Kind.BLANK)]


def meaningful(tokens):
    """Return the tokens that may change the meaning: content and light words."""
    return [t for t in tokens if content_of([t]) or t.flags & Flag.GRAMMAR]


def keys_of(tokens):
    """Return the `key` of each token, by which tokens are compared."""
    return tuple(t.key for t in tokens)


def has_flag(tokens, flag):
    """Return whether a token has a flag."""
    return any(t.flags & flag for t in tokens)


# --- alignment


def align(a, b):
    """Return the differences of two parts: moved clauses, then tokens between common clauses."""
    clauses_a, clauses_b = (
        [list(clause) for _, clause in groupby(part, key=lambda t: t.clause)] for part in (a, b)
    )
    x, y = ([keys_of(meaningful(c)) for c in part] for part in (clauses_a, clauses_b))
    same = lcs_pairs(x, y)
    moved = [(i, j) for i, j, _ in _runs(x, y, same, longest=1) if len(x[i]) >= 2]
    found = [Difference(clauses_a[i], clauses_b[j], clauses=True, moved=True) for i, j in moved]
    gone_a, gone_b = ({one[side] for one in moved} for side in (0, 1))
    at_a = at_b = 0
    for i, j in [*same, (len(x), len(y))]:
        left = [t for k in range(at_a, i) if k not in gone_a for t in clauses_a[k]]
        right = [t for k in range(at_b, j) if k not in gone_b for t in clauses_b[k]]
        if left or right:
            found += _align_tokens(left, right)
        at_a, at_b = i + 1, j + 1
    return found


def _align_tokens(a, b):
    found = []
    x, y = keys_of(a), keys_of(b)
    same = lcs_pairs(x, y)
    gone_a, gone_b = set(), set()
    runs = _runs(x, y, same, longest=len(x))
    for i, j, count in runs:
        run = a[i : i + count]
        if any(t.kind == Kind.WORD for t in run) and weight_of(run) > (5 if count == 1 else 8):
            gone_a.update(range(i, i + count))
            gone_b.update(range(j, j + count))
            found.append(Difference(run, b[j : j + count], moved=True))
    at_a = at_b = 0
    for i, j in [*same, (len(a), len(b))]:
        left = [a[k] for k in range(at_a, i) if k not in gone_a]
        right = [b[k] for k in range(at_b, j) if k not in gone_b]
        if left or right:
            found.append(Difference(left, right, clauses=not (a and b)))
        at_a, at_b = i + 1, j + 1
    return found


def _runs(x, y, same, longest):
    """Return runs of equal values outside a subsequence: offset in each, length."""
    rest_x = set(range(len(x))) - {i for i, _ in same}
    rest_y = set(range(len(y))) - {j for _, j in same}
    offsets = defaultdict(deque)
    for j in sorted(rest_y):
        offsets[y[j]].append(j)
    found = []
    for i in range(len(x)):
        if i not in rest_x:
            continue
        while offsets[x[i]] and offsets[x[i]][0] not in rest_y:
            offsets[x[i]].popleft()
        if not offsets[x[i]]:
            continue
        j, count = offsets[x[i]][0], 0
        while count < longest and {i + count} <= rest_x and {j + count} <= rest_y:
            if x[i + count] != y[j + count]:
                break
            rest_x.remove(i + count)
            rest_y.remove(j + count)
            count += 1
        found.append((i, j, count))
    return found


# --- longest common subsequences


def lcs_pairs(x, y):
    """Return the offsets of a longest common subsequence in both."""
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
    ends = [(i + k, j + k) for k in range(end)]
    return [*((k, k) for k in range(begin)), *reversed(inner), *ends]


def lcs_length(x, y):
    """Return the length of a longest common subsequence."""
    return len(lcs_pairs(x, y))


def frame(x, y):
    """Return the lengths of the equal beginning and of the equal end behind it."""
    equal = [p == q for p, q in zip(x, y, strict=False)]
    begin = [*equal, False].index(False)
    rest = min(len(x), len(y)) - begin
    back = [p == q for p, q in zip(x[::-1][:rest], y[::-1][:rest], strict=True)]
    return begin, [*back, False].index(False)


def _rows(x, y):
    """Yield after each value of y a bit for each of x, 0 where the subsequence grows."""
    masks = defaultdict(int)
    for i, one in enumerate(x):
        masks[one] |= 1 << i
    row = every = (1 << len(x)) - 1
    for one in y:
        matched = row & masks[one]
        row = ((row + matched) | (row - matched)) & every
        yield row
