"""What a text has that the other one of a joined pair lacks."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dedup_job.documents import names_of
from dedup_job.judgment import RICHER, Judge
from dedup_job.native.code_points import pack
from dedup_job.settings import Settings

QUESTION = "下列哪种气体能使澄清石灰水变浑浊？\nA．氧气 B．氮气 C．二氧化碳 D．氢气"
STEM = "某同学用显微镜观察洋葱鳞片叶表皮细胞，要使视野变得明亮，应当采取的操作是"
PROSE = "昨日上午，市图书馆新馆正式向读者开放。馆内设有阅览座位两千余个，藏书一百二十万册。" * 4
NEWS = "开馆当天，数百名市民前来参观，对新馆的环境赞不绝口。"
EXPLANATION = (
    "解析：二氧化碳与氢氧化钙反应生成碳酸钙沉淀，所以澄清石灰水变浑浊，其余三种气体都不能。"
)
LONG = f"{PROSE}\n{QUESTION}"


@pytest.fixture(scope="module")
def judge() -> Judge:
    found = Settings().models().judge
    assert found is not None
    return found


def richer(judge: Judge, text: str, kept: str) -> tuple[str, ...] | None:
    row = np.zeros(1, dtype=np.int64)
    said = judge.judge(pack([text]), row, pack([kept]), row)
    return names_of(int(said.richer[0]), RICHER) if said.joined[0] else None


@pytest.mark.parametrize(
    ("more", "less", "names"),
    [
        (f"{QUESTION}\n答案：C", QUESTION, ("answer",)),
        (f"{LONG}\n答案：C\n{EXPLANATION}", LONG, ("answer", "explanation")),
        (f"{LONG}\n答案：C\n{EXPLANATION}", f"{LONG}\n答案：C", ("explanation",)),
        (QUESTION, QUESTION.removesuffix(" D．氢气"), ("choice",)),
        (f"{STEM}\nA．用平面镜 B．用凹面镜", STEM, ("choice",)),
        (QUESTION, QUESTION.removesuffix("气"), ("rest",)),
        (STEM, f"{STEM[:24]}……", ("rest",)),
        (f"{PROSE}{NEWS}", PROSE, ("rest",)),
        (PROSE.replace("。", f"。{NEWS}", 1), PROSE, ("sentence",)),
        (f"{PROSE[:40]}![](b/0a1b2c3d.png){PROSE[40:]}", PROSE, ("image",)),
        (QUESTION, QUESTION.replace("．", "、"), ()),
    ],
)
def test_what_one_text_has_more_is_named_and_the_other_has_nothing(judge, more, less, names):
    assert richer(judge, more, less) == names
    assert richer(judge, less, more) == ()


def test_texts_that_are_kept_apart_are_not_compared_so(judge):
    assert richer(judge, f"{QUESTION}\n答案：C", f"{QUESTION}\n答案：A") is None


FIRST = "本市鼓励社会力量参与公共文化服务，任何单位和个人都可以向主管部门提出意见和建议。"


@pytest.mark.parametrize(
    ("text", "kept", "same"),
    [
        (FIRST + PROSE, PROSE + NEWS, False),
        (PROSE + NEWS, FIRST + PROSE, False),
        (f"本报讯记者报道。{PROSE}", PROSE + NEWS, True),
        (PROSE + NEWS, PROSE, True),
        (PROSE, FIRST + PROSE, True),
    ],
    ids=["beginning and end", "end and beginning", "headline", "end", "beginning"],
)
def test_pieces_of_a_text_that_overlap_are_two(judge, text, kept, same):
    """Each says something that the other one does not."""
    assert (richer(judge, text, kept) is not None) is same


def test_long_english_texts_of_other_words_are_two_and_judged_soon(judge):
    """All are of the same letters; of runs of five they share few."""
    words = ["time", "people", "water", "number", "sound", "sentence", "river", "line"]
    draw = random.Random(5)
    texts = [" ".join(draw.choices(words, k=400)) for _ in range(2)]
    other = " ".join("".join(draw.sample(word, len(word))) for word in texts[0].split())
    assert richer(judge, texts[0], other) is None
    assert richer(judge, texts[0], texts[0].replace(" ", "  ")) == ()
