"""Words that relate others, short texts and asked forms: what is small to see and another text."""

from __future__ import annotations

import numpy as np
import pytest

from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.fingerprint.settings import FingerprintSettings
from dedup_job.judgment import Judge

ROW = np.zeros(1, dtype=np.int64)
STORY = (
    "小镇的邮局开在河边，每天清晨都有人排队寄信。邮递员老周骑着一辆旧自行车，沿着石板路挨家挨户送报纸。"
    "谁家的孩子考上了学校，谁家的老人想念远方的亲人，他都记得清清楚楚。下雨的时候，他把信件裹好，自己淋得湿透。"
    "后来镇上通了公路，年轻人用手机联系，寄信的人越来越少，邮局的窗口却仍然亮着灯。有人问他为什么不退休，"
    "他说只要还有一封信没有送到，这条路就值得再走一遍。孩子们喜欢围着他听故事，那些故事写满了一整本本子。"
)


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(load_lexicon(FingerprintSettings(), lambda _: None))


def joined(judge: Judge, text: str, other: str) -> bool:
    return bool(judge.judge([text], ROW, [other], ROW).joined[0])


RELATED = [
    ("今年的产量比去年增加了三成", "今年的产量比去年增加到三成"),
    ("这种商品的价格降低了一半以上", "这种商品的价格降低到一半以上"),
    ("求甲数除乙数所得的商和余数是几", "求甲数除以乙数所得的商和余数是几"),
    ("提交身份证与户口本的复印件即可", "提交身份证或户口本的复印件即可"),
    ("小明和小红都参加了这次比赛", "小明或小红都参加了这次比赛"),
    ("一列火车从北京来上海需要五小时", "一列火车到北京去上海需要五小时"),
    ("这个孩子把那只小狗咬伤了胳膊", "这个孩子被那只小狗咬伤了胳膊"),
    ("老师给学生借了三本有趣的书", "老师向学生借了三本有趣的书"),
    ("十八岁以上的人可以参加这项活动", "十八岁以下的人可以参加这项活动"),
    ("十八岁以上的人可以参加这项活动", "十八岁的人可以参加这项活动"),
    ("下列动物中生活在水内的是哪一种", "下列动物中生活在水外的是哪一种"),
    ("规定的期限内提出申请的处理办法", "规定的期限外提出申请的处理办法"),
    ("若甲成立则乙一定不成立的条件是", "若甲成立而乙一定不成立的条件是"),
    ("他走过来对大家说了一句话", "他走过去对大家说了一句话"),
    ("应当提交的材料包括以下各项", "可以提交的材料包括以下各项"),
    ("该试剂由甲向乙转移的电子数", "该试剂由乙向甲转移的电子数"),
    ("为什么这种现象会在夜里发生呢", "如何这种现象会在夜里发生呢"),
    ("一列火车从北京开出以后到达上海", "一列火车到北京开出以后到达上海"),
    ("他每天早上都来学校参加义务劳动", "他每天早上都去学校参加义务劳动"),
    ("请把这本书给图书馆的管理员看看", "请把这本书向图书馆的管理员看看"),
    ("小狗把那只小猫追到了院子的外面", "小狗被那只小猫追到了院子的外面"),
]


@pytest.mark.parametrize(("text", "other"), RELATED)
def test_another_preposition_conjunction_or_direction_is_another_text(judge, text, other):
    assert not joined(judge, text, other)
    choices = "\nA. 第一种情况\nB. 第二种情况\nC. 第三种情况\nD. 第四种情况"
    assert not joined(judge, f"{text}？{choices}", f"{other}？{choices}")
    assert not joined(judge, f"{STORY}{text}？", f"{STORY}{other}？")


@pytest.mark.parametrize(("text", "other"), RELATED)
def test_so_it_is_in_prose_where_a_few_words_may_be_corrected(judge, text, other):
    assert not joined(judge, f"{STORY}{text}。{STORY}", f"{STORY}{other}。{STORY}")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("下列关于细胞的说法正确的是", "下列关于细胞说法正确的是"),
        ("请分析这首诗的写作手法和情感", "分析这首诗的写作手法和情感"),
        ("今年的产量比去年增加了三成", "今年的产量比去年增加三成"),
    ],
)
def test_a_word_without_a_meaning_of_its_own_may_be_missing(judge, text, other):
    assert joined(judge, text, other)


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("张将", ["张的", "张", "张将。", "張將", "张将军"]),
        ("李明", ["李阳", "李明明"]),
        ("pH值", ["PH值"]),
        ("早期", ["早其"]),
        ("说法正确的是", ["表述正确的是", "说法正确的", "1. 说法正确的是"]),
    ],
)
def test_of_less_than_ten_characters_each_one_counts(judge, text, others):
    assert joined(judge, text, f" {text[:1]} {text[1:]}\n")
    assert joined(judge, text, text.translate({ord("p"): "ｐ", ord("H"): "Ｈ"}))
    assert not any(joined(judge, text, other) for other in others)


@pytest.mark.parametrize(
    "asked", ["下列词语中没有错别字的一项是", "下列词语书写完全正确的一项是", "选出字形正确的一组"]
)
@pytest.mark.parametrize(
    ("form", "other"),
    [("精益求精", "精亦求精"), ("无休无止", "无修无止"), ("图像清晰", "图象清晰"), ("做功", "作功"),
     ("高兴地跳", "高兴的跳")],
)  # fmt: skip
def test_where_a_form_is_asked_for_two_forms_stay_apart(judge, asked, form, other):
    ends = "\nB. 川流不息\nC. 再接再厉\nD. 一如既往"
    assert not joined(judge, f"{asked}\nA. {form}{ends}", f"{asked}\nA. {other}{ends}")


PASSAGE = "春天的清晨，山里的雾还没有散，老人已经挑着两筐新茶走在去集市的石板路上。" * 3


@pytest.mark.parametrize(
    "note",
    ["来源：人民日报。", "\n来源：人民日报\n", " here's an answer: ", "\n解析：", "\n【答案】"],
)
def test_two_questions_after_one_passage_and_a_note_stay_apart(judge, note):
    one, other = "老人挑的是什么？", "老人要走到哪里去？"
    assert not joined(judge, f"{PASSAGE}{note}{one}", f"{PASSAGE}{note}{other}")
    one, other = "\nA. 新茶\nB. 柴火", "\nA. 集市\nB. 山里"
    assert not joined(judge, f"{PASSAGE}{note}老人{one}", f"{PASSAGE}{note}老人{other}")
    one, other = (
        "老人的心情怎样，请结合全文谈谈你的看法。" * 3,
        "概括文章的主要内容，并说明写作的顺序。" * 3,
    )
    assert not joined(judge, f"{PASSAGE}{note}{one}", f"{PASSAGE}{note}{other}")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (
            "这种染料（来源于植物）的性质与合成染料相比",
            "这种染料（来源于动物）的性质与合成染料相比",
        ),
        ("存货（期末余额）的计价方法与企业的利润", "存货（期末发生额）的计价方法与企业的利润"),
        (
            "阅读教材第35页的内容，说明光合作用的过程。",
            "阅读教材第36页的图表，说明呼吸作用的意义。",
        ),
        ("在下列各项当中，符合题目要求的是哪一项？", "在上述情况下，谁的做法符合题目要求？"),
        ("下列各项中有一项符合题目要求。", "下列各项中有一项不符合题目要求。"),
        ("每小题选出一个正确的答案。", "每小题选出一个错误的答案。"),
        ("\n从老人的角度完成下列问题。\n", "\n从作者的角度完成下列问题。\n"),
        ("只用第一段的材料完成下列各题。", "只用全文的材料完成下列各题。"),
    ],
)
def test_words_within_a_sentence_are_no_note(judge, text, other):
    assert not joined(judge, f"{PASSAGE}{text}有什么不同？", f"{PASSAGE}{other}有什么不同？")


def test_a_short_note_at_the_end_joins_as_before(judge):
    text = f"{PASSAGE}老人挑的是什么？"
    for note in ("\n来源：人民日报", "\n【考点】阅读", "（2019·全国卷）", "\n答案：新茶"):
        assert joined(judge, text, text + note)


TASKS = [
    ("请将下面的短文翻译成英文", "请为下面的短文续写一个结尾"),
    ("用一句话概括下面这篇文章的主要内容", "给下面这篇文章拟一个恰当的标题"),
    ("2024年3月6日天气预报", "2024年3月7日天气预报"),
]


@pytest.mark.parametrize(("headline", "other"), TASKS)
def test_a_headline_may_be_missing_and_two_are_compared(judge, headline, other):
    assert not joined(judge, f"{headline}\n{STORY}", f"{other}\n{STORY}")
    assert joined(judge, f"本报讯：邮局的灯\n{STORY}", STORY)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("\n答案：B\n2．谈谈石榴树的象征意义。", "\n答案：B\n2．概括文章的线索和主旨。"),
        ("\n【答案】C\n【解析】略。\n2. 概括观点。", "\n【答案】C\n【解析】略。\n2. 谈谈看法。"),
        (" Answer: B. 2. Write a title for it.", " Answer: B. 2. Draw a map of the text."),
        (" 来源：《人民日报》请概括受欢迎的原因。", " 来源：《人民日报》请说明回收的意义。"),
        (" 作者：佚名 任务：给文章拟一个标题", " 作者：佚名 任务：将文章改写成新闻"),
    ],
)  # fmt: skip
def test_a_key_or_a_note_does_not_swallow_the_next_task(judge, text, other):
    asked = f"{PASSAGE}\n1．文中老人的心情是（ ）\nA. 高兴\nB. 悲伤\nC. 平静\nD. 着急"
    for before in (asked, PASSAGE):
        assert not joined(judge, before + text, before + other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("唐僧师徒四人取经的目的地是哪里", "唐僧师徒四人取经的目的是哪里"),
        ("派出所的职责包括哪些方面的内容", "派出的职责包括哪些方面的内容"),
        ("他不得在该公司担任董事或者经理", "他不在该公司担任董事或者经理"),
        ("乙数分别是甲数的两倍和丙数的一半", "乙数是甲数的两倍和丙数的一半"),
        ("该城市的人口在全国各城市里最多", "哪个城市的人口在全国各城市里最多"),
        ("“亦”字在古文中有几种常见的意思", "“益”字在古文中有几种常见的意思"),
        ("用“休”字组词，看谁组得又快又多", "用“修”字组词，看谁组得又快又多"),
        ("“像”字怎么用，请举三个例子说明", "“象”字怎么用，请举三个例子说明"),
        ("What time did the boy get of the bus", "What time did the boy get off the bus"),
        ("Why did the old man fall in the end", "Why did the old man fail in the end"),
        ("24的因数有哪些\nA. 5\nB. 7\nC. 9\nD. 4", "24的因数有哪些\nA. 5\nB. 7\nC. 9\nD. 48"),
    ],
)  # fmt: skip
def test_a_part_of_a_word_is_no_word_that_may_be_missing(judge, text, other):
    assert not joined(judge, text, other)
    assert not joined(judge, f"{STORY}{text}？", f"{STORY}{other}？")


def test_another_degree_or_negation_is_no_slip_however_long_the_text(judge):
    for one, two in [
        ("有结果", "无结果"),
        ("已收到", "未收到"),
        ("最合适", "更合适"),
        ("只喜欢", "都喜欢"),
    ]:
        assert not joined(judge, f"{STORY}他{one}吗？", f"{STORY}他{two}吗？")


def test_what_is_added_to_prose_are_whole_clauses(judge):
    law = (
        "股东向他人转让股权，应当经其他股东过半数同意。股东应就其转让事项书面通知其他股东。" + STORY
    )
    denied = law.replace("股东应就", "股东在任何情况下都不可以就", 1)
    assert joined(judge, law, law.replace("同意。", "同意。两个月以后生效。", 1))
    assert not joined(judge, law, denied)
