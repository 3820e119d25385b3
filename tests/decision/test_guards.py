"""Guards refuse texts that are alike and mean something else, and let versions of one text pass."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.decision.guards import Guard, Guards, PolarityWords, unlike
from dedup_job.decision.numbers import numbers
from dedup_job.errors import ConfigurationError
from tests.strings import NASTY

CHOICES = "\nA．水\nB．火\nC．木3根\nD．金5克"
OTHER_ORDER = "\nA．金5克\nB．木3根\nC．水\nD．火"


@pytest.fixture(scope="module")
def words():
    return PolarityWords.load(None)


@pytest.fixture(scope="module")
def refuses(words):
    """Return what tells whether one guard alone refuses a pair, asked both ways."""

    def ask(guard, text, other):
        guards = Guards((guard,), words)
        answer = guards.refuses(text, other)
        assert guards.refuses(other, text) == answer
        return answer == guard

    return ask


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("小红买10本书", "小红买12本书"),
        ("长3.5米", "长35米"),
        ("长3.5米，宽2米", "长2米，宽3.5米"),
        ("增长50%", "增长50"),
        ("增长５％", "增长６％"),
        ("共1,000元", "共1,001元"),
        ("占1/2", "占1/3"),
        ("约三十人", "约四十人"),
        ("二〇一九年", "二〇一八年"),
        ("占三分之一", "占三分之二"),
        ("百分之五的人", "百分之六的人"),
        ("有一个苹果", "有两个苹果"),
        ("第二次世界大战", "第一次世界大战"),
        ("等于-3", "等于3"),
        ("求x²的值", "求x³的值"),
        (r"求$\frac{1}{2}$", r"求$\frac{1}{4}$"),
        ("人口3万", "人口3亿"),
        ("正确的是①②", "正确的是①③"),
        ("五边形的面积", "六边形的面积"),
        ("如图1", "如图2"),
        ("有3个苹果和2个梨", "有3个苹果和梨"),
        (f"重多少{CHOICES}", f"重多少{CHOICES.replace('5克', '6克')}"),
        (f"重多少{CHOICES}", f"重2克的{CHOICES}"),
        (f"重多少{CHOICES}", "重2克多少"),
        ("甲1，乙2。" * 50, "甲1，乙2。" * 25 + "甲2，乙1。" + "甲1，乙2。" * 24),
    ],
)
def test_other_numbers_are_refused(refuses, text, other):
    assert refuses(Guard.NUMBERS, text, other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("小红买10本书", "小明买10本书"),
        ("共1,000元", "共1000元"),
        ("长1.50米", "长1.5米"),
        ("第05号", "第5号"),
        ("约三十人", "约30人"),
        ("二〇一九年", "2019年"),
        ("百分之五的人", "5%的人"),
        ("两个苹果", "2个苹果"),
        ("增长50%", r"增长５０ ％"),
        (r"增长50\%", "增长50%"),
        ("人口3万", "人口30000"),
        ("人口1.2亿", "人口120000000"),
        ("H₂O是水", "H2O是水"),
        ("水的10⁵倍是", "水的10^5倍是"),
        ("十分高兴地", "高兴地"),
        ("老百姓万一", "百姓"),
        ("有一个物体", "有物体"),
        ("一定是对的", "是对的"),
        ("二氧化碳", "氧化碳"),
        ("x-3", "x - 3"),
        ("3. 下列说法正确的是", "12. 下列说法正确的是"),
        ("（3分）下列说法正确的是", "（5分）下列说法正确的是"),
        ("（2019·北京）下列说法正确的是", "下列说法正确的是"),
        (f"重多少的物质{CHOICES}", f"重多少的物质{OTHER_ORDER}"),
        (f"重多少的物质{CHOICES}", "重多少的物质"),
        (f"重多少的物质{CHOICES}", "重多少的物质 水 火 木3根 金5克"),
        ("", ""),
    ],
)
def test_the_same_numbers_pass(refuses, text, other):
    assert not refuses(Guard.NUMBERS, text, other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000元和1000.50，－3，x-3，(-2)", "1000 1000.5 -3 3 -2"),
        ("1,2,3和1,0000", "1 2 3 1 0"),
        ("三千五百零二，一亿三千万，二十，十二，一万亿", "3502 130000000 20 12 1000000000000"),
        ("一一对应，两三个，三四十，千万不要，百姓，万一，十分，十分钟", ""),
        ("一九四九年，三分之二，第三，三角，零件", "1949 3 2 3 3"),
        ("1.2.3 .5 5. 007 0", "1.2 3 5 5 7 0"),
        ("3 万，2.5亿，0.00001万", "30000 250000000 0.1"),
        ("①⑩ x² 10⁻⁵ CO₂", "1 10 2 10 5 2"),
        ("٣ 和 ３", "٣ 3"),
    ],
)
def test_numbers_are_read_as_values(text, expected):
    assert " ".join(numbers(text)) == expected


@given(st.integers(0, 10**12 - 1))
def test_chinese_numerals_are_read_as_they_are_spoken(number):
    spoken = chinese(number)
    assert numbers(f"有{spoken}个") == ((str(number),) if number > 1 else ())


@given(st.text(st.sampled_from("0123456789x水 ，+.")))
def test_plain_numbers_are_those_a_simple_expression_finds(text):
    simple = [re.sub(r"^0+(?=\d)", "", n) for n in re.findall(r"\d+(?:\.\d+)?", text)]
    simple = [n.rstrip("0").rstrip(".") if "." in n else n for n in simple]
    assert list(numbers(text)) == simple


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("下列说法正确的是", "下列说法错误的是"),
        ("下列说法正确的是", "下列说法不正确的是"),
        ("下列是酸的", "下列不是酸的"),
        ("能溶于水", "不能溶于水"),
        ("可以溶于水", "不可以溶于水"),
        ("没有空气", "有空气"),
        ("溶液质量增加", "溶液质量减少"),
        ("温度上升", "温度下降"),
        ("x大于3", "x小于3"),
        ("速度最大", "速度最小"),
        ("符合规定", "不符合规定"),
        ("下列属于金属的", "下列不属于金属的"),
        ("一定成立", "不一定成立"),
        ("二者相同", "二者不同"),
        ("3岁以上", "3岁以下"),
        ("可能是铁", "是铁，不可能"),
        ("电流增大，电压减小", "电流减小，电压增大"),
        ("除了水", "水"),
        ("他未到", "他到"),
        ("Which is correct?", "Which is incorrect?"),
        ("It is true", "It is False"),
        ("The weights increase", "The weights DECREASE"),
        ("He always came", "He never came"),
        ("It is water", "It is not water"),
        ("It is water", "It isn't water"),
        ("I can do it", "I cannot do it"),
        ("all except water", "all water"),
        (f"正确的是{CHOICES}", f"错误的是{OTHER_ORDER}"),
        (f"正确的是{CHOICES}", "错误的是"),
        (f"是{CHOICES}", f"是{CHOICES.replace('火', '不是火')}"),
    ],
)
def test_the_opposite_is_refused(refuses, text, other):
    assert refuses(Guard.POLARITY, text, other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("下列说法正确的是", "以下说法正确的是"),
        ("下列说法不正确的是", "下列说法错误的是"),
        ("它不是酸", "它非酸"),
        ("没有空气", "无空气"),
        ("是否溶于水", "溶于水"),
        ("非常重要的", "重要的"),
        ("未来的世界", "世界"),
        ("小红有10本书", "小明有12本书"),
        ("分别是", "是"),
        ("It is not water", "It isn’t water"),
        ("a notable thing", "a thing"),
        ("水是生命之源", "水为生命之源"),
        (f"正确的是{CHOICES}", f"正确的是{OTHER_ORDER}"),
        (f"正确的是{CHOICES}不是", "正确的是"),
        ("", ""),
    ],
)
def test_other_words_pass(refuses, text, other):
    assert not refuses(Guard.POLARITY, text, other)


@pytest.mark.parametrize(
    ("text", "other", "refused"),
    [
        (f"是（）{CHOICES}", f"是（）{OTHER_ORDER}", False),
        (f"是（）{CHOICES}", "是（）", False),
        ("是（）", "不是（）", False),
        (f"是（）{CHOICES}", f"是（）{CHOICES.replace('水', '土')}", True),
        (f"是（）{CHOICES}", f"是（）{CHOICES}\nE．土", True),
        (f"是（）{CHOICES}", f"是（）{CHOICES}。", False),
        (f"是（）{CHOICES}", f"是（）{CHOICES.replace('．', '、')}", False),
        (f"是（）{CHOICES}", f"3. 是（）{CHOICES.replace('金', ' 金 ')}；", False),
        ("是\nA. x>1\nB. x<1", "是\nA. x≥1\nB. x<1", True),
        ("是\nA. X>1\nB. x<1", "是\nA. x<1\nB. ｘ＞1", False),
        ("是\nA. 水\nB. 水", "是\nA. 水\nB. 火", True),
    ],
)
def test_other_choices_are_refused_and_another_order_is_not(refuses, text, other, refused):
    assert refuses(Guard.OPTIONS, text, other) == refused


def test_the_first_guard_that_refuses_is_named(words):
    pair = "3个正确的\nA. 水\nB. 火", "4个错误的\nA. 水\nB. 土"
    assert Guards(tuple(reversed(Guard)), words).refuses(*pair) == Guard.NUMBERS
    assert Guards((Guard.OPTIONS, Guard.POLARITY), words).refuses(*pair) == Guard.POLARITY
    assert Guards((Guard.OPTIONS,), words).refuses(*pair) == Guard.OPTIONS
    assert Guards((), words).refuses(*pair) is None


CLAUSES = st.lists(
    st.sampled_from(["水", "不", "正确", "错误", "是", "不是", "3", "-3", "1,000", "三十", "万",
    "，",
                     "。", "\n", ", ", ". ", " ", ".", "个", "True", "not"]),
    max_size=14,
).map("".join)  # fmt: skip


@given(CLAUSES, CLAUSES, CLAUSES, CLAUSES)
@settings(max_examples=300)
def test_what_both_begin_and_end_with_changes_no_answer(words, head, middle, other, tail):
    text, other = head + middle + tail, head + other + tail
    left, right = unlike(text, other)
    assert len(text) - len(left) == len(other) - len(right)
    assert (numbers(left) == numbers(right)) == (numbers(text) == numbers(other))
    assert words.differ(left, right) == words.differ(text, other)


def test_what_both_begin_and_end_with_is_cut_at_clauses():
    assert unlike("甲。乙1，丙。丁", "甲。乙2，丙。丁") == ("乙1", "乙2")
    assert unlike("水，", "水，") == ("", "")
    assert unlike("", "水") == ("", "水")
    assert unlike("ab，ac，d", "ab，ae，d") == ("ac", "ae")


@given(CLAUSES, CLAUSES)
def test_guards_are_symmetric_and_let_a_text_be_itself(words, text, other):
    guards = Guards(tuple(Guard), words)
    assert guards.refuses(text, text) is None
    assert guards.refuses(text, other) == guards.refuses(other, text)


@pytest.mark.parametrize(
    "piece", ["1", "1,000", "1,", "一", "万", "三千", "-", "不", "n't", "a'", "(", "是\n"]
)
def test_long_texts_take_linear_time(words, piece):
    """Half a million characters; anything quadratic would take minutes."""
    guards, text = Guards(tuple(Guard), words), piece * (500_000 // len(piece))
    guards.refuses("水", "火")
    begun = time.process_time()
    guards.refuses("水" + text + "火", "土" + text + "木")
    assert time.process_time() - begun < 5


def test_nasty_strings_do_no_harm(words):
    guards = Guards(tuple(Guard), words)
    for text, other in pairwise(NASTY):
        assert guards.refuses(text, other) == guards.refuses(other, text)
        assert guards.refuses(text, text) is None


SOME_WORDS = st.lists(st.sampled_from(["大", "小", "水", "big", "small", "un"]), max_size=5)


@given(SOME_WORDS, SOME_WORDS)
def test_words_are_compared_as_their_counts_and_order_say(some, others):
    words = PolarityWords([("大", "小"), ("big", "small")], ["un"])

    def more(word):
        return some.count(word) - others.count(word)

    expected = more("un") != 0 or more("大") * more("小") < 0 or more("big") * more("small") < 0
    if not any(map(more, ("大", "小", "big", "small", "un"))):
        for script in (["大", "小"], ["big", "small", "un"]):
            expected |= [w for w in some if w in script] != [w for w in others if w in script]
    assert words.differ("，".join(some), "，".join(others)) == expected


@pytest.fixture
def file(tmp_path):
    return tmp_path / "words.txt"


def test_a_users_words_come_on_top(file):
    file.write_text("\ufeff# ours\n酸性 碱性  # chemistry\n\nHot cold\n绝非\n", "utf-8")
    own, plain = PolarityWords.load(file), PolarityWords.load(None)
    for text, other in [("酸性溶液", "碱性溶液"), ("hot", "COLD")]:
        assert own.differ(text, other)
        assert not plain.differ(text, other)
    assert own.differ("正确", "错误")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("大 小\n大 小 中".encode(), "line 2"),
        ("大 大".encode(), "line 1"),
        (b"Big big", "line 1"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_bad_lines_are_named(file, content, problem):
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=problem):
        PolarityWords.load(file)


def test_all_bad_lines_are_named_up_to_ten(file):
    file.write_text("a b c\n" * 25, "utf-8")
    with pytest.raises(ConfigurationError) as caught:
        PolarityWords.load(file)
    assert len(caught.value.problems) == 11
    assert caught.value.problems[-1] == "... and 15 lines more"


def test_an_unreadable_file_is_a_problem_of_the_configuration(file):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        PolarityWords.load(file)


def chinese(number):
    """Return a number as it is spoken."""
    if number >= 10**8:
        return chinese(number // 10**8) + "亿" + rest(number % 10**8, 10**7)
    if number >= 10**4:
        return chinese(number // 10**4) + "万" + rest(number % 10**4, 10**3)
    for unit, name in ((1000, "千"), (100, "百"), (10, "十")):
        if number >= unit:
            return "零一二三四五六七八九"[number // unit] + name + rest(number % unit, unit // 10)
    return "零一二三四五六七八九"[number]


def rest(number, least):
    if number == 0:
        return ""
    return ("零" if number < least else "") + chinese(number)


CHOICES = "下列说法正确的是（ ）A. 细胞膜加速血糖调节 B. 渗透失水发生在气孔 C. 主动运输"


@pytest.mark.parametrize(
    ("last", "other", "refused"),
    [
        ("发生在小肠绒毛", "发生在小绒毛", False),  # a slip
        ("发生在小肠绒毛", "发生在大肠绒毛", True),  # another organ
        ("发生在小肠绒毛", "生在小绒毛", True),
        ("发生在小肠绒毛", "发生在小肠绒毛（来源：网络整理）", False),
        ("发生在小肠绒毛", "发生在小肠绒毛【期末复习用】", False),
        ("加入乙醇（过量）", "加入乙醇（少量）", True),
        ("区间 (0, 1)", "区间", True),
    ],
)
def test_a_slip_or_a_remark_in_one_choice_is_no_other_choice(last, other, refused):
    guards = Guards((Guard.OPTIONS,), PolarityWords.load(None))
    one, two = (f"{CHOICES} D. {choice}" for choice in (last, other))
    expected = Guard.OPTIONS if refused else None
    assert guards.refuses(one, two) is guards.refuses(two, one) is expected
