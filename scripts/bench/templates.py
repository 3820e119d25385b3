"""A bank of templates: questions that differ in one number or one word, and planted duplicates."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import jieba

_LETTERS = "ABCD"
_NOTES = ("【2019·全国卷I】", "（2021·某市模拟）", "[2018年期末考试]")
_WIDE = {point: point + 0xFEE0 for point in range(0x21, 0x7F)}
_NARROW = str.maketrans("，。；：？（）", ",.;:?()")
_MEANING = "不没无非未过一二两三四五六七八九十百"  # without one of these it is another question
_LEAST_FREQUENCY = 50  # of a word in jieba's dictionary

_BY_NUMBER = (
    (
        "某工厂计划在一个月内生产一批零件，前8天每天生产{}个，余下的每天比原来多生产15个，结果提前3天完成任务，"
        "这批零件一共有多少个？请写出解答过程。",
        (),
    ),
    (
        "一辆汽车以每小时{}千米的速度从甲地开往乙地，行驶2小时后因故停留半小时，要按原定时间到达，余下的路程"
        "速度应提高多少？下列说法中正确的是（ ）",
        ("每小时提高10千米", "每小时提高12千米", "每小时提高15千米", "速度不必改变"),
    ),
    (
        "在标准状况下，将{}毫升二氧化碳缓缓通入足量的澄清石灰水中，充分反应后过滤、洗涤、干燥，称量所得沉淀的"
        "质量。若改为通入过量的二氧化碳，所得沉淀的质量将如何变化（ ）",
        ("增大", "减小", "不变", "先增大后减小直至为零"),
    ),
    (
        "A shop sells {} boxes of apples in the first week and twice as many in the second. If "
        "each box weighs 12 kilograms, how many kilograms of apples does it sell in both weeks?",
        (),
    ),
)
_BY_WORD = (
    (
        "阅读材料，回答问题：某地博物馆近日展出了一批与“{}”有关的文物，参观者认为它们反映了当时社会经济的发展"
        "水平。请结合所学知识，概括其历史背景，并说明这些文物的价值。",
        (),
    ),
    (
        "下列有关“{}”的叙述，符合题意的是（ ）",
        (
            "它在日常生活中应用十分广泛",
            "它的出现与当时的社会条件密切相关",
            "它对后来的发展没有产生影响",
            "它只存在于少数地区的个别场合",
        ),
    ),
    (
        "请以“{}”为话题写一篇不少于八百字的文章，文体自选，立意自定，不要脱离材料的内容及含意作文，不要套作，"
        "不得抄袭，不得泄露个人信息。",
        (),
    ),
    (
        "某同学在整理笔记时写下了一段话，其中提到了{}这一概念。老师指出，理解它要注意适用的条件和范围，"
        "不能生搬硬套。你认为老师这样说的理由是什么？试举一例加以说明。",
        (),
    ),
)


@dataclass(frozen=True, slots=True)
class Bank:
    """Texts in order; of: the place of what each repeats, or -1; typo: whether with one.

    A repetition comes after what it repeats.
    """

    texts: list[str]
    of: list[int]
    typo: list[bool]


def template_bank(questions: int, planted: int, seed: int = 1) -> Bank:
    """Make a bank of so many questions, with `planted` repetitions and as many mistyped ones.

    Each question differs from the others of its template in one number or one word.
    """
    rng = random.Random(seed)
    made = _questions(questions, rng)
    rng.shuffle(made)
    chosen = rng.sample(range(questions), 2 * planted)
    later: dict[int, list[tuple[int, bool]]] = {}
    for i, base in enumerate(chosen):
        later.setdefault(rng.randrange(base, questions), []).append((base, i >= planted))
    texts, of, typo, places = list[str](), list[int](), list[bool](), list[int]()
    for number, (stem, choices) in enumerate(made):
        places.append(len(texts))
        texts.append(_written(stem, choices))
        of.append(-1)
        typo.append(False)
        for base, mistyped in later.get(number, ()):
            texts.append(_again(*made[base], rng, mistyped=mistyped))
            of.append(places[base])
            typo.append(mistyped)
    return Bank(texts, of, typo)


def _questions(count: int, rng: random.Random) -> list[tuple[str, Sequence[str]]]:
    """Return so many questions, as many of each template."""
    templates = [*_BY_NUMBER, *_BY_WORD]
    each = -(-count // len(templates))
    words = _words(each, rng)
    numbers = rng.sample(range(100, 100 + 4 * each), each)
    made = [(stem.format(n), choices) for stem, choices in _BY_NUMBER for n in numbers]
    made += [(stem.format(word), choices) for stem, choices in _BY_WORD for word in words]
    return made[:count]


def _words(count: int, rng: random.Random) -> list[str]:
    """Return distinct words of two or three characters from jieba's dictionary."""
    jieba.setLogLevel("ERROR")
    jieba.initialize()
    found = sorted(
        word
        for word, frequency in jieba.dt.FREQ.items()
        if 2 <= len(word) <= 3 and frequency >= _LEAST_FREQUENCY and word.isalpha() and word > "一"
    )
    return rng.sample(found, count)


def _written(stem: str, choices: Sequence[str]) -> str:
    lines = (f"{letter}. {choice}" for letter, choice in zip(_LETTERS, choices, strict=False))
    return "\n".join([stem, *lines])


def _again(stem: str, choices: Sequence[str], rng: random.Random, *, mistyped: bool) -> str:
    """Write a question in another form: all but one of five ways at random; or with a typo, too."""
    mine = list(choices)
    ways = rng.sample(range(5), rng.randint(1, 3))
    if mistyped:
        stem = _mistyped(stem, rng)
    if 0 in ways:
        stem = stem.translate(_NARROW)
    if 1 in ways and choices:
        rng.shuffle(mine)
    text = _written(stem, mine)
    if 2 in ways:
        text = text.translate(_WIDE)
    if 3 in ways:
        text = rng.choice(_NOTES) + text
    number = f"{rng.randint(1, 60)}. "
    return number + text if 4 in ways or text == _written(stem, choices) else text


def _mistyped(stem: str, rng: random.Random) -> str:
    """Lose or double a character in the last third, which is the template's own."""
    places = range(2 * len(stem) // 3, len(stem) - 2)
    at = rng.choice([i for i in places if stem[i].isalpha() and stem[i] not in _MEANING])
    return stem[:at] + stem[at] * rng.choice((0, 2)) + stem[at + 1 :]
