"""Strings of all kinds, for comparisons of the core with jieba and with the naive versions."""

import random
from functools import cache

import jieba

WHITE = [
    *" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2003\u200a",
    *"\u2028\u2029\u202f\u205f\u3000",
    "\r\n",
    "\n\r",
    "\r\r\n\n",
]
NEARLY_WHITE = ["\u200b", "\ufeff", "\u180e", "\u2060", "\x00", "\x1b", "\xad"]
SYMBOLS = [*"+#&._%-", "++", "--", "..", "%%", "_._", "&&", "+-", ".%", "#+"]
MIXED = [
    "C++", "C#", "3.14%", "2d-q", "AT&T", "T恤", "4S店", "AA制", "K歌", "卡拉OK", "3D打印", "α粒子",
    "1.5.3", "100%", "50.%", "3.", ".5", "-1", "1e-5", "a.1b", "12.5abc", "x_1", "v2.0", "Q版",
    "e-mail", "B超", "U盘", "T型台", "PM2.5", "#1", "&amp;", "%d", "1+1=?", "H2O", "NaOH",
    r"\frac{1}{2}", r"$\mathrm{Na}^{+}$", "36.5℃", "２０２４年",
    "ＡＢＣ", "㎏", "①②", "Ⅳ", "〇", "々",
]  # fmt: skip
# words that only the HMM can find
UNKNOWN = ["小明", "李小龙", "王思聪", "杭研", "杭研大厦", "韩玉赏鉴", "郭德纲", "云计算"]
CHARACTERS = {
    "common": "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下",
    "rare": "㐀䶵一龥龦鿕鿖鿿䦃丏丒亍囧犇骉靐龘鱻麤",
    "beyond": "𠮷𡃁𨋢𠝹𠱁𪚥𫠝🙂🎉👩\u200d👧🇨🇳𝐀𝟘𐐀𐐨\U0010ffff\U0001f1e6",
    "surrogates": "\ud800\udbff\udc00\udfff\ud83d\ude42",
    "kana": "あいうえおかきくけこアイウエオカキクケコーっッ々〆ｱｲｳﾞ",
    "hangul": "가나다라마바사아자차카타파하한국어각힣ㄱㅎ가",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюяЁЖ",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي\u064e\u0651٠١٢",
    "other": "éßİıſǅΑβΩאבגहिन्दीไทย\u0301\u0308ﬁ²½",
    "punctuation": "，。！？；：“”（）《》【】、…—·～「」=<>()[]{}|/\\*^$@!'\"`~;:,",
    "ascii": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "digits": "0123456789",
    "wide": "ＡＢＣａｂｃ０１２９！％．＋",
}
SENTENCES = [
    "光合作用是绿色植物利用光能把二氧化碳和水合成有机物并释放氧气的过程，下列叙述正确的是",
    "臺灣的學生在學校裡學習數學與物理，老師講解牛頓運動定律的應用",
    "The quick brown fox jumps over the lazy dog while seven wizards watch quietly.",
    "已知函数f(x)=2x+1，求f(3)的值；Choose the correct answer: A B C D，温度为36.5℃",
    "日本の学生は毎日学校で数学と物理学を勉強していますが、とても楽しいです",
    "Съешь ещё этих мягких французских булок, да выпей чаю",
    "结婚的和尚未结婚的，研究生命起源，长春市长春药店，南京市长江大桥，乒乓球拍卖完了",
    "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作",
]
NASTY = [
    "", " ", "\r\n", "\r", "\n", "的", "a", "A", "1", "+", "++", "%", ".", "3.14%", "数", "\ud800",
    "\r\n\r\n学生\r\n老师\r", "𠮷", "鿖", "鿕鿕", "a鿕", "鿕a", "%3", "3%%", "3.%", "3..4%",
    "3.4.5%",
    "THE The the Of IS", "数学 数学 数学", "数学" * 300, "的" * 3000, "a" * 3000, "9" * 3000,
    "." * 500, "+" * 500, "囧" * 500, "🙂" * 500, " " * 500, "\r\n" * 300, "ab" * 1500,
    "3.14%" * 300, "a+" * 700, "T恤" * 300, "鿕" * 700, "".join(map(chr, range(1, 400))),
    "".join(map(chr, range(0x4E00, 0x9FFF, 7))), "\ud83d" * 100, "ＡＢＣ１２３" * 20,
    *SENTENCES, *MIXED, *UNKNOWN, *WHITE, *NEARLY_WHITE, *CHARACTERS.values(),
    *("".join(SENTENCES).replace("，", white) for white in WHITE),
    *(f"{a}{white}{b}" for a in ("数学", "C++", "\r") for white in WHITE for b in ("物理", "\n")),
    *(f"{a}{b}{a}" for a in MIXED for b in ("数学", "the", "李小龙", "。")),
]  # fmt: skip


@cache
def words():
    """Return all words of jieba's dictionary, and those with an ASCII character."""
    jieba.dt.check_initialized()
    every = [word for word, frequency in jieba.dt.FREQ.items() if frequency]
    return every, [word for word in every if any(c.isascii() for c in word)]


def generated(count, seed, more=()):
    """Yield n strings of all kinds, reproducible by the seed; more: substrings to include."""
    random_ = random.Random(seed)
    for _ in range(count):
        yield _string(random_, more)


def _string(random_, more):
    kind = random_.random()
    if kind < 0.02:  # one token many times
        return _token(random_, more) * random_.randint(2, 200)
    if kind < 0.12:  # one script, no break
        return _of_one_script(random_, 60)
    if kind < 0.20:  # a real sentence with a token inserted
        sentence = random_.choice(SENTENCES)
        at = random_.randint(0, len(sentence))
        return sentence[:at] + _token(random_, more) + sentence[at:]
    longest = 120 if kind > 0.97 else 16
    separator = random_.choice(["", "", "", " ", "，", random_.choice(WHITE)])
    return separator.join(_token(random_, more) for _ in range(random_.randint(1, longest)))


def _of_one_script(random_, most):
    characters = random_.choice(list(CHARACTERS.values()))
    return "".join(random_.choices(characters, k=random_.randint(1, most)))


def _token(random_, more):
    every, with_ascii = words()
    makers = [
        *[lambda: random_.choice(every)] * 5,
        lambda: random_.choice(with_ascii),
        lambda: "".join(chr(random_.randint(0x4E00, 0x9FD5)) for _ in range(random_.randint(1, 6))),
        lambda: (word := random_.choice(every))[: random_.randint(1, len(word))],
        lambda: random_.choice(MIXED + UNKNOWN),
        lambda: random_.choice(WHITE + NEARLY_WHITE),
        lambda: random_.choice(SYMBOLS),
        lambda: f"{random_.randint(0, 9999)}{random_.choice(['', '', '.', '.5', '%', '.25%'])}",
        lambda: "".join(random_.choices(CHARACTERS["ascii"], k=random_.randint(1, 8))),
        lambda: random_.choice(["the", "The", "OF", "is", "with", "That", "of"]),
        lambda: _of_one_script(random_, 5),
        *([lambda: random_.choice(more)] * 2 if more else []),
    ]
    return random_.choice(makers)()
