"""Features of two forms by their definitions, beside src/judgment/features.cpp.

Guards have examples and golden files: test_guards.py, test_golden.py.
"""

import math
import re
from collections import Counter, defaultdict
from functools import cache

from dedup_job import _core
from dedup_job.judgment.tables import relations
from tests.reference.alignment import (
    align,
    content_of,
    frame,
    has_flag,
    keys_of,
    lcs_length,
    meaningful,
    text_of,
    weight_of,
)
from tests.reference.form import Flag, Kind
from tests.reference.notation import numbers, plain

FEATURES = tuple(name for name, _ in _core.FEATURES)
QUESTION, ARTICLE, MESSAGE = range(len(_core.TEXT_KINDS))


def features_of(a, b):
    """Return the features of two forms in the order of FEATURES; either order gives the same."""
    a, b = sorted((a, b), key=_order)
    differences = align(a.stem, b.stem)
    found = (
        _stem_features(a, b, [Change(one) for one in differences if not one.moved])
        | _own_features(a, b, differences)
        | _choice_features(a, b)
    )
    return [float(found[name]) for name in FEATURES]


def _order(form):
    tokens = [*form.compared, *form.answer, *form.explanation]
    parts = [len(form.stem), len(form.answer), *map(len, form.choices)]
    return len(tokens), [(list(map(ord, t.text)), t.clause) for t in tokens], parts


# --- one difference


class Change:
    """The facts of one difference, by the names of `Change` in src/judgment/features.hpp."""

    def __init__(self, one):
        self.difference = one
        left, right = content_of(one.left), content_of(one.right)
        p, q = plain(text_of(one.left)), plain(text_of(one.right))
        x, y = text_of(left), text_of(right)
        self.null = (p == q or not (left or right)) and not (p != q and _opposite(p, q, one))
        latins = has_flag(left, Flag.LATIN) and has_flag(right, Flag.LATIN)
        self.alike = _alike(x, y) or _alike(p, q) or (latins and _close(x, y))
        self.replaced = bool(left and right) or self.alike
        same = self.alike or _same_notation(p, q) or sorted(x) == sorted(y)
        self.unlike = self.replaced and not same
        common = lcs_length(x, y) if self.unlike else 0
        self.ratio = common / max(len(x), len(y)) if self.unlike else 1.0
        self.contained = self.unlike and common == min(len(x), len(y))
        weights = weight_of(left), weight_of(right)
        self.weight, self.least, self.most = sum(weights), min(weights), max(weights)
        self.heaviest = max((t.weight for t in left + right if t.kind == Kind.WORD), default=0.0)


def _same_notation(p, q):
    """Return whether two texts differ in notation or by an error of character recognition alone."""
    if bool(re.search(r"[\^_]", p)) != bool(re.search(r"[\^_]", q)):
        # but 3^2 is not 32, and __init__ no init
        p, q = (re.sub(r"(?:(?<![0-9\^_])|(?<=10))[\^_]", "", one) for one in (p, q))
    return len(p) == len(q) and all(
        c == d or (max(c, d) < "\u3000" and _share("alike", c, d))
        for c, d in zip(p, q, strict=True)
    )


def _opposite(p, q, difference):
    """Return whether opposites are on the two sides, or all that two texts differ by."""
    one, other = ({t.text for t in side} for side in (difference.left, difference.right))
    begin, end = frame(p, q)
    differ = _share("opposites", p[begin : len(p) - end], q[begin : len(q) - end])
    return differ or any(_share("opposites", x, y) for x in one - other for y in other - one)


def _share(name, one, other):
    groups = _groups(name)
    return bool(groups.get(one, set()) & groups.get(other, set()))


@cache
def _groups(name):
    found = defaultdict(set)
    for number, group in enumerate(getattr(relations(), name)):
        for one in group:
            found[one].add(number)
    return dict(found)


def _close(x, y):
    """Return whether two words differ by one letter, of six at least."""
    shorter, longer = sorted(map(len, (x, y)))
    if not 6 <= longer <= shorter + 1 or x == y or not re.fullmatch("[a-z]+", x + y):
        return False
    return lcs_length(x, y) + 1 == longer


def _alike(x, y):
    """Return whether two texts differ by one or two characters that look or sound alike."""
    changed = [(c, d) for c, d in zip(x, y, strict=False) if c != d]
    pairs = all(_share("alike", c, d) for c, d in changed)
    return len(x) == len(y) and 1 <= len(changed) <= 2 and pairs


# --- features


def _stem_features(a, b, changes):
    real = [one for one in changes if not one.null]
    inserted = [one for one in real if not one.replaced and not one.difference.clauses]
    replaced = [one for one in real if one.replaced]
    unlike = [one for one in replaced if one.unlike]
    edge = sum(one.weight for one in real if not one.replaced and one.difference.clauses)
    total = max(weight_of(a.stem), weight_of(b.stem), 1.0)
    whole_a, whole_b = text_of(a.stem), text_of(b.stem)
    letters = _letters(a.compared, b.compared)
    begins = [x.key == y.key for x, y in zip(a.stem[:8], b.stem[:8], strict=False)]
    han = len(re.findall("[\u3400-\u9fff]", whole_a + whole_b))
    return {
        "pieces": min(len(real), 10),
        "forms": min(len(changes) - len(real), 6),
        "grammar": _grammar(a, b),
        "begin": [*begins, False].index(False),
        "edge_share": edge / total,
        "inserted_max": max((one.heaviest for one in inserted), default=0.0),
        "replaced": min(len(replaced), 6),
        "replaced_min": max((one.least for one in replaced), default=0.0),
        "replaced_share": sum(one.most for one in replaced) / total,
        "unlike": min(len(unlike), 6),
        "unlike_max": max((one.heaviest for one in unlike), default=0.0),
        "unlike_min": max((one.least for one in unlike), default=0.0),
        "unlike_ratio": min((one.ratio for one in unlike), default=1.0),
        "contained": sum(one.contained for one in unlike),
        "length": max(len(whole_a), len(whole_b)),
        "letters_min": min(letters),
        "letters_max": max(letters),
        "han": han / max(1, len(whole_a) + len(whole_b)),
        "notation": len(_notation(a) + _notation(b)) / max(1, len(a.stem) + len(b.stem)),
        "numbers": min((numbers(plain(whole_a)) & numbers(plain(whole_b))).total(), 10),
    }


def _grammar(a, b):
    """Return how many function words only one form has; at least 1 if their order differs."""
    x, y = (Counter(keys_of(t for t in one.compared if t.flags & Flag.GRAMMAR)) for one in (a, b))
    stems = {keys_of(t for t in one.stem if t.flags & Flag.GRAMMAR) for one in (a, b)}
    return min(max((x - y).total() + (y - x).total(), len(stems) > 1), 6)


def _letters(a, b):
    """Return two counts: the characters of each text that the other lacks."""
    x, y = Counter(text_of(content_of(a))), Counter(text_of(content_of(b)))
    return (x - y).total(), (y - x).total()


def _choice_features(a, b):
    if not (a.choices and b.choices):
        return dict.fromkeys([name for name in FEATURES if name.startswith("choices_")], 0.0)
    x, y = ([plain(text_of(content_of(c))) for c in form.choices] for form in (a, b))
    pairs = _choice_pairs(a, b, x, y)
    count = max(len(x), len(y))
    letters = _letters(*([t for choice in form.choices for t in choice] for form in (a, b)))
    return {
        "choices_unmatched": (count - sum(ratio >= 0.6 for ratio, _, _ in pairs)) / count,
        "choices_order": any(i != j for _, i, j in pairs),
        "choices_weight": sum(weight_of(a.choices[i]) for ratio, i, _ in pairs if ratio == 1),
        "choices_length": sum(map(len, x + y)) / (len(x) + len(y)),
        "choices_apart": sum((1 - ratio) * (len(x[i]) + len(y[j])) / 2 for ratio, i, j in pairs),
        "choices_letters_min": min(letters),
        "choices_letters_max": max(letters),
    }


def _choice_pairs(a, b, x, y):
    """Return pairs of choices, equal ones first, then the most similar: ratio, number of either."""
    keys_a, keys_b = ([keys_of(meaningful(c)) for c in form.choices] for form in (a, b))
    pairs, rest, free = [], [], list(range(len(y)))
    for i in range(len(x)):
        same = [j for j in free if y[j] == x[i] or keys_b[j] == keys_a[i]]
        if same:
            free.remove(same[0])
            pairs.append((1.0, i, same[0]))
        else:
            rest.append(i)
    likely = [
        (2 * lcs_length(x[i], y[j]) / (len(x[i]) + len(y[j])), i, j) for i in rest for j in free
    ]
    for ratio, i, j in sorted(likely, key=lambda f: (-f[0], abs(f[1] - f[2]), f[1], f[2])):
        if i in rest and j in free:
            rest.remove(i)
            free.remove(j)
            pairs.append((ratio, i, j))
    return pairs


# --- kinds of text, words that one text has alone


def kind_of(a, b):
    """Return the kind of two texts."""
    if any(map(_is_question, (a, b))):
        return QUESTION
    return ARTICLE if a.is_long or b.is_long else MESSAGE


def _is_question(form):
    lists = len(form.choices) > (3 if form.is_long else 0)
    exercise = 10 * len(_notation(form)) > 3 * len(form.stem)
    return lists or bool(form.answer or form.explanation) or form.asks or exercise


def _notation(form):
    return [t for t in form.stem if t.kind in (Kind.SYMBOL, Kind.LETTER, Kind.NUMBER)]


def _own_features(a, b, differences):
    unmoved = [one for one in differences if not one.moved]
    same = {
        t.key for one in map(Change, unmoved) if one.null or one.alike for t in one.difference.both
    }
    of_a, of_b = _weights(a.compared), _weights(b.compared)
    totals = [sum(of_a.values()), sum(of_b.values())]
    both = sum(min(weight, of_b[key]) for key, weight in of_a.items() if key in of_b)
    own = [_own(a, of_b.keys() | same), _own(b, of_a.keys() | same)]
    changed = (
        [t for one in unmoved for t in side(one)] for side in (lambda d: d.left, lambda d: d.right)
    )
    pairs = {
        "own": [sum(w for w, _ in x) / max(all_, 1.0) for x, all_ in zip(own, totals, strict=True)],
        "named": [max((w * math.log1p(n) for w, n in x), default=0.0) for x in own],
        "clauses": [
            1 - weight_of(some) / max(weight_of(form.stem), 1.0)
            for form, some in zip((a, b), changed, strict=True)
        ],
    }
    kind = kind_of(a, b)
    if kind == QUESTION:
        pairs["clauses"] = [0.0, 0.0]
    return {
        **{f"{name}_least": min(pair) for name, pair in pairs.items()},
        **{f"{name}_most": max(pair) for name, pair in pairs.items()},
        "held": both / max(min(totals), 1.0),
        "title_most": _title_weight(a, b) if kind == ARTICLE else 0.0,
    }


def _weights(tokens):
    weights = {}
    for t in content_of(tokens):
        weights[t.key] = max(weights.get(t.key, 0.0), t.weight)
    return weights


def _own(form, keys):
    """Return weight and count of each word whose key is not among some."""
    found = defaultdict(list)
    for t in content_of(form.compared):
        if t.kind != Kind.IMAGE and t.key not in keys:
            found[t.key].append(t.weight)
    return [(max(weights), len(weights)) for weights in found.values()]


def _title_weight(a, b):
    """Return the weight of the words that one of two short first lines has alone."""
    if min(len(a.lines), len(b.lines)) < 2:
        return 0.0
    x, y = a.lines[0], b.lines[0]
    if max(len(text_of(x)), len(text_of(y))) > 60:
        return 0.0
    own = ([t for t in one if t.key not in keys_of(other)] for one, other in ((x, y), (y, x)))
    return max(
        weight_of(t for t in content_of(some) if t.kind not in (Kind.IMAGE, Kind.SYMBOL))
        for some in own
    )
