"""The canonical form is the same for all notations of one content, and for no other."""

from __future__ import annotations

import random
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.judgment import MOST_LEFT_OUT
from dedup_job.judgment import forms as f
from dedup_job.judgment.canonical import forms_of, main_of
from dedup_job.judgment.words import Words
from dedup_job.native.code_points import TextColumn, pack
from tests.reference.canonical import Form, canonical
from tests.strings import NASTY

WORDS = Words.load(None)
FLAGS = {
    "question": f.QUESTION,
    "cut left": f.CUT_LEFT,
    "cut right": f.CUT_RIGHT,
    "explained": f.EXPLAINED,
    "spelling": f.SPELLING,
    "sequence": f.SEQUENCE,
    "short": f.SHORT,
}
PIECES = [
    # formulas
    r"\frac", r"\dfrac{1}{2}", r"\frac12", r"\sqrt", r"\sqrt[3]{x}", r"\sqrt[", r"\mathrm{H}",
    r"\%",
    r"\left(", r"\right)", r"\begin{array}{cc}", r"\end{array}", r"\alpha", r"\Delta", r"\sim",
    "\\",
    r"\textcircled{1}", r"\cdot", r"\leq", r"\prime", r"\unknown", r"\{", r"\}", "{", "}", "^",
    "_",
    "^2", "^{10}", "^{n+1}", "_{2}", "_{a b}", "^{-1}", "^-", "^{2+}", "^{--}", "^{''}", "^+", "²",
    "⁻¹", "ⁿ⁺¹", "₂", "ᴀ", "$", "$a^2$", "·", "m·s^-1", "·s^{-2}", "'", "x", "y", "ab", "log",
    # numbers
    "1", "2", "10", "3.50", "0", "007", "1,000", "1 000", "1,0000", "12", "999", ".5", "1.", "2o",
    "1oo", "10O 000", "5万", "1.5亿", "3万亿", "%", "½", "①", "㉑", "Ⅳ", "㎡", "℃", "㎝", "½",
    "一", "二", "十", "十一", "二十", "一百", "百", "千万", "零", "二〇二四", "两", "亿", "分之",
    "百分之", "个", "年", "米", "厘米", "千米", "度", "分", "第", "hours", "two", "Twenty", "-one",
    "hundred", "percent", "至", "～", "—", "~", "-", "--", "---",
    # labels and openings
    "A.", "B．", "\nA．", "\nB.", "\nC.", "\nD.", " A. ", "(A)", "（B）", "C、", "D)", "\na ",
    "\nb ",
    "\n1.", "\n2.", "\n3.", "\n(1)", "\n(2)", "\n(3)", "\n4)", "1.", "三、", "（3）", "第3题",
    "例3 ",
    "Question 3.", "2019年", "全国卷I", "高考", "模拟", "单选题", "：", "I.", "H.", "E.", "F.",
    "G.",
    # notes
    "答案：", "【答案】", "Answer: ", "[解析]", "解析：", "ACD", "B", "1", "来源：",
    "【考点】", "点击：",
    "本题共", "第 3 页", "page 1 of 3", "密·封·线", "阅读 3", "文/", "选自", "（3分）",
    "(2019·卷)",
    "(reprinted from x)", "[2019北京高考]", "（  ）", "____", "( A )", "(B)。",
    # links, calls, names, lists
    "[", "](/a/b.md)", "](#x)", "](http://a.b/c)", "](x)", "[words](/w)", "now()", "`()", "a__b",
    "__init__", "___", "\n* ", "a\n* b", "!",
    # images, emphasis, code
    "![](https://a.com/b/1.png)", "![](x/0a1b2c3d.png?x=1)", "![audio](a)",
    "![](data:image/x;base64,QQ)",
    "![](", "![]()", "!", "!=", "n!", "[重点]{.underline}", "[a b]{.bold}", "[]{.dots}", "[", "]",
    "]{.italic}", "```\nx = [1]\n```", "**", "*", " | ", "|", "/", "&", "<", ">", "<<", ">>", "#",
    # words
    "下列说法正确的是", "光合作用", "水", "的", "先", "求", "拼音", "說", "體積", "，", "。",
    "？", "!",
    "；", ".", ",", "…", "...", "“", "”", "《", "》", "(", ")", "（", "）", "·", " ", "\n",
    "\u3000",
    "\x1f", "\ufffc", "é", "Ａ", "１", "Я", "А", "𠮷", "𝑥", "🙂", "\ud800", "\U000f0000",
]  # fmt: skip
MADE = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def read(forms: f.Forms, i: int) -> Form:
    """Return form i as the naive version tells it."""
    points = forms.points[forms.offsets[i] : forms.offsets[i + 1]]
    text = points.tobytes().decode("utf-32-le", "surrogatepass")
    cuts, count = forms.cuts[i].tolist(), int(forms.counts[i])
    pieces = [text[a:b] for a, b in zip([0, *cuts], cuts, strict=False)]
    answer, emphasis = pieces[f.ANSWER], pieces[f.EMPHASIS]
    clauses = forms.clauses[forms.clause_offsets[i] : forms.clause_offsets[i + 1]]
    return Form(
        pieces[0],
        tuple(pieces[1 : count + 1]),
        tuple(answer.split(f.SEPARATOR)) if answer else (),
        tuple(emphasis.split(f.SEPARATOR)) if emphasis else (),
        tuple(clauses.tolist()),
        frozenset(name for name, flag in FLAGS.items() if forms.flags[i] & flag),
        round(float(forms.left_out[i]), 4),
    )


def native(*texts: str) -> list[Form]:
    forms = forms_of(pack(texts), WORDS, MOST_LEFT_OUT)
    return [read(forms, i) for i in range(len(texts))]


def mains(packed: TextColumn) -> list[str]:
    return [
        packed.points[a:b].tobytes().decode("utf-32-le", "surrogatepass")
        for a, b in zip(packed.offsets, packed.offsets[1:], strict=False)
    ]


LONG_ENOUGH = "此句只为让文字够长而写"


def stem(text: str) -> str:
    """Return how a text is written at the beginning of one that is long enough to be rewritten."""
    return native(f"{text}\n{LONG_ENOUGH}")[0].stem.removesuffix(LONG_ENOUGH)


@settings(max_examples=150)
@given(st.lists(MADE | st.text(st.characters()), max_size=4))
def test_it_agrees_with_the_naive_version(texts):
    assert native(*texts) == [canonical(text) for text in texts]


def test_it_agrees_with_the_naive_version_on_many_and_nasty_texts():
    rng = random.Random(11)
    texts = ["".join(rng.choices(PIECES, k=rng.randint(1, 40))) for _ in range(2000)]
    texts += [text[:400] for text in NASTY]
    for got, text in zip(native(*texts), texts, strict=True):
        assert got == canonical(text), text


@pytest.mark.parametrize(
    ("expected", "texts"),
    [
        # formulas
        ("a^2", ["a^2", "a²", "$a^2$", "$a^{2}$", "a^{2}", r"$\mathrm{a}^{2}$", "𝑎²"]),
        ("h2o", ["H₂O", "H_2O", "H_{2}O", r"$\mathrm{H}_{2} \mathrm{O}$", "H2O"]),
        ("1/2", ["1/2", "½", "二分之一", r"\frac{1}{2}", r"$\dfrac{1}{2}$", r"$\frac12$"]),
        ("(a+b)/c", [r"$\frac{a+b}{c}$", "(a+b)/c"]),
        ("√3", [r"$\sqrt{3}$", r"$\sqrt 3$", "√3"]),
        ("√(a+b)", [r"$\sqrt{a+b}$", "√(a+b)"]),
        ("2,3√x", [r"$2\sqrt[3]{x}$"]),
        ("x≤3", ["x≤3", r"$x\leq 3$", r"$x \leqslant 3$", "x⩽3", "x ≦ 3"]),
        ("2^(n+1)", ["2^{n+1}", "2^(n+1)", "2ⁿ⁺¹", r"$2^{n+1}$"]),
        ("so4^2-", ["SO₄²⁻", r"$\mathrm{SO}_{4}^{2-}$", "SO_4^{2-}"]),
        ("na+", ["Na⁺", "Na^+", r"$\mathrm{Na}^{+}$"]),
        ("cl-", ["Cl⁻", "Cl^-", r"$\mathrm{Cl}^{-}$"]),
        ("3m/s", ["3 m/s", "3m·s⁻¹", r"$3 \mathrm{~m} \cdot \mathrm{s}^{-1}$", "3米/秒"]),
        ("54km/h", ["54km/h", "54千米/小时", "54 公里/小时"]),
        ("10m/s^2", ["10m/s²", "10m·s^{-2}", "10 m/s^2"]),
        ("30°", ["30°", r"$30^{\circ}$", r"$30^\circ$", "30度", "30º"]),
        ("f'(x)", ["f'(x)", "f′(x)", r"$f^{\prime}(x)$"]),
        ("x^(1/2)", [r"$x^{\frac{1}{2}}$", r"$x^\frac{1}{2}$"]),
        ("δabc", ["△ABC", r"$\triangle ABC$", "Δ ABC"]),
        ("{1,2}", ["{1,2}", r"$\{1,2\}$"]),
        ("a×b", ["a×b", "a*b", r"$a\times b$"]),
        # numbers
        ("10年", ["十年", "10年", "１０年", "10 年"]),
        ("第125条", ["第125条", "第一百二十五条"]),
        ("2024年", ["二〇二四年", "2024年"]),
        ("3.5", ["3.5", "3.50", "３．５"]),
        ("12000", ["12000", "12,000", "12 000", "1.2万", "一万二千"]),
        ("300000000", ["3亿", "三亿"]),
        ("5%", ["5%", "百分之五", "5 percent", "５％", "百分之5"]),
        ("3/1000", ["千分之三", "3/1000"]),
        ("0.5", ["0.5", "x=.5"[2:], "0.50"]),
        ("5cm", ["5cm", "5厘米", "5 cm", "5㎝", "５ｃｍ"]),
        ("20m^2", ["20m²", "20平方米", "20㎡", "20 m^2"]),
        ("37°c", ["37℃", "37摄氏度", "37 °C"]),
        ("3-5天", ["3-5天", "3—5天", "3～5天", "3~5天", "3至5天", "3 - 5 天", r"$3\sim 5$天"]),
        ("twodogs".replace("two", "2"), ["two dogs", "2 dogs"]),
        ("21days", ["twenty-one days", "Twenty one days", "21 days"]),
        ("100", ["10O", "1o0", "100"]),
        # a word is no number
        ("一些人", ["一些人"]),
        ("千万不要", ["千万不要"]),
        ("十分之高兴", ["十分之高兴"]),
        ("一般", ["一般"]),
        # script, width, case
        ("说明体积", ["說明體積", "说明体积"]),
        ("abc", ["ＡＢＣ", "abc", "ABC", "АВС".replace("С", "C"), "ΑBC"]),
        ("甲(1)乙(2)", ["甲①乙②", "甲(1)乙(2)", "甲⑴乙⑵"]),
        # punctuation and blanks
        ("水的沸点是", ["水的沸点是____。", "水的沸点是（  ）", "水的沸点是？",
            "“水”的沸点，是：", "水的沸点是( )."]),
        ("甲乙", ["甲/乙", "甲—乙", "甲－乙", "甲、乙", "甲 | 乙", "**甲**乙"]),
        ("wellknown", ["well-known", "well known"]),
        # code, with a fence or without
        ("printx+1", ["```\nprint(x+1)\n```".replace("(", " ").replace(")", ""), "print x+1"]),
    ],
)  # fmt: skip
def test_one_content_in_many_notations(expected, texts):
    assert {text: stem(text) for text in texts} == dict.fromkeys(texts, expected)


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("张将", ["张的", "张将。", "張将"]),
        ("pH值", ["PH值", "ph值"]),
        ("x²", ["x2", "x^2", "$x^2$"]),
        ("1. 水", ["水", "2. 水"]),
        ("春天的花开了", ["春天花开了", "春天的花，开了"]),
    ],
)
def test_of_a_short_text_layout_and_width_alone_are_left_out(text, others):
    spaced = " ".join(text).translate({ord("2"): "２", ord("."): "．", ord("p"): "ｐ"})
    form, same, *rest = native(text, spaced, *others)
    assert form == same
    assert form not in rest
    assert "short" in form.flags
    assert [form, *rest] == [canonical(one) for one in (text, *others)]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("2^10", "210"),
        ("x²", "x2"),
        ("3.5", "35"),
        ("1, 2", "12"),
        ("n!+1", "n+1"),
        ("a/b", "ab"),
        ("-3", "3"),
        ("![](1.png)", "![](2.png)"),
        ("a<b", "a>b"),
        ("Fe^{2+}", "Fe^{3+}"),
        ("第三条", "第四条"),
        ("一半", "半"),
    ],
)
def test_what_is_not_the_same_stays_apart(text, other):
    assert stem(text) != stem(other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("作者：李白", "作者：杜甫"), ("知识点：勾股定理的证明", "知识点：三角函数的图像"),
        ("每小题选出答案后用铅笔涂黑。", "每小题的分值已经标在括号里。"),
        ("（2019年高考）", "（2020年高考）"),
        ("1. 来源：新华网", "1. 来源：人民网"),
    ],
)  # fmt: skip
def test_a_text_that_would_be_nothing_but_notes_is_what_it_says(text, other):
    assert stem(text) != stem(other)
    assert [native(one)[0] for one in (text, other)] == [canonical(text), canonical(other)]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("依法给予税收优惠，并给予扶持。", "转让的条件不得比他方优惠。"),
        ("先登录。在客户端执行命令甲。", "先登录。在客户端执行命令乙。"),
        ("夜间气温低至零下二十度。", "夜间气温低至零下三十度。"),
    ],
)
def test_words_of_advertisements_may_be_what_a_text_is_about(text, other):
    more = "下面这句话说的是同一件事，前后都一样。"
    assert stem(f"{more}{text}{more}") != stem(f"{more}{other}{more}")


QUESTION = "下列说法正确的是（ ）"
PASSAGE = "春天的清晨，山里的雾还没有散，老人已经挑着两筐新茶走在去集市的石板路上。"


@pytest.mark.parametrize(
    "text",
    [
        f"{QUESTION}\nA. 水\nB. 火\nC. 土",
        f"{QUESTION} A．水 B．火 C．土",
        f"{QUESTION}（A）水 （B）火 （C）土",
        f"{QUESTION}\nA、水\nB、火\nC、土",
        f"{QUESTION}\n(A) 水;\n(B) 火;\n(C) 土。",
        f"{QUESTION}\na) 水\nb) 火\nc) 土".replace(")", "."),
        f"{QUESTION}\n1. 水\n2. 火\n3. 土",
        f"5. {QUESTION}A.水B.火C.土D.".removesuffix("D."),
    ],
)
def test_choices_are_found_however_they_are_labelled(text):
    form = native(text)[0]
    assert form == canonical(text)
    if "A.水B" in text:  # glued to words, three labels could be something else
        assert form.choices == ()
    else:
        assert (form.stem, form.choices) == ("下列说法正确的是", ("水", "火", "土"))
        assert form.flags == {"question"}


def test_the_main_form_has_its_choices_sorted():
    asked = "下列说法正确的是"
    texts = [f"{asked}\nA. c\nB. a\nC. b", f"{asked}\nA. b\nB. c\nC. a", "水", ""]
    one = f.SEPARATOR.join([asked, "a", "b", "c"])
    assert mains(main_of(forms_of(pack(texts), WORDS, MOST_LEFT_OUT))) == [one, one, "水", ""]


@pytest.mark.parametrize(
    ("note", "answer"),
    [
        ("\n答案：A", ("水",)), ("\n【答案】AC", ("土", "水")), ("\n参考答案: A、C", ("土", "水")),
        ("\nThe correct answer: b", ("火",)), ("\n【解析】因为如此", ()), ("\n答案：因为如此",
            ("因为如此",)),
        ("\n解析：略。答案：C", ("土",)),
    ],
)  # fmt: skip
def test_the_answer_key_is_kept_by_its_words(note, answer):
    text = f"{PASSAGE * 2}\n{QUESTION}\nA. 水\nB. 火\nC. 土{note}"
    form = native(text)[0]
    assert form.choices == ("水", "火", "土")
    assert form.answer == answer
    assert form == canonical(text)


def test_more_than_eight_choices_belong_to_the_stem():
    letters = "ABCDEFGHIJ"
    form = native("选" + "".join(f"\n{letter}. 词{letter}" for letter in letters))[0]
    assert form.choices == ()
    assert form.stem.startswith("选a词ab词b")
    eight = native("选" + "".join(f"\n{letter}. 词{letter}" for letter in letters[:8]))[0]
    assert len(eight.choices) == 8


def test_an_image_is_its_file_name_where_that_is_distinctive():
    same = ["https://a.com/x/0f3a9b7c21.png?w=3", "http://b.org/0f3a9b7c21.png", "0f3a9b7c21.png"]
    assert len({stem(f"![]({address})") for address in same}) == 1
    path = ["https://a.com/x/1.png", "//b.org/x/1.png", "/x/1.png"]
    assert len({stem(f"![]({address})") for address in path}) == 1
    other = ["/x/1.png", "/x/2.png", "/y/1.png", "/x/1.png?a=1", "data:image/png;base64,QQ"]
    assert len({stem(f"![]({address})") for address in other}) == len(other)
    token = stem("![](1.png)")
    assert token[0] == f.IMAGE
    assert len(token) == 4
    assert all(0xF0000 <= ord(c) <= 0xFFFFF for c in token[1:])


def test_choices_may_be_images():
    form = native("下列图形是\nA. ![](1.png)\nB. ![](2.png)\nC. ![](3.png)")[0]
    assert [choice[0] for choice in form.choices] == [f.IMAGE] * 3


def test_emphasised_words_are_told_with_what_surrounds_them():
    form = native("下列加点的[银行]{.dots}读音是")[0]
    assert form.stem == "下列加点的银行读音是"
    assert form.emphasis == ("加点的|银行|读音",)
    assert "spelling" in form.flags


def test_clauses_end_where_the_writing_says():
    form = native("水是液体，沸点为100.5℃；冰是固体。")[0]
    assert form.stem == "水是液体沸点为100.5°c冰是固体"
    ends = form.clauses
    pieces = [form.stem[a:b] for a, b in zip((0, *ends), ends, strict=False)]
    assert pieces == ["水是液体", "沸点为100.5°c", "冰是固体"]


def test_flags():
    assert native("计算这个三角形的面积和周长")[0].flags == {"question"}
    assert native("水在高山上的沸点是多少？")[0].flags == {"question"}
    assert native("水在高山上的沸点是多少度呢")[0].flags == frozenset()
    assert native("……水沸腾以后就变成了水蒸气…")[0].flags == {"cut left", "cut right"}
    assert native("先加一勺水，再慢慢地加热")[0].flags == {"sequence"}
    assert native("先加水")[0].flags == {"sequence", "short"}


def test_threads_share_nothing():
    rng = random.Random(5)
    texts = ["".join(rng.choices(PIECES, k=60)) for _ in range(200)]
    expected = forms_of(pack(texts), WORDS, MOST_LEFT_OUT)
    wrong = []

    def work():
        for _ in range(5):
            got = forms_of(pack(texts), WORDS, MOST_LEFT_OUT)
            wrong.extend(1 for a, b in zip(got, expected, strict=True) if (a != b).any())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


HOSTILE = [
    "水" * 1_000_000, "a" * 1_000_000, "1" * 1_000_000, "一" * 1_000_000, "九千" * 500_000,
    "".join(f"\n{chr(65 + k % 26)}. 词{k}" for k in range(500)),
    "![](https://a.com/1.png)" * 10_000, "![" * 300_000, "![](" * 250_000,
    r"\frac{" * 100_000, r"\frac{1}{" * 100_000 + "}" * 100_000, r"\sqrt[" * 150_000,
    r"\sqrt{" * 100_000 + "1" * 100_000 + "}" * 100_000, r"\frac" * 100_000,
    "^{" * 300_000 + "'" * 100_000 + "}" * 300_000, "x_{" * 200_000 + "}" * 200_000, "^" * 500_000,
    "(" * 500_000 + ")" * 500_000, "[" * 1_000_000, "【" * 500_000, "（3" * 300_000,
    "{" * 1_000_000,
    "( " * 400_000, " " * 1_000_000, "\n" * 1_000_000, "1 " * 500_000, "1    " * 200_000,
    "1,000," * 200_000, "答案" * 400_000, "第" * 500_000, "第1" * 400_000, "A." * 500_000,
    "\nA.\nB." * 150_000, "\n1." * 300_000, "一分之" * 300_000, "-" * 1_000_000, "- " * 500_000,
    "~ " * 500_000, "[a]{.bold}" * 100_000, "ﷺ" * 200_000, "亿" * 500_000, "3亿" * 300_000,
    "_" * 1_000_000, "_ " * 500_000, "密 " * 400_000, "求" * 500_000, "。" * 1_000_000,
    "a_" * 500_000,
    "来源：" + "水" * 1_000_000, " 来源：\n" * 150_000, "twenty-" * 140_000, "\\" * 1_000_000,
]  # fmt: skip


@pytest.mark.measured
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:8].strip() or "blank")
def test_hostile_texts_take_linear_time(text):
    forms_of(pack(["a"]), WORDS, MOST_LEFT_OUT)  # compiled
    start = time.perf_counter()
    forms = forms_of(pack([text]), WORDS, MOST_LEFT_OUT)
    assert time.perf_counter() - start < 1.5, len(text)
    assert main_of(forms).offsets[-1] < 16 * len(text) + 64
    assert forms.clauses[-1:].sum() <= forms.cuts[0, 0] < sys.maxsize
