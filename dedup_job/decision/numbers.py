"""The numbers of a text, as values: 1,000 is 1000, 1.50 is 1.5, 三十 is 30, 3万 is 30000."""

from __future__ import annotations

import re
import unicodedata

_DIGITS = {d: i for i, ds in enumerate(("零〇", "一", "二两", *"三四五六七八九")) for d in ds}
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 4, "亿": 8}  # powers of ten
_HAN = "".join([*_DIGITS, *_TENS, *_MYRIADS])
_LONGEST_HAN = 30
_SIGNS = "-−－﹣"
_MINUENDS = ")]}）_年月日"
# What follows a number of one character; 两 个 but not 二氧化碳. 一 counts nowhere: 一个 is often
# no number, and where 两个 became 一个, the 2 is missing.
_UNITS = (
    *"个只条张本支枝名位人件台辆座棵年月日天时周岁次倍元角分米吨升克斤度种类组行列项道题步层级边面套",
    *"颗粒块双对匹头朵根排盒箱瓶袋桶幅册页篇段句门间家户所批份枚艘架遍趟场届阶维",
    "小时", "厘米", "分米", "毫米", "公里", "公斤", "毫升", "英里", "世纪",
)  # fmt: skip
_POINTS, _PARTS, _HUNDREDTHS, _ORDINAL = "十分", "分之", "百分之", "第"

# Its first part is one set of characters, so that `re` skips all places where none of them stands.
_NUMBER = re.compile(
    rf"""[\d⁰¹²³⁴-⁹₀-₉①-⑳{_HAN}](?:
        (?<=\d) (?: \d{{0,2}}(?:,\d{{3}})+(?!\d) | \d* ) (?:[.．]\d+)?
                (?: [ ]?\\?[%％‰] | [ ]?[万亿] )?
      | (?<=[⁰¹²³⁴-⁹]) [⁰¹²³⁴-⁹]*
      | (?<=[₀-₉]) [₀-₉]*
      | (?<=[①-⑳])
      | (?<=[{_HAN}]) [{_HAN}]*
    )""",
    re.VERBOSE,
)
_PARTS_OF_NUMBER = re.compile(r"([^.%‰万亿]*)\.?([^%‰万亿]*)([%‰万亿]?)")


def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers in the order of the text, each written in one way.

    Of Chinese numerals those count that are clearly numbers: with a ten or more in them (三十),
    digits with a zero or four of them (二〇一九), parts (三分之一), 第二, 两个.
    """
    found = []
    for match in _NUMBER.finditer(text):
        token, start = match[0], match.start()
        if token[0] in _HAN:
            value = _chinese(token, text, start, match.end())
            if value is not None:
                found.append(value)
            continue
        value = _plain(token)
        if start and text[start - 1] in _SIGNS and (start == 1 or not _ends(text[start - 2])):
            value = "-" + value
        found.append(value)
    return tuple(found)


def _ends(character: str) -> bool:
    """Tell whether something ends here from which a number is subtracted: x-3, 2018年-2019年."""
    return character.isdigit() or character in _MINUENDS or "A" <= character.upper() <= "Z"


def _plain(token: str) -> str:
    if token.isascii() and token.isdigit():
        return token.lstrip("0") or "0"
    token = unicodedata.normalize("NFKC", token)
    token = token.translate({ord(","): None, ord("\\"): None, ord(" "): None})
    match = _PARTS_OF_NUMBER.match("".join(token.split()))
    assert match is not None  # it matches everything
    whole, fraction, unit = match.groups()
    if unit in _MYRIADS:
        shift = _MYRIADS[unit]
        fraction = fraction.ljust(shift, "0")
        whole, fraction, unit = whole + fraction[:shift], fraction[shift:], ""
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}{unit}" if fraction else whole + unit


def _chinese(token: str, text: str, start: int, stop: int) -> str | None:
    """Return the value of text[start:stop], Chinese numerals; None where it is hardly a number."""
    if len(token) > _LONGEST_HAN:
        return token
    if text.endswith(_HUNDREDTHS, 0, start):
        value = _value(token)
        return None if value is None else f"{value}%"
    if text.startswith(_PARTS, stop) or text.endswith(_PARTS, 0, start):
        return _value(token)
    if len(token) == 1:
        ordinal = text.endswith(_ORDINAL, 0, start)
        counts = ordinal or text.startswith(_UNITS, stop)
        if token in "零〇一" or not counts or text.startswith(_POINTS, start):
            return None
    return _value(token)


def _value(token: str) -> str | None:
    if all(character in _DIGITS for character in token):
        clear = len(token) == 1 or len(token) >= 4 or "零" in token or "〇" in token
        return "".join(str(_DIGITS[c]) for c in token).lstrip("0") or "0" if clear else None
    total = section = 0
    digit: int | None = None
    for character in token:
        if character in _DIGITS:
            if digit:  # 三四十
                return None
            digit = _DIGITS[character]
        elif character in _TENS:
            if not digit and (character != "十" or section):  # 百姓, 千万
                return None
            section += (digit or 1) * _TENS[character]
            digit = None
        else:
            section += digit or 0
            if not section and (character == "万" or not total):  # 万一
                return None
            before = total if character == "亿" else 0  # 一万亿, but 一亿三千万
            total += (before + section) * 10 ** _MYRIADS[character] - before
            section, digit = 0, None
    return str(total + section + (digit or 0))
