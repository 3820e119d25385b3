"""Features and guards of a pair in words; guards keep two texts apart, whatever the model says."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from dedup_job import _core
from dedup_job.messages import Message

RULES: Final = 6
"""Version of the rules: of cleaning, forms, differences, guards and features."""

_MEANINGS: Final[Mapping[str, Message]] = {
    "pieces": Message("places of the question that differ: {value}"),
    "forms": Message("places that differ only in notation or light words: {value}"),
    "grammar": Message("light words that differ: {value}"),
    "begin": Message("words at the beginning that are equal: {value}"),
    "edge_share": Message("whole clauses that only one text has: {value:.0%} of the question"),
    "inserted_max": Message("weight of the rarest word that is inserted: {value}"),
    "replaced": Message("places where words are replaced: {value}"),
    "replaced_min": Message("weight of the words that are replaced, of the lighter side: {value}"),
    "replaced_share": Message("words that are replaced: {value:.0%} of the question"),
    "unlike": Message("words replaced by ones that neither look nor sound alike: {value}"),
    "unlike_max": Message("weight of the rarest word that is replaced by an unlike one: {value}"),
    "unlike_min": Message(
        "weight of the words replaced by unlike ones, of the lighter side: {value}"
    ),
    "unlike_ratio": Message("characters in common where words are replaced: {value:.0%}"),
    "contained": Message("words replaced by a part of them: {value}"),
    "length": Message("characters of the question: {value}"),
    "letters_min": Message(
        "characters that one text has and the other lacks, of the fewer: {value}"
    ),
    "letters_max": Message(
        "characters that one text has and the other lacks, of the more: {value}"
    ),
    "han": Message("Chinese characters: {value:.0%} of the question"),
    "notation": Message("numbers, letters and signs: {value:.0%} of the question"),
    "numbers": Message("numbers in common: {value}"),
    "own_most": Message(
        "words that each text has and the other lacks: {value:.0%} of the one with more"
    ),
    "named_most": Message(
        "weight of the word that names each text and that the other lacks, of the heavier: {value}"
    ),
    "held": Message("words of one text that the other holds: {value:.0%}"),
    "clauses_most": Message("text without a difference: {value:.0%} of the one with more"),
    "title_most": Message("weight of the words of one title that the other lacks: {value}"),
    "choices_unmatched": Message("choices without a counterpart: {value:.0%}"),
    "choices_order": Message("order of the choices: another one"),
    "choices_weight": Message("weight of the choices that are equal: {value}"),
    "choices_length": Message("characters of a choice: {value}"),
    "choices_apart": Message("characters by which the choices differ: {value}"),
    "choices_letters_min": Message(
        "characters of the choices that one text lacks, of the fewer: {value}"
    ),
    "choices_letters_max": Message(
        "characters of the choices that one text lacks, of the more: {value}"
    ),
}
_OF: Final[Mapping[str, str]] = {  # what has to be there
    **dict.fromkeys(("unlike_max", "unlike_min", "unlike_ratio", "contained"), "unlike"),
    **dict.fromkeys(("replaced_min", "replaced_share"), "replaced"),
    **{one: one for one in ("forms", "grammar", "inserted_max", "replaced", "edge_share")},
    "choices_order": "choices_order",
}
_CONTEXT: Final = frozenset(
    (
        *("begin", "length", "han", "notation", "choices_length"),
        *("own_least", "named_least", "clauses_least"),  # the greater of the two says it
    )
)


def in_words(name: str, features: Mapping[str, float]) -> str:
    """Return a sentence on a feature of a pair, "" if it says nothing of its own."""
    if name in _CONTEXT or (name.startswith("choices_") and not features["choices_length"]):
        return ""
    if not features[_OF.get(name, name)] and name in _OF:
        return ""
    meaning, value = _MEANINGS[name], features[name]
    return Message(meaning, value=value if "%" in meaning else f"{value:.3g}")


class Guard(NamedTuple):
    """why: what it says. Examples are two texts that it keeps apart, in English and Chinese."""

    name: str
    why: str
    example: tuple[str, str]
    example_zh: tuple[str, str]


_SENTENCES: Final = {
    "number": (
        "Another number, also in a choice that states something; one more or fewer in a formula.",
        ("How many legs do 3 dogs have?", "How many legs do 4 dogs have?"),
        ("一个三角形的底是6厘米，求面积", "一个三角形的底是8厘米，求面积"),
    ),
    "name": (
        "Another person, place or organisation, written in Chinese.",
        ("What did 鲁迅 write?", "What did 巴金 write?"),
        ("杜甫的诗歌有什么特点？", "白居易的诗歌有什么特点？"),
    ),
    "blanks": (
        "Another word is to be filled in.",
        ("The ____ of France is Paris.", "The capital of France is ____."),
        ("____是鲁迅的短篇小说集", "《呐喊》是____的短篇小说集"),
    ),
    "unit": (
        "Another unit.",
        ("A rope is 5 m long. Cut it in two.", "A rope is 5 km long. Cut it in two."),
        ("一根绳子长5米，剪成两段", "一根绳子长5千米，剪成两段"),
    ),
    "formula": (
        "Another sign, letter or term in Latin letters.",
        ("Solve x+y=1 for x.", "Solve x-y=1 for x."),
        ("已知a>b，下列成立的是", "已知a<b，下列成立的是"),
    ),
    "negation": (
        "One denies what the other says.",
        ("Which of these is a mammal?", "Which of these is not a mammal?"),
        ("下列属于哺乳动物的是", "下列不属于哺乳动物的是"),
    ),
    "mood": (
        "One asks whether it is so, the other states it.",
        ("Is the new bridge open?", "The new bridge is open."),
        ("新的大桥通车了吗？", "新的大桥通车了。"),
    ),
    "opposite": (
        "Words that exclude each other: opposites, directions, relations.",
        ("Find the highest mountain.", "Find the lowest mountain."),
        ("产量增加到2倍，求产量", "产量增加了2倍，求产量"),
    ),
    "exchanged": (
        "Who does what to whom is exchanged, or it asks for the other of two things both name.",
        ("Did Rome defeat Carthage?", "Did Carthage defeat Rome?"),
        ("甲班比乙班多几人？", "乙班比甲班多几人？"),
    ),
    "image": (
        "Another image.",
        ("Name the animal. ![](/img/fox.png)", "Name the animal. ![](/img/dog.png)"),
        ("看图写话。![](/img/fox.png)", "看图写话。![](/img/dog.png)"),
    ),
    "emphasis": (
        "Another word is emphasised.",
        (
            "Explain the [old]{.underline} word here.",
            "Explain the old [word]{.underline} here.",
        ),
        ("解释加点字：[学]{.underline}而时习之", "解释加点字：学而[时]{.underline}习之"),
    ),
    "answer": (
        "The keys say different things.",
        (
            "Water is made of what? A. iron B. hydrogen C. gold\nAnswer: B",
            "Water is made of what? A. iron B. hydrogen C. gold\nAnswer: C",
        ),
        (
            "水由什么组成？A. 铁 B. 氢和氧 C. 金\n答案：B",
            "水由什么组成？A. 铁 B. 氢和氧 C. 金\n答案：C",
        ),
    ),
    "choice_negation": (
        "A choice denies what its counterpart says.",
        (
            "What is true? A. Whales are fish B. Bats are birds C. Ants are insects",
            "What is true? A. Whales are not fish B. Bats are birds C. Ants are insects",
        ),
        (
            "正确的是 A. 鲸鱼属于鱼类动物 B. 蝙蝠是鸟类 C. 蚂蚁是昆虫",
            "正确的是 A. 鲸鱼不属于鱼类动物 B. 蝙蝠是鸟类 C. 蚂蚁是昆虫",
        ),
    ),
    "choice_opposite": (
        "A choice says the opposite of its counterpart.",
        (
            "What happens? A. The pressure increases B. Nothing C. It melts",
            "What happens? A. The pressure decreases B. Nothing C. It melts",
        ),
        (
            "会发生什么 A. 容器内压强增大 B. 没有变化 C. 物体燃烧",
            "会发生什么 A. 容器内压强减小 B. 没有变化 C. 物体燃烧",
        ),
    ),
    "title": (
        "The titles of two articles name different things.",
        (
            "sort\n\nSorts lines of text.\nA file may be named.\nThe result is printed.",
            "uniq\n\nFilters lines of text.\nA file may be named.\nThe result is printed.",
        ),
        (
            "青山县防汛办法\n全县做好防汛工作。\n各乡镇设值班电话。\n汛期结束后报告。",
            "海丰市防汛办法\n全市做好防汛工作。\n各乡镇设值班电话。\n汛期结束后报告。",
        ),
    ),
    "provision": (
        "Another word in a statute.",
        (
            "Rules\nArticle 1 Dogs are kept on a lead.\nArticle 2 Cats roam.\nArticle 3 Fish swim.",
            "Rules\nArticle 1 Dogs are kept indoors.\nArticle 2 Cats roam.\nArticle 3 Fish swim.",
        ),
        (
            "养犬规定\n第一条 犬只应当登记。\n第二条 出门系绳。\n第三条 违者罚款。",
            "养犬规定\n第一条 犬只应当登记。\n第二条 出门系绳。\n第三条 违者警告。",
        ),
    ),
}
GUARDS: Final = tuple(Guard(name, *_SENTENCES[name]) for name in _core.GUARDS)
"""In the order of the bits that the core returns."""
