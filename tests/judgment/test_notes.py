"""What a canonical form leaves out of a text: notes, what stands before a question, no more."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from dedup_job.judgment import MOST_LEFT_OUT
from dedup_job.judgment.canonical import forms_of
from dedup_job.native.code_points import pack
from tests.judgment.test_canonical import MADE, WORDS, native, read
from tests.reference.canonical import canonical

ASKED = "下列关于细胞膜的结构和功能及其在物质运输中所起作用的几种说法当中正确的是"
ENGLISH = "Which of the following statements about the cells of a plant is true?"


@pytest.mark.parametrize(
    ("asked", "texts"),
    [
        (ASKED, [
            f"3. {ASKED}", f"（3）{ASKED}", f"三、{ASKED}", f"第3题 {ASKED}", f"例3 {ASKED}",
            f"【2019·全国卷I】{ASKED}", f"(3分){ASKED}", f"单选题：{ASKED}（）",
            f"2019年全国卷I：{ASKED}", f"12．（5分）{ASKED}",
        ]),
        (ENGLISH, [f"Question 3. {ENGLISH}", f"3) {ENGLISH}", f"(2 分) {ENGLISH}"]),
    ],
)  # fmt: skip
def test_what_stands_before_a_question_is_left_out(asked, texts):
    forms = native(asked, *texts)
    assert {form.stem for form in forms} == {forms[0].stem}
    assert forms == [canonical(text) for text in (asked, *texts)]


@pytest.mark.parametrize(
    "text",
    [
        f"{ASKED}\n【考点】光合作用", f"{ASKED}\n来源：人教版第三章", f"{ASKED}（2019·全国卷）",
        f"{ASKED}。本题共3分。", f"{ASKED}\n第 3 页 共 8 页", f"{ASKED}\n【答案】水",
        f"{ASKED}\n考点：细胞 难度：0.8", f"{ASKED}。 来源：人教版。",
    ],
)  # fmt: skip
def test_a_short_note_at_the_end_is_left_out(text):
    form = native(text)[0]
    assert form.stem == ASKED
    assert 0 < form.left_out <= MOST_LEFT_OUT
    assert form == canonical(text)


PASSAGE = "春天的清晨，山里的雾还没有散，老人已经挑着两筐新茶走在去集市的石板路上。"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        # what follows a note is a question, in the same line or in another
        (f"{PASSAGE} 来源：人民日报。{one}", f"{PASSAGE} 来源：人民日报。{two}")
        for one, two in [
            ("老人挑的是什么", "老人走在哪里"), ("\n老人挑的是什么？", "\n老人走在哪里？"),
            ("\n文中的山（ ）", "\n文中的雾（ ）"),
            ("\n老人\nA. 挑茶\nB. 卖菜", "\n老人\nA. 走路\nB. 乘车"),
        ]
    ] + [
        (f"{PASSAGE}\n{note}{one}", f"{PASSAGE}\n{note}{two}")
        for note in ("解析：", "答案：", "answer: ", "Explanation: ", "here's an answer: ")
        for one, two in [
            ("老人挑的是什么？", "老人走在哪里？"),
            ("老人\nA. 挑茶\nB. 卖菜", "老人\nA. 走路\nB. 乘车"),
            ("老人挑着茶走了很远的路，到了集市才停下。", "集市上的人很多，茶卖完了，老人很高兴。"),
        ]
    ] + [
        # a word of a note in the middle of a line is a word
        (f"资料来源：甲报\n{PASSAGE}", f"资料来源：乙报\n{PASSAGE}"),
        (f"来源：甲报\n{PASSAGE}", f"来源：乙报\n{PASSAGE}"),
        (f"{PASSAGE}完成下列问题：茶是谁的？", f"{PASSAGE}完成下列问题：雾在哪里？"),
    ],
)  # fmt: skip
def test_what_is_no_note_at_the_end_is_compared(text, other):
    assert stem_and_choices(text) != stem_and_choices(other)
    assert native(text, other) == [canonical(text), canonical(other)]


def stem_and_choices(text: str) -> tuple[str, tuple[str, ...]]:
    form = native(text)[0]
    return form.stem, form.choices


@settings(max_examples=150)
@given(MADE)
def test_no_more_of_a_text_is_left_out_than_allowed(text):
    allowed = native(text)[0]
    assert allowed.left_out <= MOST_LEFT_OUT
    whole = read(forms_of(pack([text]), WORDS, 0.0), 0)
    assert whole.left_out == 0
    assert whole == canonical(text, 0.0)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        # numbers that belong to the sentence
        ("三、四、五年级共植树一百多棵，每级多少棵", "四、五年级共植树一百多棵，每级多少棵"),
        ("七、八月份的降水量占全年的一半以上", "八月份的降水量占全年的一半以上"),
        ("第3题的答案应该选择哪一个选项才对", "第5题的答案应该选择哪一个选项才对"),
        ("例3的解法用到了二次函数的图象", "例5的解法用到了二次函数的图象"),
        ("3:x=4:5，求未知数x等于多少", "7:x=4:5，求未知数x等于多少"),
        ("12、 18和24的最大公因数是多少", "16、 18和24的最大公因数是多少"),
        # letters that are no key
        ("夜盲症患者应补充的是维生素A\nA. 对\nB. 错", "夜盲症患者应补充的是维生素D\nA. 对\nB. 错"),
        ("那么事件的概率等于P(A)\nA. 0.3\nB. 0.4", "那么事件的概率等于P(B)\nA. 0.3\nB. 0.4"),
    ],
)  # fmt: skip
def test_what_belongs_to_a_sentence_is_no_number_and_no_key(text, other):
    one, two = native(text, other)
    assert one.stem != two.stem
    assert [one, two] == [canonical(text), canonical(other)]
