"""Explanations and notes: where they end, how they are compared, the percentage left out."""

import pytest

from dedup_job.judgment import APART, JOINED
from tests.judgment import forms

COUNT = "Given an integer array, return the number of good pairs that it holds."
SUMS = "给定一个整数数组，返回其中所有好的下标对的数目是多少。"


def verdict(text, reference):
    """Return "same" or the reason of a refusal, the probability, and the percentage left out."""
    found = forms.verdict(text, reference)
    name = "same" if found["state"] == JOINED else APART[found["apart"]]
    return name, found["probability"], found["left_out"]


EXPLAINED = (
    SUMS + "\n解析：逐一枚举，前两个满足题意。",
    COUNT + "\nExplanation: The first two are.",
)
KEYS = (
    "解析：",
    "【解析】",
    "点评：",
    "思路：",
    "分析：",
    "答案：略。解析：",
    "Explanation: ",
    "Solution: ",
)
HEADINGS = (
    *(
        "要求：",
        "【数据范围】",
        "注意：",
        "提示：",
        "输入格式：",
        "约束条件：",
        "附加题：",
        "## 要求\n",
    ),
    *("例2：", "示例 2：", "第2题", "（2）", "2. ", "② ", "二、", "评价的标准：\n"),
    *(
        "Constraints:",
        "Constraints\n",
        "**Note:**",
        "Requirements: ",
        "Restrictions: ",
        "Example 2:",
    ),
    *("Example 2\n", "Sample 2: ", "Input format: ", "Question 2. ", "(2) ", "All that is sure:\n"),
)


@pytest.mark.parametrize("heading", HEADINGS)
def test_an_explanation_ends_before_another_part_of_the_task(heading):
    for key in KEYS:
        text = f"{SUMS}\n{key}前两个满足题意。\n{heading}数组的长度为 {{}}，再求和"
        assert verdict(text.format(100), text.format(900))[0] == "number", text


@pytest.mark.parametrize("heading", ["要求：", "（2）", "第2题", "示例 2：", "Constraints: "])
def test_it_ends_before_a_part_within_a_line_as_well(heading):
    for key in KEYS:
        text = f"{SUMS} {key}前两个满足题意。 {heading}数组的长度为 {{}}，再求和"
        assert verdict(text.format(100), text.format(900))[0] == "number", text


@pytest.mark.parametrize("key", ["来源：", "考点：", "难度：", "题型：", "出处："])
def test_a_note_ends_with_its_sentence_or_before_another_part(key):
    for behind in (" （2）若长度为 {}，求和", "某校。若长度为 {}，求和", "\n若长度为 {}，求和"):
        text = SUMS + "\n" + key + "某某" + behind
        assert verdict(text.format(100), text.format(900))[0] == "number"
    assert verdict(f"{SUMS}\n{key}某某第2章", SUMS)[0] == "same"


def test_a_text_with_a_note_alone_in_its_line_is_still_compared():
    text = "第12题 难度：0.5 求{}的平方根是多少"
    assert verdict(text.format(3), text.format(5))[0] == "number"


def test_a_numbering_from_1_belongs_to_the_explanation():
    question = "选出属于金属的物质。\nA. 铁\nB. 氧\nC. 硫"
    steps = "\n答案：A\n解析：\n(1) 先看氧，不是。\n(2) 再看铁，是的。"
    assert verdict(question + steps, question)[0] == "same"


OTHER = {
    "a number": ("共有3对满足题意。", "共有5对满足题意。", "number"),
    "a numeral": ("共有三对满足题意。", "共有五对满足题意。", "number"),
    "a negation": ("它一定是满足题意的。", "它一定不是满足题意的。", "negation"),
    "a formula": ("由 i<j 可得这个结果。", "由 i>j 可得这个结果。", "formula"),
    "an opposite": ("这个结果会增大一些。", "这个结果会减小一些。", "opposite"),
}


@pytest.mark.parametrize(("one", "other", "guard"), OTHER.values(), ids=OTHER)
def test_two_explanations_with_another_meaning_keep_a_pair_apart(one, other, guard):
    assert verdict(f"{SUMS}\n解析：{one}", f"{SUMS}\n解析：{other}")[0] == guard


def test_two_explanations_of_one_answer_may_use_other_words_and_known_numbers():
    text = "一辆汽车 2 小时行驶 80 千米，照这样计算，5 小时行驶多少千米？\n解析：{}"
    assert verdict(text.format("80÷2=40，40×5=200"), text.format("先求40，再求200"))[0] == "same"
    assert verdict(f"{SUMS}\n解析：逐一枚举。", f"{SUMS}\n解析：先排序，不枚举。")[0] == "same"


def test_with_choices_and_the_same_answer_explanations_may_differ():
    text = "选出属于金属的物质。\nA. 铁\nB. 氧\nC. 硫\n答案：A\n解析：{}"
    one, other = text.format("它的密度是 7.9。"), text.format("它的原子序数是 26。")
    assert verdict(one, other)[0] == "same"


@pytest.mark.parametrize(
    "text", [*EXPLAINED, SUMS + "（5分）", SUMS + "\n答案：略", SUMS + "\n来源：某校"]
)
def test_a_pair_with_notes_is_never_certain_and_has_a_percentage_left_out(text):
    question = COUNT if text.startswith(COUNT) else SUMS
    name, probability, left_out = verdict(text, question)
    assert (name, probability) == ("same", 0.999)
    assert 1 <= left_out < 50
    assert forms.judge().verdict_reasons(text, question).probability == 0.999
    (found,) = forms.differences(text, question)
    assert found.place in ("explanation", "notes", "answer")


def test_an_answer_in_both_texts_is_compared_and_not_left_out():
    text = "\n12. " + SUMS + "\n答案：略"
    assert verdict(text, text.replace("\n12. ", ""))[1:] == (1.0, 0)
