"""A number numbers a text only if a question can begin behind it; points end a sentence."""

import pytest

from tests.judgment.forms import canonical

NUMBERED = ("（{}）", "({}) ", "{}. ", "{}、", "第{}题 ")
QUESTIONS = (
    *("水的化学式怎么写", "是否存在这样的实数", "等腰三角形有哪些性质", "分析小说的人物形象"),
    *("个人所得税怎么计算", "Which of these is water", "为什么天空是蓝色的"),
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_number_before_a_question_is_left_out(question):
    texts = [form.format(n) + question for form in NUMBERED for n in (3, 5)]
    assert len(set(canonical([question, *texts]))) == 1


OF_A_SENTENCE = (
    *("（{}）的平方根是多少", "{}.的平方根是多少", "第{}题的答案有几个字", "({})² 的值是多少"),
    *(
        "（{}）是质数吗",
        "（{}）与（7）的和是多少",
        "（{}）乘以（4）等于多少",
        "（{}）开平方等于多少",
    ),
    *("（{}）千克等于多少克", "（{}）个苹果分给三人", "（{}）人分成两组", "（{}）÷（4）是多少"),
    *("({}) squared is what number", "({}) plus four makes what", "({}) of the apples are red"),
    *("({})$\\times 4$等于多少", "{}. + 4 等于多少", "({}) 米长的绳子剪成两段"),
)


@pytest.mark.parametrize("text", OF_A_SENTENCE)
def test_a_number_that_a_sentence_goes_on_with_is_compared(text):
    assert len(set(canonical([text.format(3), text.format(5)]))) == 2


@pytest.mark.parametrize("text", ["甲队（{}分）胜乙队", "He won ({} points) in this game"])
def test_points_inside_a_sentence_are_compared(text):
    assert len(set(canonical([text.format(3), text.format(5)]))) == 2


POINTS = (
    *("求下列各式的值。（{}分）", "求下列各式的值（{}分）。", "（{}分）求下列各式的值"),
    *("3.（{}分）求下列各式的值", "（本题满分{}分）求下列各式的值", "求下列各式的值（共{}分），"),
)


@pytest.mark.parametrize("text", POINTS)
def test_points_before_or_behind_a_sentence_are_left_out(text):
    assert set(canonical([text.format(5)])) == set(canonical(["求下列各式的值"]))
