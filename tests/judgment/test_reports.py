"""Kinds of differences that users of other tools reported, in two languages."""

from __future__ import annotations

import unicodedata

import pytest

from tests.judgment.forms import are_same, check, check_pairs


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
}


@pytest.mark.parametrize(
    ("a", "b"), [pair for kind in SAME.values() for pair in kind], ids=lambda text: text[:9]
)
def test_what_is_only_written_otherwise_is_the_same(a, b):
    assert are_same(a, b)


@pytest.mark.parametrize(
    ("a", "b"), [pair for kind in DIFFERENT.values() for pair in kind], ids=lambda text: text[:9]
)
def test_what_is_asked_about_is_compared(a, b):
    assert not are_same(a, b)


def test_they_are_read_as_the_reference_reads_them():
    pairs = [pair for kinds in (SAME, DIFFERENT) for kind in kinds.values() for pair in kind]
    check([text for pair in pairs for text in pair])
    check_pairs(pairs)
