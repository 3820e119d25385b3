"""Differences and features of two texts, in both orders, with any batches and threads."""

import random
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.judgment import DifferenceKind
from dedup_job.judgment.model import FEATURE_NAMES
from tests.judgment.forms import check_equal, check_pairs, compared, differences, judge
from tests.judgment.test_form import HOSTILE, PIECES, QUESTIONS

ALTERED = [
    *(("不正确", "正确"), ("C．", "D．"), ("12", "13"), ("细胞膜", "细胞壁"), ("单调", "单凋")),
    *(
        ("reading", "raeding"),
        ("散步", "散步，散步"),
        ("，", "。"),
        ("母亲", "父亲"),
        ("面积", "周长"),
    ),
    *(("无限集", "有限集"), ("①", "②"), ("了", ""), ("我", "你们"), ("增大", "减小"), ("cm", "m")),
    *(("x", "y"), ("属于", "不属于"), ("三", "3")),
]


def altered(rng, text):
    """Return a text with one to three changes of an editor, or slips."""
    for _ in range(rng.randrange(1, 4)):
        old, new = rng.choice(ALTERED)
        at = rng.randrange(len(text) + 1)
        clauses = text.split("，")
        text = rng.choice(
            [
                text.replace(old, new),
                text.replace(new or old, old),
                text[:at] + rng.choice(PIECES) + text[at:],
                text[:at] + text[at + rng.randrange(1, 6) :],
                "，".join(rng.sample(clauses, len(clauses))),
                text[:at] + text[max(0, at - 3) :],
            ]
        )
    return text


def pairs():
    rng = random.Random(39)
    for text in QUESTIONS * 25:
        yield text[:600], altered(rng, text)[:600]
    for _ in range(100):
        yield tuple(altered(rng, one)[:400] for one in rng.sample(QUESTIONS, 2))


def test_altered_questions_have_the_features_of_the_reference():
    check_pairs([*pairs()])


@given(st.tuples(*(st.text(st.sampled_from("甲乙丙丁不1２.，A\n B增大"), max_size=30),) * 2))
def test_any_texts_have_the_features_of_the_reference(texts):
    check_pairs([texts])


def test_characters_beyond_the_basic_plane_are_counted():
    check_pairs([("𠮷𡃁𠮷甲 𠂢", "𡃁甲甲𠮷"), ("A. 𠮷 B. 𡃁𡃁", "A. 𡃁 B. 𠮷"), ("𠮷𠮷", "𠮷")])


def test_a_text_does_not_differ_from_itself():
    found, _ = compared([(text, text) for text in QUESTIONS])
    assert not found["features"][:, FEATURE_NAMES.index("pieces")].any()
    assert not found["guards"].any()


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:8].strip() or "blank")
def test_a_million_characters_are_compared(text):
    found, _ = compared([(text, text[: len(text) // 2] + "水" + text[: len(text) // 3])])
    assert np.isfinite(found["features"]).all()


NAMED = [
    ("光合作用的场所是什么", "光合作用的主要场所是什么", ("deleted", "stem", "", "主要")),
    ("光合作用的主要场所是什么", "光合作用的场所是什么", ("inserted", "stem", "主要", "")),
    ("叶绿体的功能是什么", "线粒体的功能是什么", ("replaced", "stem", "叶绿体", "线粒体")),
    ("一共有三十个苹果", "一共有30个苹果", ("notation", "stem", "三十个", "30个")),
    ("简述水的性质（5分）", "简述水的性质", ("inserted", "notes", "5分", "")),
    ("它是 A. 铁 B. 铜 C. 银\n答案：A", "它是 A. 铁 B. 铜 C. 银", ("inserted", "answer", "a", "")),
]


@pytest.mark.parametrize(("text", "other", "named"), NAMED)
def test_each_difference_is_named_with_its_part_and_words(text, other, named):
    (found,) = differences(text, other)
    assert (found.kind, found.place, found.text, found.of) == named


def test_texts_that_differ_in_white_space_differ_in_layout():
    (found,) = differences("光合作用是什么", "光合作用是什么 ？")
    assert found.kind == DifferenceKind.LAYOUT
    assert differences("光合作用", "光合作用") == ()


def test_texts_without_a_difference_have_probability_1():
    text, other = "12．下列属于金属的是 A. 铁 B. 氧 C. 硫", "下列属于金属的是：(A)硫 (B)氧 (C)铁"
    assert judge().verdict_reasons(text, other).probability == 1
    assert judge().verdict_reasons(text, other).guards == ()


def test_the_reasons_are_sentences_on_the_heaviest_features():
    weighed = judge().verdict_reasons("叶绿体的功能是什么", "线粒体的功能是什么")
    assert weighed.probability < 0.5
    assert 1 <= len(weighed.reasons(-1)) <= 3
    assert all(": " in reason for reason in weighed.reasons(1) + weighed.reasons(-1))


def test_verdicts_depend_on_neither_batches_nor_threads():
    texts = [text for pair in pairs() for text in pair][:300]
    rng = np.random.default_rng(39)
    rows, partners = rng.integers(0, len(texts), (2, 2000))
    expected, found = judge().judge((texts, rows, texts, partners)), []

    def judge_in_parts(part):
        read = judge().parsed(texts)
        parts = [slice(at, at + part) for at in range(0, len(rows), part)]
        verdicts = [judge().judge((read, rows[each], read, partners[each])) for each in parts]
        found.append(np.concatenate(verdicts))

    threads = [threading.Thread(target=judge_in_parts, args=(part,)) for part in (7, 300, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(threads)
    for each in found:
        check_equal(each, expected)
