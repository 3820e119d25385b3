"""The folded form is the same for all versions of one question, and for no other."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.judgment.folding import fold_text, fold_texts
from dedup_job.native.code_points import pack
from tests.reference.folding import canonical, naive_fold
from tests.strings import NASTY

PIECES = [
    "A.", "B．", "C、", "D)", "(A)", "（B）", " A. ", "\nA．", "\nB．", "\nC.", "\nD.", "A：",
    "E.", "A",
    "1.", "3、", "三、", "十一、", "（3）", "(12 )", "①", "②、", "第3题", "第 十 小题：", "例3 ",
    "例题2.1：",
    "Q3.", "Question 12\n", "（3分）", "(本题满分 12 分)", "[5分]", "【2019·全国卷I】",
    "(2019北京)",
    "（2008年）", "【单选题】", "2019年高考数学：", "2008年奥运会：", "填空题：", "来源：",
    "人教版", "2018",
    "。", "，", ".", ",", ":", "；", "？", "！", "!", "!=", "'", "’", "“", "”", "—", "·", "～",
    "_", "___", "（ ）", "(",
    ")", "[", "]", " ", "\n", "\u3000", "\x1f", "3.5", "1,000", "3:4", "a.b", "n!", "f'(x)", "a<b",
    "x²", "Ａ", "ａ", "é", "𠮷", "\ud800", "🙂", "下列说法正确的是", "的", "水", "+", "=", "$",
    "分", "题", "全国",
]  # fmt: skip
MADE = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
ANY = st.text(st.characters())
WIDE = {c: c + 0xFEE0 for c in range(0x21, 0x7F)}
HAN = st.text(st.sampled_from("水是生命之源下列说法正确错误，。！？；：“”《》…、"), min_size=1)


@settings(max_examples=200)
@given(st.lists(MADE | ANY, max_size=4))
def test_it_agrees_with_the_naive_version(texts):
    assert folded(texts) == [naive_fold(text) for text in texts]


def test_it_agrees_with_the_naive_version_on_many_questions():
    rng = random.Random(7)
    texts = ["".join(rng.choices(PIECES, k=rng.randint(1, 30))) for _ in range(4000)]
    for got, text in zip(folded(texts), texts, strict=True):
        assert got == naive_fold(text), text


def test_it_agrees_with_the_naive_version_on_nasty_strings():
    texts = [text[:400] for text in NASTY]
    for got, text in zip(folded(texts), texts, strict=True):
        assert got == naive_fold(text), text


def test_every_character_of_the_plane_becomes_what_it_should():
    points = [p for p in range(0x10000) if not chr(p).isspace()]
    plain = fold_texts(pack([f"水{chr(p)}+" for p in points]))
    lengths = np.diff(plain.offsets)
    assert set(lengths.tolist()) == {2, 3}
    for p, at, length in zip(points, plain.offsets.tolist(), lengths.tolist(), strict=False):
        if length == 3:
            assert chr(plain.points[at + 1]) == canonical(chr(p))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("？！。", "?!。"),
        (" \n", ""),
        ("1.5元", "1.5元"),
        ("共1,000元，", "共1,000元"),
        ("３：４的比", "3:4的比"),
        ("向量(1, 2)", "向量(1,2)"),
        ("a.b与a. b", "a.b与ab"),
        ("3!=6", "3!=6"),
        ("求n!的值！", "求n!的值"),
        ("(n-1)!", "(n-1)!"),
        ("Hello!", "hello"),
        ("f''(x)与f’(x)", "f''(x)与f'(x)"),
        ("don’t", "dont"),
        ("若a<b且b>c", "若a<b且b>c"),
        ("x≤1, y⩽2", "x≤1y≤2"),
        ("3～5", "3~5"),
        ("2018—2019", "2018—2019"),
        ("《红楼梦》——“水”", "红楼梦水"),
        ("水是____。", "水是"),
        ("正确的是（ 　　）", "正确的是"),
        ("a_1+f( __ )", "a_1+f"),
        ("x²与②", "x²与②"),
        ("⽔是（A）", "水是(a)"),
        ("水\x1f水", "水水"),
        ("\ud800。", "\ud800"),
        ("3. 下列说法正确的是", "下列说法正确的是"),
        ("3. 水", "3水"),
        ("甲。A．乙 B．甲\nC.丁 D、丙", "甲\x1f丁\x1f丙\x1f乙\x1f甲"),
    ],
)
def test_known_answers(text, expected):
    assert fold_text(text) == expected


@given(MADE)
def test_a_full_width_version_folds_to_the_same(text):
    assert fold_text(text.translate(WIDE)) == fold_text(text)


@given(MADE)
def test_white_space_between_sentences_changes_nothing(text):
    lead = "下列说法。"
    assert fold_text(f"{lead} \n {text}。") == fold_text(f"{lead}\n{text}。")


@given(HAN)
def test_folding_twice_is_folding_once(text):
    """Where no letter or digit is moved next to another: 求abc n! would become abcn!."""
    assert fold_text(fold_text(text)) == fold_text(text)


OPTION = st.text(st.sampled_from("水火木金土3.5+"), min_size=1, max_size=5).map("甲{}".format)


@given(st.lists(OPTION, min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_the_choices_changes_nothing(options, rng):
    stem = "3. 下列物质中属于金属的是（ ）"
    permuted = rng.sample(options, len(options))
    assert fold_text(question(stem, options)) == fold_text(question(stem, permuted))


@pytest.mark.parametrize("form", ["{}. ", "{}．", "{}、", "({})", "（{}） ", "{})"])
def test_the_form_of_the_labels_changes_nothing(form):
    options = ["铁是金属", "水是单质", "氧气是金属", "氢气"]
    plain = question("下列说法正确的是（）", options)
    labelled = [
        form.format(letter) + option for letter, option in zip("ABCD", options, strict=True)
    ]
    for between in ("\n", "  "):
        assert fold_text(between.join(["下列说法正确的是", *labelled])) == fold_text(plain)


@pytest.mark.parametrize(
    "prefix",
    ["3.", "12．", "三、", "（4）", "①", "第3题 ", "例3：", "Q3. ", "5．（6分）",
    "(本小题满分12分)",
     "（2019·全国卷I）", "【2018年高考真题】", "2019年全国卷I：", "【单选题】", "单选题：",
     "7. [2017浙江]"],
)  # fmt: skip
def test_what_stands_before_the_question_changes_nothing(prefix):
    text = "已知水的密度为1.0克，求3.5升水的质量"
    assert fold_text(prefix + text) == fold_text(text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("1.5元钱可以买多少", "15元钱可以买多少"),
        ("3!等于多少", "3等于多少"),
        ("若a<b则", "若a>b则"),
        ("比为3:4", "比为34"),
        ("2008年北京奥运会：我国夺得金牌", "我国夺得金牌"),
        ("（1949年）新中国成立大典", "（1956年）新中国成立大典"),
        ("A.水 B.火", "A.水 B.木"),
        ("x²+1=0", "x2+1=0"),
    ],
)
def test_what_differs_stays_different(text, other):
    assert fold_text(text) != fold_text(other)


def test_texts_of_a_batch_do_not_touch_each_other():
    texts = ["A.水 B.火", "", "（", "）。", "？", "3.", "5元钱可以买水", "1"]
    assert folded(texts) == [fold_text(text) for text in texts]
    assert folded([]) == []


@pytest.mark.parametrize(
    "piece",
    ["(", "A.", "(A)", "A. ", "1.", "(1)", "①", "!", "_", " ", ".", ". ", "(_", "卷", "【",
    "来源:", "水",
     "\nA.水\nB.火"],
)  # fmt: skip
def test_long_texts_take_linear_time(piece):
    """A million characters in a fraction of a second; anything quadratic would take minutes."""
    fold_text("水")
    text = piece * (1_000_000 // len(piece))
    begun = time.process_time()
    fold_text(text)
    assert time.process_time() - begun < 1


def question(stem, options):
    lines = [f"{letter}．{option}" for letter, option in zip("ABCDEFGH", options, strict=False)]
    return "\n".join([stem, *lines])


def folded(texts):
    out = fold_texts(pack(texts))
    text = out.points.tobytes().decode("utf-32-le", "surrogatepass")
    return [text[a:b] for a, b in zip(out.offsets[:-1], out.offsets[1:], strict=True)]
