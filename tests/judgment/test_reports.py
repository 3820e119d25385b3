"""Kinds of differences that users of other tools reported, in two languages."""

import unicodedata

import pytest

from tests.judgment.forms import are_same, check, check_pairs, guards_of


def decomposed(text):
    return text, unicodedata.normalize("NFD", text)


LONG = "市植物园新引进的珙桐昨日完成移栽。移栽之前已经改良了土壤，并搭设了遮阴网。" * 2
ARTICLE = "The old mill at the river was opened again last week after years of careful repair. " * 2
CHOICES = "\nA. 铁\nB. 氧气\nC. 硫\nD. 水"
SAME = {
    "dates and counters of a page": [
        (LONG, f"2023/5/6 08:15:30\n{LONG}"),
        (f"2023年5月6日\n{LONG}", f"2024年1月2日\n{LONG}"),
        (f"2023-05-06\n{ARTICLE}", ARTICLE),
        (f"{LONG}\n阅读次数：35", f"{LONG}\n阅读次数：7801"),
        (f"更新日期：2023-05-06 点击量：8\n{LONG}", f"更新日期：2023-05-09 点击量：1000\n{LONG}"),
        (f"{LONG}\n上一条：春天的花\n下一条：秋天的果", LONG),
        (f"Last updated: 6 May 2023\n{ARTICLE}", f"Last updated: 7 June 2024\n{ARTICLE}"),
        (f"{ARTICLE}\nViews: 12", f"{ARTICLE}\nViews: 9,876"),
        (f"{ARTICLE}\nPrevious post: Spring\nNext post: Autumn", ARTICLE),
        (f"{ARTICLE}\nDisclaimer: views are those of the author alone", ARTICLE),
    ],
    "tags of a post": [
        (f"{before}{text}{behind}", text)
        for text in (LONG, ARTICLE.strip())
        for before, behind in (
            *(
                ("", " http://t.cn/a1b2"),
                ("#城市花园# ", ""),
                ("转：@花农: ", ""),
                ("[鼓掌]", "[心]"),
            ),
            *(
                ("", " (转)"),
                ("", "（via 花农日记）"),
                ("", " #garden# @Ann_9"),
                ("转发：", " https://a.org/x?y=1"),
            ),
        )
    ],
    "one picture under several names": [
        (f"How is glass blown? ![]({a})", f"How is glass blown? ![]({b})")
        for a, b in (
            ("https://pic1.z.cn/v2-0f36a_b.png", "https://pic2.z.cn/v2-0f36a_1440w.png"),
            ("//a.cn/u/cup.jpg!w300", "//a.cn/u/cup.jpg"),
            ("//a.cn/u/cup.jpg@!list", "//a.cn/u/cup.jpg@50p"),
            ("//a.org/w/thumb/c/c1/Cup.png/640px-Cup.png", "//a.org/w/c/c1/Cup.png"),
            ("//a.org/w/cup-1024x768.jpg", "//a.org/w/cup-150x150.jpg"),
            ("//a.org/w/cup-scaled.jpg", "//a.org/w/cup.jpg"),
            ("//a.cn/i/cup.jpg_400x400.jpg", "//a.cn/i/cup.jpg"),
            ("//a.org/max/800/cup.png", "//a.org/max/1600/cup.png"),
            ("//a.org/thumbs/cup.png", "//a.org/cup.png"),
        )
    ],
    "letter case of prose, labels and names": [
        ("What is the CAPITAL of France?", "what is the capital of france?"),
        ("Python的列表怎么排序", "python的列表怎么排序"),
        ("A dog saw a cat. Who ran?", "a dog saw a cat. who ran?"),
        ("属于气体的是（A）铁 （B）氧气 （C）硫", "属于气体的是(a)铁 (b)氧气 (c)硫"),
        ("一个充电宝的容量是5AH", "一个充电宝的容量是5Ah"),
        ("若A=3，求B", "若a=3，求b"),
    ],
    "choices without letters": [
        (question + mark.join(["", *choices]), question + mark.join(["", *choices[::-1]]))
        for question, *choices in (
            ("下列城市中，属于省会的是", "苏州", "南京", "青岛"),
            ("Which of these is a mammal?", "salmon", "dolphin", "ostrich"),
            ("水的沸点由____决定（　　）", "大气压强", "水的质量", "火的大小", "锅的颜色"),
        )
        for mark in ("\n", "\n- ", "\n• ", "|")
    ]
    + [
        ("省会是\n甲．苏州\n乙．南京\n丙．青岛", "省会是\n甲．南京\n乙．青岛\n丙．苏州"),
        ("Name a bird?\n① salmon\n② robin\n③ bear", "Name a bird?\n① bear\n② salmon\n③ robin"),
    ],
    "a distractor where the key tells that it is one": [
        (f"{question}{CHOICES}\n{key}B", f"{question}{other}\n{key}{letter}")
        for question, key in (
            ("常温下是气体的是", "答案："),
            ("Which of these is a gas?", "Answer: "),
            ("Is this a gas?", "答案："),
        )
        for other, letter in (
            ("\nA. 铜\nB. 氧气\nC. 硫\nD. 水", "B"),
            ("\nA. 水\nB. 硫\nC. 氧气\nD. 银", "C"),
        )
    ],
    "labels of the type": [
        (f"下列属于气体的是{CHOICES}", f"{label}下列属于气体的是{CHOICES}")
        for label in (
            *("（多选）", "『判断题』", "《多项选择题》", "判断题 ", "不定项选择题\n", "【单选】"),
            *("二、多选题（每题2分，共20分）\n3、", "三．单选题（共5题）\n", "考点：物质 "),
            *("T12、", "题型：单选 ", "难度：中等 ", "(Single choice) ", "Multiple choice: "),
        )
    ],
    "decomposed text": [
        *map(decomposed, ("拼音lǜ sè怎么写", "Où est l'élève", "ガラスのコップ", "한국어 질문")),
        *map(decomposed, ("Trường học tiếng Việt ở đâu", "Die Größe der Tür", "Ё и Й в слове")),
        ("tiê\u0323n", "tiện"),  # marks in another order
        ("ﾊﾞｽの時刻表", "バスの時刻表"),
    ],
    "forms of characters": [
        ("他看着远方笑着说", "他看著遠方笑著說"),
        ("𠮷着衣，拿着𠮷", "𠮷著衣，拿著𠮷"),  # beside a character beyond the basic plane
        ("⻢⻋走过⻓街", "马车走过长街"),
        ("⾦⽊⽔⽕⼟是什么", "金木水火土是什么"),  # Kangxi radicals
        ("\uf90a\uf96c是什么", "金塞是什么"),  # compatibility ideographs
        ("敍述守衞的職責", "叙述守卫的职责"),
        ("顯著的名著與著作", "显著的名著与著作"),
    ],
    "a sign more or none": [
        ("▲下列说法正确的是", "下列说法正确的是"),
        ("水的化学式是什么\uf0b7", "水的化学式是什么"),
        ("©水的化学式是什么", "水的化学式是什么"),
        ("😀 What is water made of?", "What is water made of?"),
        ("A *bold* word is set how?", "A bold word is set how?"),
        ("It costs $5 to enter the zoo", "It costs 5 to enter the zoo"),
    ],
    "punctuation that nobody asks about": [
        ("甲“乙”、“丙”，丁", "甲“乙”，“丙”；丁"),
        ("马克•吐温写了什么", "马克·吐温写了什么"),
        ("He said: 'no', then left!", "He said, 'no'; then left."),
        ("“水”的化学式是什么？", "「水」的化學式是什麼?"),
    ],
}
DIFFERENT = {
    "accents and tones": [
        (a, unicodedata.normalize("NFD", b))
        for a, b in (
            ("“好”的读音是hǎo吗", "“好”的读音是hào吗"),
            ("下列读音中与mā相同的是", "下列读音中与mǎ相同的是"),
            ("Que signifie le mot sûr ?", "Que signifie le mot sur ?"),
            ("「かき」の意味は何ですか", "「がき」の意味は何ですか"),
            ("Nghĩa của từ ma là gì", "Nghĩa của từ mã là gì"),
        )
    ],
    "another sign": [
        ("白眼♀与红眼♂杂交，子代的眼色是", "白眼♂与红眼♀杂交，子代的眼色是"),
        ("标价¥8的笔买2支多少钱", "标价€8的笔买2支多少钱"),
        ("A pen costs $8, two cost how much?", "A pen costs £8, two cost how much?"),
        ("What does the sign ☢ warn of?", "What does the sign ☣ warn of?"),
        ("◆代表男生，◇代表女生，◆有几个", "◆代表男生，◇代表女生，◇有几个"),
        ("Count the apples: 🍎🍎", "Count the apples: 🍎🍎🍎"),
        ("The die shows ⚂ now", "The die shows ⚃ now"),
        ("太阳从东方升起。√", "太阳从东方升起。×"),
        ("The sun rises in the east. ✔", "The sun rises in the east. ✘"),
        ("若角\uf061大于\uf062，则", "若角\uf062大于\uf061，则"),
        ("求y'''的值", "求y''的值"),
        ("Find the zeros of f''", "Find the zeros of f'"),
    ],
    "letter case that means something": [
        ("红果R对黄果r为显性，Rr与RR杂交，后代是", "红果R对黄果r为显性，Rr与rr杂交，后代是"),
        ("A cross of Tt and TT gives what?", "A cross of Tt and tt gives what?"),
        ("色盲女性XbXb与男性XBY结婚", "色盲女性XbXb与男性XbY结婚"),
        ("n=1, N=2, what is printed by print(n)?", "n=1, N=2, what is printed by print(N)?"),
        ("激光器的功率是3mW，它能", "激光器的功率是3MW，它能"),
        ("What can a 3 mV signal do? 8mV", "What can a 3 MV signal do? 8MV"),
        ("带宽50Mb每秒，下载要多久", "带宽50MB每秒，下载要多久"),
        ("How long does it take at 10 Mb/s?", "How long does it take at 10 MB/s?"),
        ("电阻为5 mΩ时发热多少", "电阻为5 MΩ时发热多少"),
        ("What does \\w match?", "What does \\W match?"),
        ("What does grep -v do?", "What does grep -V do?"),
        ("march这个单词怎么读", "March这个单词怎么读"),
        ("What does the word Turkey mean?", "What does the word turkey mean?"),
    ],
    "units of other sizes": [
        ("通过的电流是6毫安，电阻两端电压是多少", "通过的电流是6微安，电阻两端电压是多少"),
        ("A current of 6 mA flows. Find the charge.", "A current of 6 μA flows. Find the charge."),
        ("延时8ms之后输出什么", "延时8μs之后输出什么"),
        ("How many files fit into 4 GB?", "How many files fit into 4 MB?"),
    ],
    "which and how many": [
        ("刑法规定的主刑有哪些？", "刑法规定的主刑有多少？"),
        ("哪些行星有光环？", "多少行星有光环？"),
        ("Which planets have rings?", "How many planets have rings?"),
        ("In which years did it rain?", "In how many years did it rain?"),
    ],
    "another picture": [
        (f"看图回答问题 ![]({a})", f"看图回答问题 ![]({b})")
        for a, b in (
            ("//a.cn/rect_10x5.png", "//a.cn/rect_20x5.png"),
            ("//a.cn/fig_a.png", "//a.cn/fig_b.png"),
            ("//a.cn/p/60/1.png", "//a.cn/p/1003/1.png"),
            ("//a.cn/v2-0f3_b.png", "//a.cn/v2-0f4_b.png"),
            ("//img.png.cn/a.jpg", "//img.png.cn/b.jpg"),
            ("//a.cn/scan.jpg-1.png", "//a.cn/scan.jpg-2.png"),
        )
    ],
    "a distractor that may be the right one": [
        (
            f"下列属于固体的是{CHOICES}\n{end}",
            f"下列属于固体的是\nA. 铁\nB. 氮气\nC. 硫\nD. 酒精\n{end}",
        )
        for end in ("答案：A", "")
    ]
    + [(f"反应物是{CHOICES}\n答案：D", f"反应物是{CHOICES.replace('水', '酸')}\n答案：D")],
    "the order of what is no choice": [
        ("做这道菜的顺序：\n切菜\n炒菜\n装盘", "做这道菜的顺序：\n炒菜\n切菜\n装盘"),
        ("已知两点的坐标，若|AB|大于|CD|则", "已知两点的坐标，若|CD|大于|AB|则"),
        ("When did he rule?\n1066\n1087\n1100", "When did he rule?\n1087\n1066\n1100"),
    ],
    "a date, a label or a note that is asked about": [
        ("2023-05-06\n这一天是星期几", "2023-05-07\n这一天是星期几"),
        ("T1和T2信号有什么区别", "T2信号有什么区别"),
        (f"难度：易 下列属于金属的是{CHOICES}", f"难度：易 下列属于气体的是{CHOICES}"),
        (f"题型：单选\n下列属于金属的是{CHOICES}", f"题型：单选\n下列属于气体的是{CHOICES}"),
        ("（共3人）参加比赛需要几张票", "（共5人）参加比赛需要几张票"),
        ("Multiple choice tests measure what?", "Short answer tests measure what?"),
        ("判断题的特点是什么", "填空题的特点是什么"),
    ],
    "a sign that is asked about": [
        ("表达式a | b的结果是", "表达式a || b的结果是"),
        ("What does x != y mean?", "What does x = y mean?"),
        ("Let x = 6. What is x | y ?", "Let x = 6. What is x & y ?"),
        ("What does f(*args) do?", "What does f(**args) do?"),
        ("What does a[1:] return?", "What does a[:1] return?"),
        ("if (!found)何时成立", "if (found)何时成立"),
        ("标点“、”的用法是什么", "标点“，”的用法是什么"),
        ("“——”在文中的作用", "“……”在文中的作用"),
        ('What does ":" stand for?', 'What does ";" stand for?'),
        ("“後”字怎么读", "“后”字怎么读"),
        ("字符'A'的编码是多少", "字符'a'的编码是多少"),
    ],
}


@pytest.mark.parametrize(
    ("a", "b"), [pair for kind in SAME.values() for pair in kind], ids=lambda text: text[:9]
)
def test_texts_that_differ_in_notation_are_the_same(a, b):
    assert are_same(a, b)
    assert not guards_of(a, b)


@pytest.mark.parametrize(
    ("a", "b"), [pair for kind in DIFFERENT.values() for pair in kind], ids=lambda text: text[:9]
)
def test_signs_and_notes_that_are_asked_about_are_compared(a, b):
    assert guards_of(a, b) or not are_same(a, b)


def test_reported_pairs_have_the_features_of_the_reference():
    pairs = [pair for kinds in (SAME, DIFFERENT) for kind in kinds.values() for pair in kind]
    check([text for pair in pairs for text in pair])
    check_pairs(pairs)
