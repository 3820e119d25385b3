"""A question's parts are found, and what only looks like one is left alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.judgment.folding import BOUNDS, find_parts
from dedup_job.judgment.structure import fold_tables
from dedup_job.native.code_points import points_of
from tests.judgment.test_folding import ANY, MADE
from tests.reference.folding import naive_parts

REST = "下列说法正确的是哪一个"


class Parts(NamedTuple):
    """A text's parts in its own characters, without white space at their ends."""

    prefix: str
    stem: str
    options: tuple[str, ...]


def parts_of(text: str) -> Parts:
    bounds = np.empty(BOUNDS, dtype=np.int64)
    cells = np.empty(len(text), dtype=np.uint32)
    count = find_parts(points_of(text), 0, len(text), fold_tables(), cells, bounds)
    cuts = bounds[: 2 * count + 2].tolist()
    options = (text[cuts[2 * k] : cuts[2 * k + 1]].strip() for k in range(1, count + 1))
    return Parts(text[: cuts[0]].strip(), text[cuts[0] : cuts[1]].strip(), tuple(options))


@settings(max_examples=150)
@given(MADE | ANY)
def test_the_parts_agree_with_the_naive_version(text):
    parts = parts_of(text)
    assert (parts.prefix, parts.stem, parts.options) == naive_parts(text)


@pytest.mark.parametrize(
    "prefix",
    ["3.", "３．", "12、", "3)", "3：", "三、", "十二．", "(3)", "（三）", "( 3 )", "①", "②、",
    "第3题",
     "第十二题：", "第3小题", "例3", "例3.", "例题2：", "习题3.2", "练习5、", "Q3.", "q3)",
     "Question 3:",
     "（3分）", "(本小题满分12分)", "[3分]", "(本题共3小题，每小题5分)", "（十分）",
     "(2019·全国卷I)",
     "【2018年高考真题】", "[2017浙江]", "〔2019•山东〕", "（2018-2019学年）", "（衡水中学期末）",
     "【填空题】",
     "2019年全国卷I：", "2019年高考数学卷第3题：", "单选题：", "选择题 1:", "来源：人教版",
     "3. (5分) 【2019·北京】", "例3 （2019·全国卷(I)）"],
)  # fmt: skip
def test_numbers_points_and_sources_are_prefixes(prefix):
    assert parts_of(f"{prefix} {REST}") == Parts(prefix, REST, ())


@pytest.mark.parametrize(
    "text",
    ["3.14是圆周率的近似值吗", "3:4的比例是多少呢", "1、2、3这三个数字的和",
    "一、二、三班共有学生", "(3)×(2)等于几加几",
     "(1)(2)两种说法都正确", "①②两种说法都正确吗", "2008年北京奥运会：我国夺得金牌",
     "（1949年）新中国成立大典",
     "2020年高考改革：我国教育", "习题3道共多少分钟", "第3题的答案是多少", "例3个苹果共多少",
     "Q4 2008 revenue report",
     "(2000,1999)是函数的点吗", "(x+2019)的平方是多少", "1234.下列说法正确",
     "(说明)下列说法正确的是",
     "来源：水是生命之源泉，对吗", "来源：\n水是生命之源泉", "3.水", "年份：2019是闰年吗",
     "图3.水的三态变化"],
)  # fmt: skip
def test_content_is_no_prefix(text):
    assert parts_of(text).prefix == ""


@pytest.mark.parametrize(
    ("text", "stem", "options"),
    [
        ("是（）\nA．水\nB．火\nC．木\nD．金", "是（）", "水 火 木 金"),
        ("是(A)水 (B)火", "是(A)水 (B)火", ""),
        ("是\n(A)水\n(B)火", "是", "水 火"),
        ("是( ).A.2 B.3 C.4 D.5", "是( ).", "2 3 4 5"),
        ("颜色是A.红B.绿C.蓝D.黄", "颜色是", "红 绿 蓝 黄"),
        ("设A、B为集合，则（ ）A、空集 B、全集", "设A、B为集合，则（ ）", "空集 全集"),
        ("正确的是（A）\nA. 水\nB. 火", "正确的是（A）", "水 火"),
        ("1. 甲\nA. 水\nB. 火\n2. 乙\nA. 木\nB. 金", "甲\nA. 水\nB. 火\n2. 乙", "木 金"),
        ("是\nＡ．水\nＢ．火", "是", "水 火"),
        ("A: 水 B: 火 C: 木 D: 金", "", "水 火 木 金"),
        ("A. is,B. was", "A. is,B. was", ""),
        ("A. is; B. was", "", "is; was"),
    ],
)
def test_answer_choices_are_found(text, stem, options):
    parts = parts_of(text)
    assert (parts.stem, list(parts.options)) == (stem, options.split() if options else [])


@pytest.mark.parametrize(
    "text",
    ["如图，A、B、C、D四点在圆上", "交于点A．过点A作直线交于点B．求面积", "于点 A. 过点 B. 求",
    "设A：x>1，B：x<2",
     "A: How are you?\nB: Fine.", "\nA．\nB．\nC．\nD．", "\nA．水\nC．火",
     "\nA．水\nB．火\nB．木", "\nA．水",
     "\nB．水\nC．火", "\na．水\nb．火", "P(A)=0.5, P(B)=0.5", "（如图A）水（如图B）火",
     "\nA．水\nB．火\n故选A.水", f"\nA．{'水' * 301}\nB．火"],
)  # fmt: skip
def test_what_is_not_surely_a_choice_is_none(text):
    assert parts_of(text).options == ()


def test_a_choice_may_have_300_characters():
    assert len(parts_of(f"\nA．{'水' * 299}\nB．火").options) == 2


@given(st.lists(st.text(st.sampled_from("水火。 \n"), min_size=1), min_size=2, max_size=8))
def test_parts_are_pieces_of_the_text_in_order(options):
    text = "3. 下列是\n" + "\n".join(f"{c}．{o}" for c, o in zip("ABCDEFGH", options, strict=False))
    parts, at = parts_of(text), 0
    for piece in (parts.prefix, parts.stem, *parts.options):
        at = text.index(piece, at) + len(piece)
