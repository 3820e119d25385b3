"""Guards keep their examples apart, and not pairs that say the same in other words."""

import json

import numpy as np
import pytest

from dedup_job.fingerprint import load_lexicon
from dedup_job.judgment import APART, JOINED, UNLIKELY, Judge
from dedup_job.judgment.model import shipped_model
from scripts.make_docs import GUARD_EXAMPLES
from tests.judgment.forms import guards_of, held_of, verdict

EXAMPLES = [
    pytest.param(name, *texts, id=f"{name}-{language}")
    for name, examples in GUARD_EXAMPLES.items()
    for language, texts in examples.items()
]
GUARDED = [
    ("opposite", "12除以3等于多少？", "12除3等于多少？"),
    ("opposite", "甲与乙同时发生的概率是多少？", "甲或乙同时发生的概率是多少？"),
    ("opposite", "他把猫追赶了一路，句意是什么？", "他被猫追赶了一路，句意是什么？"),
    ("opposite", "两数相同的概率是多少？", "两数不同的概率是多少？"),
    ("opposite", "Does he always tell the truth?", "Does he never tell the truth?"),
    ("opposite", "How did World War I begin?", "How did World War II begin?"),
    ("exchanged", "小明比小红多3个苹果", "小红比小明多3个苹果"),
    ("exchanged", "从北京到上海要多久？", "从上海到北京要多久？"),
    ("exchanged", "诗歌和散文各有特点，诗歌的特点是", "诗歌和散文各有特点，散文的特点是"),
    ("name", "简述孔子的思想", "简述孟子的思想"),
    ("number", "1945年5月8日发生了什么？", "1945年5月9日发生了什么？"),
    ("negation", "除氧气外，属于气体的是", "属于气体的是"),
]
INNOCENT = [
    ("计算3×10⁹除以5", "计算3×109除以5"),
    ("从10~15中任选一个数", "从10-15中任选一个数"),
    ("袋中有1个球，摸到它的概率是", "袋中有l个球，摸到它的概率是"),
    ("2020年的产量是多少？", "2O2O年的产量是多少？"),
    ("它的周长是多少厘米？", "它的周长=多少厘米？"),
    ("心率每次测3分后取平均值", "心率每次测3min后取平均值"),
    ("百分之五的盐水有多重？", "5%的盐水有多重？"),
    ("三万元的存款一年的利息", "30000元的存款一年的利息"),
    ("一根绳长5千米，剪成两段", "一根绳长5公里，剪成两段"),
    ("第十二条 当事人应当全面履行合同。", "第十五条 当事人应当全面履行合同。"),
    ("病人咳嗽三天。首选的检查是", "病人咳嗽三天。2．首选的检查是"),
    ("3. 简述光合作用的过程", "12、简述光合作用的过程"),
    ("（5分）简述光合作用的过程", "简述光合作用的过程"),
    ("进程与线程的区别", "进程与线程的不同"),
    ("废除旧制度的意义", "摧毁旧制度的意义"),
    ("蛋白质合成的场所", "合成蛋白质的场所"),
    ("延安时期的整风运动", "抗日战争中党开展的整风运动"),
    ("Plants make sugar from light.", "Plants make the sugar from light."),
    ("What is the colour of the sky?", "What is the color of the sky?"),
    ("It takes five minutes.", "It takes 5 minutes."),
    (
        "首都是 A. 南京 B. 上海 C. 广州 D. 西安",
        "首都是 A. 北京 B. 上海 C. 广州 D. 西安",
    ),
]


@pytest.mark.parametrize(("name", "a", "b"), [*EXAMPLES, *GUARDED])
def test_a_guard_holds_in_both_orders(name, a, b):
    assert guards_of(a, b) == [name]


@pytest.mark.parametrize(("a", "b"), INNOCENT)
def test_no_guard_holds_for_the_same_in_other_words(a, b):
    assert guards_of(a, b) == []


ROW = np.zeros(1, dtype=np.int64)
NAMES = GUARD_EXAMPLES["name"]["zh"]
NUMBERS = GUARD_EXAMPLES["number"]["zh"]


def judge_without(folder, *off, confidence=0.95):
    """Return a judge by the shipped model with some guards switched off."""
    file = folder / "model.json"
    file.write_text(json.dumps(json.loads(shipped_model()) | {"guards_off": off}), "utf-8")
    return Judge(load_lexicon(lambda _: None), confidence, file)


def apart(by, pair):
    found = verdict(*pair, by)
    return None if found["state"] == JOINED else APART[found["apart"]]


def test_a_guard_that_is_off_leaves_the_pair_to_the_model(tmp_path):
    usual, own = judge_without(tmp_path), judge_without(tmp_path, "name", confidence=1.0)
    assert (apart(usual, NAMES), apart(own, NAMES)) == ("name", UNLIKELY)
    assert apart(judge_without(tmp_path, "name", confidence=0.001), NAMES) is None
    assert apart(usual, NUMBERS) == apart(own, NUMBERS) == "number"


def test_the_reasons_of_a_pair_name_no_guard_that_is_off(tmp_path):
    usual, own = judge_without(tmp_path), judge_without(tmp_path, "name")
    assert usual.verdict_reasons(*NAMES).guards == ("name",)
    assert own.verdict_reasons(*NAMES).guards == ()
    one, two = (by.explain(([NAMES[0]], ROW, [NAMES[1]], ROW))[0] for by in (usual, own))
    assert held_of(one["guards"][0]) == held_of(two["guards"][0]) == ["name"]
    assert one["features"].tolist() == two["features"].tolist()
