"""Kinds of text; guards of articles, which are about their subjects."""

import random

import pytest

from dedup_job.judgment.model import FEATURE_NAMES
from tests.judgment.forms import (
    check_pairs,
    compared,
    guards_of,
    judge,
    kind_of,
    verdict,
)

BODY = "全县做好防汛，成立三个小组。\n各乡镇设值班电话，每天报告水位。\n仓库备好沙袋，汛后清点。"
ENGLISH = "Keep sand bags ready.\nReport the water level each day.\nCount the bags afterwards."
STATUTE = "养犬规定\n第一条 犬只应当登记。\n第二条 出门应当系绳，由成年人牵领。\n第三条 违者罚款。"
POST = "【暴雨预警】今晚到明天有大到暴雨，请大家减少外出，注意安全，低洼地带的居民及时转移。"
RECIPE = (
    "# 番茄炒蛋\n## 配料\n- 番茄两个\n- 鸡蛋三个\n## 步骤\n- 鸡蛋炒熟盛出\n- 番茄炒软，倒回鸡蛋"
)
KIND = [
    ("下列属于哺乳动物的是", "question"),
    ("Which of these is a mammal?", "question"),
    ("____是鲁迅的短篇小说集", "question"),
    ("计算3×5+2", "question"),
    (f"防汛办法\n{BODY}", "article"),
    (f"Floods\n{ENGLISH}", "article"),
    (RECIPE, "article"),
    (f"{BODY}\n读完上文后，小组有几个？", "question"),
    (POST, "message"),
    ("Heavy rain tonight. Stay at home and keep away from the river.", "message"),
]
SAME = [
    (f"防汛办法\n{BODY}", f"防汛办法（试行）\n{BODY}"),
    (f"防汛办法\n{BODY}", f"防汛办法\n{BODY}\n发布：2021-04-05\n浏览 17 次"),
    (f"防汛怎么做？\n{BODY}", f"如何防汛？\n{BODY}"),
    (f"防汛办法\n{BODY}\n2021-04-05\n1204", f"防汛办法\n{BODY}\n2021-04-06\n733"),
    (STATUTE, STATUTE.replace("养犬规定\n", "养犬规定\n（经修订）\n")),
    (STATUTE, STATUTE.replace("第一条 ", "第一条　").replace("。", "；")),
    (f"各乡镇防汛怎样准备\n{BODY}", f"一份沙袋清单\n{BODY}"),
    (f"How we got ready\n{ENGLISH}", f"Bags, boats and buckets\n{ENGLISH}"),
]
APART = [
    ("title", f"青山县防汛办法\n{BODY}", f"海丰市防汛办法\n{BODY}"),
    ("title", f"sort\n{BODY}", f"uniq\n{BODY}"),
    ("title", f"名称\nsvn：版本管理\n{BODY}", f"名称\nsvnadmin：仓库管理\n{BODY}"),
    ("title", f"chrome\n{BODY}", f"google-chrome\n{BODY}"),
    ("title", f"Flood rules of Ashford\n{ENGLISH}", f"Flood rules of Barton\n{ENGLISH}"),
    ("title", f"雨后的青山\n{BODY}\n送往青山。", f"海丰来信\n{BODY}\n送往海丰。"),
    ("title", f"In Ashford\n{ENGLISH}\nOr ask Ashford.", f"Barton now\n{ENGLISH}\nOr ask Barton."),
    ("title", STATUTE, f"关于修改{STATUTE.replace('规定', '规定的决定')}"),
    (
        "name",
        f"防汛办法\n{BODY}\n用 swriter 打开表格。",
        f"防汛办法\n{BODY}\n用 simpress 打开表格。",
    ),
    ("number", f"防汛办法\n{BODY}\n拨款25万元。", f"防汛办法\n{BODY}\n拨款37万元。"),
    ("provision", STATUTE, STATUTE.replace("成年人", "监护人")),
    ("provision", STATUTE, f"{STATUTE}\n第四条 本规定自公布之日起施行。"),
    ("provision", *(STATUTE.replace("第三条", "第 3 條") + end for end in ("", "并收容犬只。"))),
]


@pytest.mark.parametrize(("text", "kind"), KIND)
def test_the_kind_of_a_text_is_found(text, kind):
    assert kind_of(text, text) == kind


def test_a_pair_with_a_question_or_an_article_is_of_that_kind():
    article, question = f"防汛办法\n{BODY}", f"防汛办法\n{BODY}\n小组有几个？"
    assert kind_of(article, POST) == "article"
    assert kind_of(article, question) == "question"


@pytest.mark.parametrize(("a", "b"), SAME)
def test_changes_outside_the_subject_keep_no_articles_apart(a, b):
    assert guards_of(a, b) == []


@pytest.mark.parametrize(("guard", "a", "b"), APART)
def test_another_subject_keeps_articles_apart(guard, a, b):
    assert guards_of(a, b) == [guard]


def test_articles_with_few_words_in_common_have_probability_0():
    text = f"防汛办法\n{BODY}"
    likely = [verdict(text, one)["probability"] for one in (text, f"{text}\n附件一份。", RECIPE)]
    assert [one > 0 for one in likely] == [True, True, False]
    assert judge().verdict_reasons(text, RECIPE).probability == 0


def test_altered_articles_have_the_features_of_the_reference():
    rng, texts = random.Random(58), [a for _, a, _ in APART] + [b for _, b in SAME] + [RECIPE]
    pairs = []
    for text in texts * 6:
        lines = rng.choice(texts).split("\n")
        own = text.split("\n")
        at = rng.randrange(len(own))
        pairs.append(
            (text, "\n".join([*own[:at], rng.choice(lines), *own[at + rng.randrange(2) :]]))
        )
    check_pairs(pairs)


def test_a_text_without_words_has_a_kind():
    assert [kind_of(text, text) for text in ("", "\n\n\n\n")] == ["message"] * 2
    assert [kind_of(text, text) for text in ("？", "12")] == ["question"] * 2


def test_texts_with_more_words_than_the_first_hash_table_holds_are_compared():
    words = [f"word{i:05}x" if i % 12 else "end." for i in range(40_000)]
    text = f"Floods\n{' '.join(words)}"
    (found,), _ = compared([(text, text.replace("word00500x", "other"))])
    assert 0 < found["features"][FEATURE_NAMES.index("own_most")] < 0.001
