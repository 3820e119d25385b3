"""Folding by regular expressions and plain loops; only the lists of words are dedup_job's."""

from __future__ import annotations

import re
import unicodedata

from dedup_job.judgment.structure import (
    _KINDS as KINDS,
)
from dedup_job.judgment.structure import (
    _MARKS as MARKS,
)
from dedup_job.judgment.structure import (
    _PLACES as PLACES,
)
from dedup_job.judgment.structure import (
    _TAILS as TAILS,
)

ALIKE = {"∶": ":", "−": "-", "‘": "'", "’": "'", "⩽": "≤", "⩾": "≥"}
KEPT_FORMS = ("<super>", "<sub>", "<circle>", "<font>", "<square>", "<fraction>", "<vertical>")
KEPT_FORMS += ("<initial>", "<medial>", "<final>", "<isolated>")
STOPS = set('。?…⋯“”"`《》〈〉【】〔〕「」『』〖〗·•・')
JOINTS = set(".,:;、–—")
ASCII = set("abcdefghijklmnopqrstuvwxyz0123456789")
DIGITS = set("0123456789")
NUMERALS = "一二三四五六七八九十"
CIRCLED = "\u2460-\u249b\u2776-\u2793\u3220-\u3229"
CLOSING = {"(": ")", "[": "]", "【": "】", "〔": "〕"}

NUMBER = rf"(?:[0-9]{{1,3}}(?![0-9])|[{NUMERALS}]{{1,3}}(?![{NUMERALS}]))"
DELIMITER = rf"(?:\)|[.:](?![0-9])|、(?![0-9]|[{NUMERALS}]、))"
IN_BRACKETS = rf"\(\s*{NUMBER}\s*\)"
CLOSED = rf"(?:{DELIMITER}|(?=[\s(\[【〔])|\Z)"
NUMBERING = re.compile(
    rf"[{CIRCLED}]{DELIMITER}?|{IN_BRACKETS}(?!\s*{IN_BRACKETS})|{NUMBER}{DELIMITER}"
    rf"|第\s*{NUMBER}\s*小?题{CLOSED}"
    rf"|(?:例题|习题|练习|例)\s*{NUMBER}(?:\.[0-9]{{1,3}}(?![0-9]))?{CLOSED}"
    rf"|(?:question|problem|exercise|q)\s*{NUMBER}(?:\.[0-9]{{1,3}}(?![0-9]))?"
    rf"(?:{DELIMITER}|(?=\n)|\Z)"
)
FORMULA = re.compile(rf"\s*(?!--)[-+*/=^<>×÷%,、~≤≥≠±{CIRCLED}]")
POINTS = re.compile(rf"[0-9{NUMERALS}]\s*分\s*\Z")
YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
WITH_YEAR = (*PLACES, "届", "学年", "卷", "·", "•", "・")
TAIL = re.compile(rf"[a-z0-9\s()\[\].{''.join(TAILS)}-]*")


def canonical(character: str) -> str:
    """Return what a character becomes."""
    if ord(character) >= 0x10000:
        return character
    one = ALIKE.get(character, character)
    if not unicodedata.decomposition(one).startswith(KEPT_FORMS):
        normal = unicodedata.normalize("NFKC", one)
        one = normal if len(normal) == 1 and ord(normal) < 0x10000 else one
    lower = one.lower()
    return lower if len(lower) == 1 else one


def naive_fold(text: str) -> str:
    """Return the folded form."""
    prefix, stem, options = naive_spans(text)
    plain = "".join(map(canonical, text))
    folded = drop(plain[prefix : stem if options else len(plain)])
    for option in sorted(drop(plain[a:b]) for a, b in options):
        folded += "\x1f" + option
    return folded or "".join(c for c in plain if not c.isspace())


def naive_parts(text: str) -> tuple[str, str, tuple[str, ...]]:
    """Return prefix, stem and answer choices."""
    prefix, stem, options = naive_spans(text)
    choices = tuple(text[a:b].strip() for a, b in options)
    return text[:prefix].strip(), text[prefix:stem].strip(), choices


def naive_spans(text: str) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the end of the prefix, that of the stem, and where the answer choices are."""
    plain = "".join(map(canonical, text))
    start = prefix_length(plain)
    labels: list[tuple[int, int, str, bool]] = []
    for i in range(start, len(text)):
        letter = unicodedata.normalize("NFKC", text[i])
        if letter in set("ABCDEFGH") and text[i] in "ABCDEFGHＡＢＣＤＥＦＧＨ":
            label = label_at(plain, i, start)
            if label is not None:
                labels.append((*label, letter, label_is_sure(plain, i, start)))
    last = max((n for n, label in enumerate(labels) if label[2] == "A"), default=len(labels))
    labels = labels[last:]
    sure = all(label[3] for label in labels)
    if "".join(label[2] for label in labels) != "ABCDEFGH"[: len(labels)]:
        labels = []
    if len(labels) < (2 if sure else 4):
        return start, len(text), []
    ends = [label[0] for label in labels[1:]] + [len(text)]
    spans = [(label[1], end) for label, end in zip(labels, ends, strict=True)]
    for a, b in spans:
        if b - a > 300 or not any(is_kept_always(c) for c in plain[a:b]):
            return start, len(text), []
    return start, labels[0][0], spans


def label_at(plain: str, i: int, start: int) -> tuple[int, int] | None:
    """Return where the label around the letter at i begins and ends."""
    after = plain[i + 1 : i + 2]
    bracketed = i > start and plain[i - 1] == "(" and after == ")"
    begin = i - 1 if bracketed else i
    before = plain[begin - 1] if begin > start else "\n"
    if after not in {".", "、", ":", ")"} or before in ASCII:
        return None
    if is_apart(before) or (before != "(" and (bracketed or after == ".")):
        return begin, i + 2
    return None


def label_is_sure(plain: str, i: int, start: int) -> bool:
    """Tell whether the label is clearly one."""
    bracketed = i > start and plain[i - 1] == "(" and plain[i + 1 : i + 2] == ")"
    begin = i - 1 if bracketed else i
    before = plain[start:begin]
    if plain[i + 1] == ":" or (before and not is_apart(before[-1])):
        return False
    if plain[i] == "a" and before:
        gap = before[len(before.rstrip()) :]
        if gap == before:
            gap = gap[1:]
            word = ""
        else:
            word = before.rstrip()[-1]
        return "\n" in gap or not is_letter(word)
    return True


def is_apart(c: str) -> bool:
    """Tell whether no word and no formula ends with the character."""
    if c in set(",、"):
        return False
    return c.isspace() or c in STOPS | JOINTS | set("!'_)")


def is_letter(c: str) -> bool:
    """Tell whether it counts as a letter or digit."""
    return c.isalnum() or (c != "" and ord(c) >= 0x10000)


def is_kept_always(c: str) -> bool:
    """Tell whether a character stays wherever it stands."""
    return not (c.isspace() or c in STOPS | JOINTS | set("!'_("))


def prefix_length(plain: str) -> int:
    """Return how much of the text is numbering, points and source."""
    end = 0
    for _ in range(8):
        i = end
        while i < len(plain) and plain[i].isspace():
            i += 1
        found = one_prefix(plain, i)
        if found is None or sum(map(is_letter, plain[found:])) < 6:
            break
        end = found
    return end


def one_prefix(plain: str, i: int) -> int | None:
    """Return where the prefix at i ends."""
    match = NUMBERING.match(plain, i)
    if match and not FORMULA.match(plain, match.end()):
        return match.end()
    return group(plain, i) or plain_source(plain, i) or origin(plain, i)


def group(plain: str, i: int) -> int | None:
    """Return where points or a source in brackets end."""
    opening = plain[i : i + 1]
    if opening not in CLOSING:
        return None
    for k in range(i + 1, min(len(plain), i + 42)):
        inside = plain[i : k + 1]
        if inside.count(opening) == inside.count(CLOSING[opening]):
            return k + 1 if POINTS.search(inside[1:-1]) or is_source(inside[1:-1]) else None
    return None


def is_source(words: str) -> bool:
    """Tell whether a mark, or a year with a place or a dot, is among them."""
    if any(mark in words for mark in MARKS):
        return True
    return YEAR.search(words) is not None and any(word in words for word in WITH_YEAR)


def plain_source(plain: str, i: int) -> int | None:
    """Return where a source that ends in a colon ends."""
    head, colon, _ = plain[i : i + 41].partition(":")
    year = YEAR.match(head)
    marked = max((len(word) for word in KINDS if head.startswith(word)), default=0)
    if not colon or not (year or marked) or any(c in head for c in ",;?!。、\n"):
        return None
    for mark in (*MARKS, "卷") if year else ():
        at = head.rfind(mark)
        marked = max(marked, at + len(mark)) if at >= 0 else marked
    if not marked or not TAIL.fullmatch(head, marked):
        return None
    return i + len(head) + 1


def origin(plain: str, i: int) -> int | None:
    """Return where 来源: and its words end."""
    if plain[i : i + 3] not in ("来源:", "出处:"):
        return None
    start = i + 3
    while start < len(plain) and plain[start].isspace() and plain[start] != "\n":
        start += 1
    for k in range(start, min(len(plain), start + 41)):
        if plain[k] == "\n":
            return k if k > start else None
        if plain[k] in ",;?!。、":
            return None
        if plain[k].isspace() and is_source(plain[start:k]):
            return k
    return None


def drop(plain: str) -> str:
    """Return a part of a text without what folding drops."""
    kept = ""
    i, tick = 0, -2
    while i < len(plain):
        c, before, after = plain[i], plain[:i], plain[i + 1 :]
        blank = re.compile(r"__+|\([\s_]*\)").match(plain, i)
        if blank:
            i = blank.end()
            continue
        if c in JOINTS:
            stays = before[-1:] in ASCII and after[:1] in ASCII
            stays |= before.rstrip()[-1:] in DIGITS and after.lstrip()[:1] in DIGITS
        elif c in "!'":
            stays = tick == i - 1 or (c == "!" and after[:1] == "=") or follows(before)
            tick = i if stays else tick
        else:
            stays = not c.isspace() and c not in STOPS
        kept += c if stays else ""
        i += 1
    return kept


def follows(before: str) -> bool:
    """Tell whether a number, a variable or a bracket ends here."""
    last, last_but_one = before[-1:], before[-2:-1]
    if last in DIGITS:
        return True
    if last in ASCII:
        return last_but_one not in ASCII - DIGITS
    return last == ")" and last_but_one in ASCII
