"""Numerals and units in one notation, beside src/judgment/profile.cpp."""

import re
from collections import Counter
from functools import cache

from dedup_job.judgment.tables import relations

CIRCLED = frozenset(map(chr, range(0x2460, 0x249C)))
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_LARGEST = 10**15
_N = "[零〇一二两三四五六七八九十百千万亿]+"
_D = r"[0-9]+(?:\.[0-9]+)?"
_NUMERALS = re.compile(
    rf"(?P<below>{_N})分之(?P<above>{_N})|百分之(?P<percent>{_D})|(?P<han>{_N})"
    rf"|(?P<digits>{_D})(?P<scale>[万亿]?)"
)


def numbers(plain_text):
    """Return the count of each number in a text normalised by `plain`."""
    return Counter(re.findall(rf"{_D}|[\u2460-\u249b]", plain_text))


def plain(text):
    """Return a text with its numerals in digits, and units behind them as symbols."""
    known = relations()
    if text in known.whole:
        return known.whole[text]
    return _unit_pattern().sub(lambda m: known.units[m[0]], _NUMERALS.sub(_numeral, text))


@cache
def _unit_pattern():
    units = sorted(relations().units, key=len, reverse=True)
    return re.compile(rf"(?<=[0-9])(?:{'|'.join(map(re.escape, units))})")


def _numeral(m):
    if m["below"]:
        return _value(m["above"]) + ("%" if m["below"] == "百" else "/" + _value(m["below"]))
    if m["percent"]:
        return m["percent"] + "%"
    return _value(m["han"]) if m["han"] else _scaled(m["digits"], m["scale"])


def _value(run):
    """Return a Chinese numeral in digits: 二〇二四, 一百零五, 三万; itself if it is none."""
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
    """Return 15000 for 1.5 and 万: the point moves."""
    if not scale:
        return digits
    whole, _, part = digits.partition(".")
    moved = 4 if scale == "万" else 8
    part = part.ljust(moved, "0")
    whole, part = (whole + part[:moved]).lstrip("0") or "0", part[moved:].rstrip("0")
    return f"{whole}.{part}" if part else whole
