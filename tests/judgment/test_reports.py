"""Kinds of differences that users of other tools reported, in two languages."""

from __future__ import annotations

import unicodedata

import pytest

from tests.judgment.forms import are_same, check, check_pairs
from tests.judgment.test_guards import guards_of


def decomposed(text: str) -> tuple[str, str]:
    return text, unicodedata.normalize("NFD", text)


SAME = {
    "decomposed text": [
        *map(decomposed, ("拼音lǜ sè怎么写", "Où est l'élève", "ガラスのコップ", "한국어 질문")),
        *map(decomposed, ("Trường học tiếng Việt ở đâu", "Die Größe der Tür", "Ё и Й в слове")),
        ("tiê\u0323n", "tiện"),  # marks in another order
        ("ﾊﾞｽの時刻表", "バスの時刻表"),
    ],
    "forms of characters": [
        ("他看着远方笑着说", "他看著遠方笑著說"),
        ("⻢⻋走过⻓街", "马车走过长街"),
        ("⾦⽊⽔⽕⼟是什么", "金木水火土是什么"),  # Kangxi radicals
        ("\uf90a\uf96c是什么", "金塞是什么"),  # compatibility ideographs
        ("敍述守衞的職責", "叙述守卫的职责"),
        ("顯著的名著與著作", "显著的名著与著作"),
    ],
    "a sign more or none": [
        ("▲下列说法正确的是", "下列说法正确的是"),
        ("水的化学式是什么\uf0b7", "水的化学式是什么"),
        ("©水的化学式是什么", "水的化学式是什么"),
        ("😀 What is water made of?", "What is water made of?"),
        ("A *bold* word is set how?", "A bold word is set how?"),
        ("It costs $5 to enter the zoo", "It costs 5 to enter the zoo"),
    ],
    "punctuation that nobody asks about": [
        ("甲“乙”、“丙”，丁", "甲“乙”，“丙”；丁"),
        ("马克•吐温写了什么", "马克·吐温写了什么"),
        ("He said: 'no', then left!", "He said, 'no'; then left."),
        ("“水”的化学式是什么？", "「水」的化學式是什麼?"),
    ],
}
DIFFERENT = {
    "accents and tones": [
        (a, unicodedata.normalize("NFD", b))
        for a, b in (
            ("“好”的读音是hǎo吗", "“好”的读音是hào吗"),
            ("下列读音中与mā相同的是", "下列读音中与mǎ相同的是"),
            ("Que signifie le mot sûr ?", "Que signifie le mot sur ?"),
            ("「かき」の意味は何ですか", "「がき」の意味は何ですか"),
            ("Nghĩa của từ ma là gì", "Nghĩa của từ mã là gì"),
        )
    ],
    "another sign": [
        ("白眼♀与红眼♂杂交，子代的眼色是", "白眼♂与红眼♀杂交，子代的眼色是"),
        ("标价¥8的笔买2支多少钱", "标价€8的笔买2支多少钱"),
        ("A pen costs $8, two cost how much?", "A pen costs £8, two cost how much?"),
        ("What does the sign ☢ warn of?", "What does the sign ☣ warn of?"),
        ("◆代表男生，◇代表女生，◆有几个", "◆代表男生，◇代表女生，◇有几个"),
        ("Count the apples: 🍎🍎", "Count the apples: 🍎🍎🍎"),
        ("The die shows ⚂ now", "The die shows ⚃ now"),
        ("太阳从东方升起。√", "太阳从东方升起。×"),
        ("The sun rises in the east. ✔", "The sun rises in the east. ✘"),
        ("若角\uf061大于\uf062，则", "若角\uf062大于\uf061，则"),
        ("求y'''的值", "求y''的值"),
        ("Find the zeros of f''", "Find the zeros of f'"),
    ],
    "a sign that is asked about": [
        ("表达式a | b的结果是", "表达式a || b的结果是"),
        ("What does x != y mean?", "What does x = y mean?"),
        ("What does f(*args) do?", "What does f(**args) do?"),
        ("What does a[1:] return?", "What does a[:1] return?"),
        ("if (!found)何时成立", "if (found)何时成立"),
        ("标点“、”的用法是什么", "标点“，”的用法是什么"),
        ("“——”在文中的作用", "“……”在文中的作用"),
        ('What does ":" stand for?', 'What does ";" stand for?'),
        ("“後”字怎么读", "“后”字怎么读"),
        ("字符'A'的编码是多少", "字符'a'的编码是多少"),
    ],
}


@pytest.mark.parametrize(
    ("a", "b"), [pair for kind in SAME.values() for pair in kind], ids=lambda text: text[:9]
)
def test_what_is_only_written_otherwise_is_the_same(a, b):
    assert are_same(a, b)
    assert not guards_of(a, b)


@pytest.mark.parametrize(
    ("a", "b"), [pair for kind in DIFFERENT.values() for pair in kind], ids=lambda text: text[:9]
)
def test_what_is_asked_about_is_compared(a, b):
    assert guards_of(a, b) or not are_same(a, b)
    assert guards_of(a, b) == guards_of(b, a)


def test_they_are_read_as_the_reference_reads_them():
    pairs = [pair for kinds in (SAME, DIFFERENT) for kind in kinds.values() for pair in kind]
    check([text for pair in pairs for text in pair])
    check_pairs(pairs)
