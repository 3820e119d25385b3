"""The form of a text: its parts and tokens, the same for all notations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job import _core
from dedup_job.judgment import tables
from dedup_job.native.bytes_column import strings_of
from tests.judgment.forms import are_same, canonical, check, judge
from tests.reference.form import form_of, parts_of
from tests.strings import NASTY, generated

QUESTIONS = [
    "12．（5分）下列关于細胞膜的敘述，不正确的是（　　）\nA．控制物质进出\nB．具有流动性\n"
    "C．全透性\nD．由磷脂和蛋白质组成\n【答案】C\n【解析】细胞膜具有选择透过性，而不是全透性，"
    "所以选项 C 的说法有误，A、B、D 三项的说法都没有错误。",
    "(2019年北京) 已知函数 $f(x)=\\frac{1}{2}x^{2}-\\ln x$，求单调区间. （本题满分 12 分）",
    "Question 7. Which of the following is NOT prime? (A) 2 (B) 3 (C) 9 (D) 11  Answer: C",
    "21. --- Have you finished reading Jane Eyre?\n--- No, I ____ my homework all day.\n"
    "A. was doing  B. would do  C. had done  D. do",
    "（三）阅读下面的文字，完成下列各题。\n　　我们在田野里散步：我，我的母亲，我的妻子和儿子。\n"
    "（选自莫怀戚《散步》，有删改）\n1. [加点]{.dot}的词语有什么作用？（4 分）\n2. 主旨是什么？",
    "如图 ![](https://a.org/img/12345678.png?w=3) 所示，∠A = 36.5°，为 1,000.50 cm²，x₁ = ______。",
    "阅读以下说明\n来源：2018年真题\n① 氯化钠 ② 氢氧化钠，其中属于碱的是\n1. 只有①\n2. 只有②\n"
    "3. ①②\n4. 都不是",
    "判断：$\\left\\{x \\mid x \\geqslant 2^{n+1}\\right\\}$ 是无限集。\nA. 对 B. 错\n答案：A",
    "The reaction 2H₂ + O₂ → 2H₂O takes place at 20 ℃; it's well-known that -3 < a-1 ≤ 4!",
]
PIECES = (
    "1. ", "第3题", "(12) ", "（三）", "[多选]", "例2、", "(2019 ", "2019年真题第48题", "1-2-3 ",
    "单选题 3、", "question 3 ", "\nA. ", " B．", "(C)", "D)", "\nE ", "\n1. ", "\n2、", "\n3)",
    "\n4.", "A.B.", "e.g", ";", "。", "答案：", "【答案】", "\nAnswer: C", "解析：", "\n来源：",
    "（5分）", "\n要求：", " Example 2: ", "\n（2）", "解析：(1) ", "点评：\n", "【提示】", "\n2. ",
    "的", "是", "(选自", ")", "本题共", "\n", "\\frac", "\\frac{1}{2}", "^{", "_{", "{", "}", "x^2",
    "\\%", "\\leq ", "\\mathrm{H}", "\\", "\\underline{", "\\begin{array}{c|c}", "\\end{array}",
    "^\\circ", "^{\\circ}", "~", "$", "`", "![", "![](", "https://a.org/1234567a.png", "[",
    "]{.dot}", "(1)", "(  )", "____", "f(1)=", "-", "a-1", "well-known", "isn't", "'", "3!", "|x|",
    "1,000", "3.50", "007", ".5", "1/2", "·", "不", "正确", "下列", "說法", "①", "❶", "½", "x²",
    "Ⅳ", "\ufdd0", "\ufdd2", "\u2028", "𝐀", "𠮷",
)  # fmt: skip


def test_questions_have_the_tokens_of_the_reference():
    check(QUESTIONS)


def test_strings_of_all_kinds_have_the_tokens_of_the_reference():
    check([text[:400] for text in (*NASTY, *generated(600, seed=39, more=PIECES))])


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_marks_in_any_order_have_the_tokens_of_the_reference(text):
    check([text])


def test_notes_and_choices_are_found_at_every_offset():
    marks = ("（5分）", "扫码看解析。", "\n答案：丙", "\nA. 丙 B. 丁", "{x}", "\n")
    check(
        [
            "甲" * before + mark + "乙" * behind
            for mark in marks
            for before in range(10)
            for behind in (0, 9)
        ]
    )


@given(st.sampled_from(QUESTIONS), st.sampled_from(QUESTIONS), st.randoms())
def test_edited_questions_have_the_tokens_of_the_reference(text, other, chance):
    for _ in range(chance.randrange(1, 6)):
        i, j = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        k = chance.randrange(len(other))
        pieces = ["", chance.choice(PIECES), other[k : k + 20], text[i:j] * 2]
        text = text[:i] + chance.choice(pieces) + text[j if j - i < 20 else i :]
    check([text])


SAME = {
    "numbering": [
        "水的化学式怎么写？",
        "1. 水的化学式怎么写？",
        "第12题 水的化学式怎么写？",
        "3-2-05 水的化学式怎么写？",
        "（三）水的化学式怎么写？",
    ],
    "paper": [
        "2019年真题第48题、水的化学式怎么写？",
        "[多选] 水的化学式怎么写？",
        "单选题 3、水的化学式怎么写？",
        "水的化学式怎么写？",
        "(2019年北京卷) 水的化学式怎么写？",
    ],
    "points": [
        "水的化学式怎么写？",
        "水的化学式怎么写？（5分）",
        "（本题满分 12 分）水的化学式怎么写？",
    ],
    "source": [
        "水的化学式怎么写？",
        "水的化学式怎么写？\n来源：某某中学",
        "水的化学式怎么写？（选自课本，有删改）",
    ],
    "notes of a page": ["水的化学式怎么写？", "点击：微信公众号。水的化学式怎么写？"],
    "answer": [
        "水的化学式怎么写？",
        "水的化学式怎么写？\n【答案】H2O",
        "水的化学式怎么写？ 答案：H2O",
    ],
    "script": ["細胞膜的結構與功能", "细胞膜的结构与功能"],
    "width and case": ["ＰＨ＝７，ｔ＞３", "pH=7, t>3"],
    "spaces": ["求 x 的 值", "求x的值", "求\u3000x\n的\u00a0值"],
    "layout of a question": ["下列说法正确的是", "说法正确的是", "请问下列说法正确的是"],
    "blanks": ["水是____。", "水是（　　）。", "水是\\underline{\\qquad}。", "水是 ___ ___。"],
    "order of choices": ["选出质数：\nA. 2\nB. 4\nC. 6", "选出质数：\nA. 6\nB. 2\nC. 4"],
    "labels": [
        "选质数：\nA. 2\nB. 4\nC. 6\nD. 8",
        "选质数：(A) 2 (B) 4 (C) 6 (D) 8",
        "选质数：\n1、2\n2、4\n3、6\n4、8",
    ],
    "fractions": ["求 \\frac{a}{b} 的值", "求 \\dfrac{a}{b} 的值", "求 $a/b$ 的值"],
    "powers": ["x² + 1", "x^2 + 1", "x^{2}+1", "$\\mathrm{x}^2+1$"],
    "degrees": ["30°", "30^\\circ", "30^{\\circ}", "30\\degree", "30º"],
    "signs": ["a ≤ b × c", "a \\leq b \\times c", "a\\leqslant{}b\\times{}c"],
    "numbers": ["1000 个", "1,000 个", "1000.0 个", "01000 个"],
    "circled": ["有 ① 氧气 ② 氢气", "有 (1) 氧气 (2) 氢气", "有 ❶ 氧气 ❷ 氢气"],
    "images": [
        "如图 ![](https://a.org/x/12345678.png)",
        "如图![图](http://b.com/12345678.png?w=2)",
    ],
    "a signed image": [
        "如图 ![](https://a.cn/p/1.png?Expires=1&OSSAccessKeyId=K&Signature=x)",
        "如图 ![](https://a.cn/p/1.png?X-Amz-Date=2&X-Amz-Signature=y)",
        "如图 ![](https://a.cn/p/1.png)",
    ],
    "a signed address without a file": [
        "如图 ![](https://a.cn/get?key=7f&e=1&token=K)",
        "如图 ![](https://a.cn/get?key=7f&e=2&token=L)",
    ],
    "a signed path": ["如图 ![](//a.cn/7f/1?sign=a&t=1)", "如图 ![](//a.cn/7f/1?sign=b&t=2)"],
    "an image not out of a cache": [
        "如图 ![](/1.gif?t=1)",
        "如图 ![](/1.gif?_=2&v=3)",
        "如图 ![](/1.gif?4567)",
    ],
    "an image of another size": ["如图 ![](/show?id=1&w=10)", "如图 ![](/show?id=1&width=20)"],
    "an image worked on": ["如图 ![](/a.jpg?imageView2/2/w/4)", "如图 ![](/a.jpg#from=paste)"],
}


@pytest.mark.parametrize("texts", SAME.values(), ids=SAME)
def test_texts_in_two_notations_are_the_same(texts):
    assert len(set(canonical(texts))) == 1, canonical(texts)
    assert all(are_same(texts[0], text) for text in texts)


OTHER = {
    "a sign": ["a-1", "a+1"],
    "a decimal point": ["3.5 米", "35 米"],
    "a power": ["x2", "x^2"],
    "an index": ["x_1", "x^1"],
    "brackets of a formula": ["(a+b)c", "a+(bc)"],
    "a fraction of sums": ["\\frac{a+b}{c}", "a+\\frac{b}{c}"],
    "a factorial": ["求 5! 的值", "求 5 的值"],
    "an interval": ["x 属于 [2,6]", "x 属于 (2,6)"],
    "an image": ["如图 ![](a/12345678.png)", "如图 ![](a/12345679.png)"],
    "an image of a server": ["如图 ![](/GetImage.ashx?id=1)", "如图 ![](/GetImage.ashx?id=2)"],
    "a number in a query": ["如图 ![](/img?type=3&no=1)", "如图 ![](/img?type=3&no=2)"],
    "a formula in a query": [
        "如图 ![](//a.cn/gif.latex?x%5E2)",
        "如图 ![](//a.cn/gif.latex?y%5E2)",
    ],
    "a query alone": ["如图 ![](?tex=x)", "如图 ![](?tex=y)"],
    "a part of a page": ["如图 ![](/1.jpg?top_left_y=1&w=2)", "如图 ![](/1.jpg?top_left_y=9&w=2)"],
    "a fragment alone": ["如图 ![](https://a.cn/#/a)", "如图 ![](https://a.cn/#/b)"],
    "a time that names it": ["如图 ![](/frame.php?t=1)", "如图 ![](/frame.php?t=2)"],
    "a sound": ["听 ![audio](/play?file=a.mp3)", "听 ![audio](/play?file=b.mp3)"],
    "what is asked": ["完成下列各题：水", "符合题目要求：水"],
}


@pytest.mark.parametrize("texts", OTHER.values(), ids=OTHER)
def test_texts_with_another_meaning_are_not_the_same(texts):
    assert not are_same(*texts)


def test_the_parts_of_a_question():
    assert judge().richness(QUESTIONS[:1]).tolist() == [[0, 4, 1, 1]]
    assert canonical(QUESTIONS[:1])[0].splitlines() == [
        "关于细胞膜叙述不正确",
        "全透性",
        "具有流动性",
        "控制物质进出",
        "由磷脂和蛋白质组成",
    ]


def test_a_text_that_is_a_note_alone_is_compared():
    assert canonical(["答案：水"]) == ["答案水"]


def test_text_behind_an_answer_mark_is_the_question_if_choices_follow():
    text = "解答：下列属于金属的是\nA. 铁\nB. 氧\nC. 硫"
    assert judge().richness([text]).tolist() == [[0, 3, 0, 0]]


def test_only_words_of_han_characters_have_an_idf():
    assert {tables.class_of(c) for word in tables.idf() for c in word} == {"han"}


def test_only_han_characters_negate():
    denies = _core.PHRASES["negating"]
    assert {tables.class_of(c) for c, kind in tables.phrases().items() if kind & denies} == {"han"}


def test_synonyms_are_the_same():
    assert are_same("这种说法是否正确", "这种表述是否正确")
    assert not are_same("这种说法是否正确", "这种办法是否正确")


@pytest.mark.parametrize("text", ["", " ", "\n\u3000\t ", "。。", "()", "\ufdd0\ufdd1\ufdd2", "}{"])
def test_a_text_without_words_has_an_empty_canonical_text(text):
    assert canonical([text]) == [""]


def test_lone_surrogates_are_left_out_and_invalid_utf8_is_refused():
    assert are_same("水\ud800火", "水 火")
    with pytest.raises(ValueError, match="text 1 is not UTF-8"):
        _core.sketch(strings_of(["水".encode(), b"\xe6\xb0"]), judge().core)


NUMBERED = ("（{}）", "({}) ", "{}. ", "{}、", "第{}题 ")
ASKED = (
    *("水的化学式怎么写", "是否存在这样的实数", "等腰三角形有哪些性质", "分析小说的人物形象"),
    *("个人所得税怎么计算", "Which of these is water", "为什么天空是蓝色的"),
)


@pytest.mark.parametrize("question", ASKED)
def test_a_number_before_a_question_is_left_out(question):
    texts = [numbered.format(n) + question for numbered in NUMBERED for n in (3, 5)]
    assert len(set(canonical([question, *texts]))) == 1


OF_A_SENTENCE = (
    *("（{}）的平方根是多少", "{}.的平方根是多少", "第{}题的答案有几个字", "({})² 的值是多少"),
    *(
        "（{}）是质数吗",
        "（{}）与（7）的和是多少",
        "（{}）乘以（4）等于多少",
        "（{}）开平方等于多少",
    ),
    *("（{}）千克等于多少克", "（{}）个苹果分给三人", "（{}）人分成两组", "（{}）÷（4）是多少"),
    *("({}) squared is what number", "({}) plus four makes what", "({}) of the apples are red"),
    *("({})$\\times 4$等于多少", "{}. + 4 等于多少", "({}) 米长的绳子剪成两段"),
)


@pytest.mark.parametrize("text", OF_A_SENTENCE)
def test_a_number_within_a_sentence_is_compared(text):
    assert len(set(canonical([text.format(3), text.format(5)]))) == 2


@pytest.mark.parametrize("text", ["甲队（{}分）胜乙队", "He won ({} points) in this game"])
def test_points_inside_a_sentence_are_compared(text):
    assert len(set(canonical([text.format(3), text.format(5)]))) == 2


POINTS = (
    *("求下列各式的值。（{}分）", "求下列各式的值（{}分）。", "（{}分）求下列各式的值"),
    *("3.（{}分）求下列各式的值", "（本题满分{}分）求下列各式的值", "求下列各式的值（共{}分），"),
)


@pytest.mark.parametrize("text", POINTS)
def test_points_before_or_behind_a_sentence_are_left_out(text):
    assert set(canonical([text.format(5)])) == set(canonical(["求下列各式的值"]))


M = 1_000_000
MARKS = (
    *("(", "{", "[", "\\", "![", "![](", "A. ", "答案：", "_ ", "\\frac{", "^{", "\\frac{1}{"),
    *("\n来源：", "(a+", "[2,", " ", "水", "a", "1", "1,000,", "$", "-", "- ", "|", "第1", "(1)"),
    *("[a]{.b}", "\nA.\nB.", "\n1.", "答案：A. 水 B. 火\n", "ﷺ", "1-", "真题第1", "(三)", "例1、"),
)
HOSTILE = [
    *(mark * (M // len(mark)) for mark in MARKS),
    *(mark * (M // 2) + close * (M // 2) for mark, close in ("{}", "()", "[]")),
    "下列正确的是" + "".join(f"\n{chr(65 + k % 8)}. 词{k}" for k in range(500)),
    "下列正确的是" + "".join(f"\n{chr(65 + k % 26)}. 词{k}" for k in range(500)),
]


def test_richness_counts_images_choices_answers_and_explanations():
    texts = [*QUESTIONS, *generated(100, seed=5, more=PIECES)]
    found = judge().richness(texts).tolist()
    assert all(map(any, zip(*found, strict=True)))
    for (images, choices, answer, explained), text in zip(found, texts, strict=True):
        form = form_of(text)
        assert images == len(parts_of(text).images)
        assert choices == len(form.choices)
        assert answer == bool(form.answer)
        assert explained == (sum(len(token.text) for token in form.explanation) >= 10)
