"""What two texts are, what each has of its own, and what keeps two articles apart, the slow way."""

import math
from collections import defaultdict

from dedup_job import _core
import re

from tests.reference.form import H, Flag, Kind

QUESTION, ARTICLE, MESSAGE = range(len(_core.TEXT_KINDS))
HEEDED = ("answer", "choice_negation", "choice_opposite", "title", "provision")
OF_FEW = ("name", "unit", "negation", "opposite", "exchanged", "mood")
_BOTH = ("least", "most")
NOTATION = (Kind.SYMBOL, Kind.LETTER, Kind.NUMBER)


def kind_of(a, b):
    """Return what two texts are."""
    if any(map(_is_question, (a, b))):
        return QUESTION
    return ARTICLE if a.layout.is_long or b.layout.is_long else MESSAGE


def _is_question(form):
    most = 3 if form.layout.is_long else 0
    notation = sum(t.kind in NOTATION for t in form.stem)
    return (
        len(form.choices) > most
        or bool(form.answer or form.explanation)
        or form.layout.asks
        or 10 * notation > 3 * len(form.stem)
    )


def own_features(a, b, differences, same, shared, kind):
    """Return the features of what each text has of its own.

    same: keys of words that are only written otherwise, so that both texts have them.
    """
    both, left, right = shared
    x, y = _own(a, b, same), _own(b, a, same)
    here = [one for one in differences if not (one.moved or one.choice)]
    kept = [
        1 - sum(t.weight for one in here for t in side(one)) / max(_weight(form.stem), 1.0)
        for form, side in ((a, lambda one: one.left), (b, lambda one: one.right))
    ]
    shares = (sum(w for w, _ in own) / max(of, 1.0) for own, of in ((x, left), (y, right)))
    named = (max((w * math.log1p(n) for w, n in own), default=0.0) for own in (x, y))
    figures = {"own": sorted(shares), "named": sorted(named)}
    figures["clauses"] = sorted(kept) if kind != QUESTION else [0.0, 0.0]
    return {
        **{
            f"{name}_{k}": v
            for name, found in figures.items()
            for k, v in zip(_BOTH, found, strict=True)
        },
        "held": both / max(min(left, right), 1.0),
        "title_most": _titles(a, b)[0] if kind == ARTICLE else 0.0,
    }


def heeded(features):
    """Return the guards of questions that keep two articles apart as well."""
    return (*HEEDED, *OF_FEW) if features["pieces"] <= 2 else HEEDED


def article_guards(a, b, changes, same, features):
    """Return the guards of two articles that those of questions are not."""
    real = [one for one in changes if not one.null]
    few, han = features["pieces"] <= 2, features["han"] > 0.3

    def said(some):
        sides = [(one.difference.left, one.difference.right) for one in some]
        return few and any(_says(a, left) and _says(b, right) for left, right in sides)

    named = [one for one in real if not one.numbers_differ]
    own = all(_has_own_number(*both, same) for both in ((a, b), (b, a)))
    return {
        "number": own or said(one for one in real if one.numbers_differ),
        "name": said(one for one in named if han and one.latins and one.unlike and one.ratio < 0.8),
        "title": _titles(a, b)[1],
        "provision": bool(a.layout.provisions and b.layout.provisions)
        and any(
            not one.alike
            and one.most >= 5
            and (_is_in_rule(a, one.difference.left) or _is_in_rule(b, one.difference.right))
            for one in real
        ),
    }


def _asked(form):
    return [t for part in (form.stem, *form.choices) for t in part]


def _content(tokens):
    return [t for t in tokens if t.kind not in (Kind.FUNCTION, Kind.BLANK)]


def _weight(tokens):
    return sum(t.weight for t in tokens)


def _own(form, other, same):
    """Return the weights of the words that the other text lacks, and how often they stand here."""
    own = _own_words(form, other, same).values()
    return [(max(t.weight for t in some), len(some)) for some in own]


def _own_words(form, other, same):
    keys = same | {t.key for t in _content(_asked(other))}
    found = defaultdict(list)
    for token in _content(_asked(form)):
        if token.kind != Kind.IMAGE and token.key not in keys:
            found[token.key].append(token)
    return found


def _has_own_number(form, other, same):
    own = _own_words(form, other, same)
    return _says(form, [t for t in _asked(form) if t.key in own and t.kind == Kind.NUMBER])


def _says(form, some):
    """Return whether a number or identifier among some stands in a clause with two words."""
    tokens, han = _asked(form), _is_han(form)
    places = {id(t): i for i, t in enumerate(tokens)}
    for token in (t for t in some if t.kind == Kind.NUMBER or t.flags & Flag.LATIN):
        begin = end = places[id(token)]
        while begin and tokens[begin - 1].clause == token.clause:
            begin -= 1
        while end < len(tokens) and tokens[end].clause == token.clause:
            end += 1
        words = [t for t in tokens[begin:end] if t.kind == Kind.WORD]
        if sum(not (han and t.flags & Flag.LATIN) for t in words) >= 2:
            return True
    return False


def _is_han(form):
    return any(re.search(f"[{H}]", t.text) for t in form.stem)


def _is_in_rule(form, tokens):
    """Return whether the last of some tokens stands behind the first line of a provision."""
    places = {id(t): k for k, t in enumerate(form.stem)}
    return bool(tokens) and places[id(tokens[-1])] >= form.layout.preamble


def _titles(a, b):
    """Return the weight of what one title says more, and whether two articles have other titles."""
    from tests.reference.pair import lcs_length

    lines, weight = (a.layout.lines, b.layout.lines), 0.0
    if min(map(len, lines)) < 2:
        return weight, False
    latin = Flag.LATIN if _is_han(a) and _is_han(b) else Flag(0)
    for k in (0, 1):
        titles = [of[k] for of in lines]
        if max(sum(len(t.text) for t in title) for title in titles) > 60:
            return weight, False
        own = [_own_of_title(*pair) for pair in (titles, titles[::-1])]
        if k == 0:
            weight = max(_weight(said) for said in own)
        rules = any(form.layout.provisions for form in (a, b))
        if not any(own):
            continue
        compound = k == 0 and any(
            (t.flags & latin and _is_latin(title, i + 1, latin))
            or ((t.flags & latin or t.kind == Kind.NUMBER) and _is_latin(title, i - 1, latin))
            for title, said in zip(titles, own, strict=True)
            for i, t in enumerate(title)
            if any(t is one for one in said)
        )
        compound = compound or (k == 0 and rules and weight >= 5)
        asked = all(any(t.flags & Flag.ASKS for t in title) for title in titles)
        if not all(own) or asked:
            return weight, compound
        p, q = ("".join(t.text for t in said) for said in own)
        common = lcs_length(p, q)
        alike = 5 * common >= 3 * max(len(p), len(q)) or common == min(len(p), len(q))
        named = all(any(t.flags & latin or t.kind == Kind.NUMBER for t in said) for said in own)
        subject = _names_subject(a, b) or _names_subject(b, a)
        return weight, compound or named or (k == 0 and not alike and subject)
    return weight, False


def _names_subject(form, other):
    """Return whether a title is the other but for a name, or what it says in place recurs."""
    from tests.reference.pair import frame

    name, others = ("".join(t.text for t in one.layout.lines[0]) for one in (form, other))
    whole, whole_other = ("".join(t.text for t in _asked(one)) for one in (form, other))
    begin, end = frame(name, others)
    if 2 * (begin + end) >= max(len(name), len(others)):
        return True
    words = [t.text for t in _content(form.layout.lines[0])] + [name[begin : len(name) - end]]
    return any(
        len(word) > 1 and word in whole[len(name) :] and word not in whole_other for word in words
    )


def _is_latin(title, i, latin):
    return 0 <= i < len(title) and bool(title[i].flags & latin)


def _own_of_title(title, other):
    keys = {t.key for t in other}
    said = _content(title)
    return [t for t in said if t.kind not in (Kind.IMAGE, Kind.SYMBOL) and t.key not in keys]
