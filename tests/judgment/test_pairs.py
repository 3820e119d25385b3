"""The native judge of canonical forms, beside the naive one of tests/reference/judge.py."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.fingerprint.settings import FingerprintSettings
from dedup_job.judgment import CLASSES, HARMLESS, Judge, bits_of
from dedup_job.judgment.hunks import make_pair_workspace
from dedup_job.judgment.judge import FormPairs, Verdicts, judge_forms
from dedup_job.judgment.lookups import Tables, judge_tables
from tests.judgment.packing import packed
from tests.reference import judge as reference_judge
from tests.reference.judge import Form

WORDS = [
    *("的", "了", "是", "在", "为", "则", "一", "哪项", "什么", "下列", "说法", "表述"),
    *("叙述", "正确", "错误", "不正确", "增大", "变大", "至多", "最多", "无法", "不能", "不", "没"),
    *(
        "光合",
        "作用",
        "植物",
        "叶绿体",
        "细胞",
        "膜",
        "神经",
        "动脉",
        "静脉",
        "气候",
        "气侯",
        "特征",
    ),
    *("持征", "碘酒", "磺酒", "大会", "太会", "受益", "收益", "人", "入", "十", "三", "二十"),
    *("两", "12", "3", "0.5", "1,000", "007", "x", "y", "ab", "cd", "+", "-"),
    *("=", "(", ")", "[", "]", "|", "^", "√", "/", "α", "￼\U000f1234", "早期"),
    *("早起", "早其", "䒩", "菌", "the", "of", "lo", "l0", "1", "i"),
]
PIECES = st.lists(st.sampled_from(WORDS), max_size=24)
FLAGS = st.fixed_dictionaries(
    {
        name: st.booleans()
        for name in (*("question", "cut_left", "cut_right", "spelling"), *("sequence", "short"))
    }
)


@pytest.fixture(scope="module")
def tables() -> Tables:
    lexicon = load_lexicon(FingerprintSettings(), lambda _: None)
    groups: dict[int, list[str]] = {}
    synonyms, function = reference_judge.words()
    for word, numbers in synonyms.items():
        for number in numbers:
            groups.setdefault(number, []).append(word)
    alike = tuple(tuple(groups[n]) for n in sorted(groups))
    return judge_tables(lexicon, alike, tuple(sorted(function)))


def form_of(clauses: list[list[str]], choices: list[list[str]], flags: dict[str, bool]) -> Form:
    whole = ["".join(clause) for clause in clauses]
    return Form(
        "".join(whole),
        ["".join(choice) or "无" for choice in choices],
        clauses=[clause.lstrip(",") for clause in whole if clause.lstrip(",")],
        **flags,
    )


def edited(draw: st.DrawFn, pieces: list[str]) -> list[str]:
    """Change a few words: so most pairs are near each other, as those that are judged."""
    out = list(pieces)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(out)))
        match draw(st.sampled_from(["put", "drop", "change", "move"])):
            case "put":
                out.insert(at, draw(st.sampled_from(WORDS)))
            case "drop":
                del out[at : at + 1]
            case "change":
                out[at : at + 1] = [draw(st.sampled_from(WORDS))]
            case _:
                out = out[at:] + out[:at]
    return out


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Form, Form]:
    clauses = draw(st.lists(PIECES, min_size=1, max_size=4))
    choices = draw(st.lists(PIECES, max_size=4))
    long = draw(st.sampled_from([1, 1, 1, 12]))
    one = form_of(clauses * long, choices, draw(FLAGS))
    others = [edited(draw, c) for c in draw(st.permutations(choices))][: draw(st.integers(0, 4))]
    stem = [edited(draw, clause) for clause in clauses * long]
    return one, form_of(stem, others, draw(FLAGS))


def verdicts(a: Form, b: Form, tables: Tables) -> Verdicts:
    row = np.zeros(1, dtype=np.int64)
    harmless = np.uint64(bits_of(HARMLESS))
    pairs = FormPairs(packed([a]), row, packed([b]), row)
    return judge_forms(pairs, tables, harmless, make_pair_workspace())


@given(pair=pairs())
@settings(max_examples=40)
def test_the_native_judge_says_what_the_naive_one_says(pair, tables):
    a, b = pair
    found = reference_judge.judge(a, b)
    said = verdicts(a, b, tables)
    assert bool(said.joined[0]) == reference_judge.is_harmless(found)
    if said.joined[0]:
        names = {str(CLASSES[code]) for code in range(64) if int(said.classes[0]) >> code & 1}
        assert names == ({f.kind for f in found} or {"layout"})
        assert said.differences[0] == len(found)
    else:
        harmful = [f.kind for f in found if f.kind not in reference_judge.HARMLESS]
        assert CLASSES[said.refused[0]] == harmful[0]


def test_one_judge_serves_many_threads_at_once():
    rng = random.Random(7)
    texts = ["".join(rng.choices(WORDS, k=60)) for _ in range(200)]
    others = ["".join(rng.sample(text, len(text))) for text in texts]
    rows = np.arange(len(texts))
    judge = Judge(load_lexicon(FingerprintSettings(), lambda _: None))
    expected = judge.judge(texts, rows, others, rows)
    with ThreadPoolExecutor(4) as pool:
        again = [pool.submit(judge.judge, texts, rows, others, rows) for _ in range(12)]
    for said in again:
        for column, first in zip(said.result(), expected, strict=True):
            assert np.array_equal(column, first)


@given(pair=pairs())
@settings(max_examples=60)
def test_the_order_of_a_pair_does_not_matter(pair, tables):
    a, b = pair
    one, other = verdicts(a, b, tables), verdicts(b, a, tables)
    assert one.joined == other.joined
    assert one.classes == other.classes
    assert one.refused == other.refused


@pytest.mark.parametrize(("own", "strange"), [(150, False), (250, True)])
def test_pages_that_share_less_than_half_are_not_taken_apart(own, strange, tables):
    letters = random.Random(18)
    common, *rest = ("".join(letters.choices("abcdefgh", k=n)) for n in (400, *[own] * 4))
    a, b = Form(rest[0] + common + rest[1]), Form(rest[2] + common + rest[3])
    assert (reference_judge.edits(a.stem, b.stem) is None) == strange
    found, said = reference_judge.judge(a, b), verdicts(a, b, tables)
    assert said.differences[0] == len(found)
    assert CLASSES[said.refused[0]] == next(f.kind for f in found if f.kind not in HARMLESS)


@pytest.mark.parametrize(
    ("a", "b", "size"),
    [("甲" * 1_000_000, "乙" * 1_000_000, 1), ("ab" * 500_000, "ba" * 500_000, 1)],
    ids=["all unlike", "shifted"],
)
def test_a_million_characters_without_a_break_are_judged(a, b, size, tables):
    said = verdicts(Form(a), Form(b), tables)
    assert len(said.joined) == size
