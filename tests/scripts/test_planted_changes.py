"""What is planted in a question, on questions made by hand and with many seeds."""

from __future__ import annotations

import unicodedata
from random import Random

import pytest

from scripts.bench import planted_changes as plants
from scripts.bench.planted_changes import KINDS
from scripts.bench.questions import choices_of, essence

CHOICE = (
    "3. 下列说法正确的是（　　）\n"
    "A．甲烷易溶于水  B．乙烯是平面分子\nC．苯能使溴水褪色  D．乙醇没有还原性"
)
OTHER = "该地的主要河流流向是\n(A)向东 \n(B)向西\n(C)向南\n(D)向北"
NUMBERS = "12. （3分）如图2，小明(1)有5个苹果，花了1.5元，完成4-6题"
POOL = [choices_of(CHOICE), choices_of(OTHER)]


def planted(plant, text, times=200):
    """Plant many times."""
    return [plant(text, Random(seed), POOL) for seed in range(times)]


def test_choices_are_parsed_and_put_together_again():
    choices = choices_of(OTHER)
    assert choices.stem == "该地的主要河流流向是\n"
    assert choices.labels == ("(A)", "(B)", "(C)", "(D)")
    assert choices.contents == ("向东", "向西", "向南", "向北")
    assert choices.with_contents(choices.contents) == OTHER
    assert choices_of(CHOICE).with_contents(choices_of(CHOICE).contents) == CHOICE


@pytest.mark.parametrize(
    "text",
    [
        "直线上有A、B、C、D四点",  # a list of points: A is followed by nothing
        "A. 甲 B. 乙",  # two only
        "A. 甲 C. 丙 B. 乙",
        "1. A. 甲 B. 乙 C. 丙 2. A. 丁 B. 戊 C. 己",
        "A. 甲 B. 乙 C. 丙" + "，又如后文所述，" * 10,  # more follows than a choice
        "没有选项",
        "",
    ],
)
def test_what_is_no_clear_list_of_choices_is_none(text):
    assert choices_of(text) is None


def test_a_dropped_character_is_neither_number_nor_negation_nor_formula():
    text = "甲不没三5，Fe $\\mathrm{AB}$ \\frac never乙"
    assert {plants.drop_character(text, Random(seed), []) for seed in range(200)} == {
        text[1:],
        text[:-1],
    }
    for nothing in ("3+5=8，三不", "12月3", ""):
        assert plants.drop_character(nothing, Random(1), []) is None


def test_a_letter_is_dropped_from_longer_words_only():
    assert {plants.drop_character("is abcd", Random(seed), []) for seed in range(99)} == {
        "is bcd",
        "is acd",
        "is abd",
        "is abc",
    }


def test_a_character_is_dropped_from_the_stem_or_from_a_choice():
    for text in planted(plants.drop_in_stem, CHOICE):
        assert choices_of(text).contents == choices_of(CHOICE).contents
        assert len(text) == len(CHOICE) - 1
    for text in planted(plants.drop_in_choice, CHOICE):
        assert choices_of(text).stem == choices_of(CHOICE).stem
        assert len(text) == len(CHOICE) - 1
    assert plants.drop_in_choice("没有选项的题目", Random(1), POOL) is None


@pytest.mark.parametrize(
    "plant", [plants.change_mark, plants.drop_mark, plants.add_mark, plants.change_marks]
)
def test_marks_leave_letters_numbers_labels_and_formulas_alone(plant):
    text = "12. 长3.5米，宽1,000米（如图）。设$a, b$，求n!：\nA. 甲，乙 B. 丙；丁 C. 戊"
    assert len(set(planted(plant, text))) > 3
    for changed in planted(plant, text):
        assert essence(changed) == essence(text)
        for part in ("12. ", "3.5", "1,000", "$a, b$", "n!", "A. ", "B. ", "C. "):
            assert part in changed


def test_where_no_mark_stands_none_is_changed_or_dropped():
    assert plants.change_mark("3.5米", Random(1), []) is None
    assert plants.drop_mark("3.5米", Random(1), []) is None
    assert plants.drop_mark("[9,-10]", Random(1), []) is None
    assert plants.add_mark("a b", Random(1), []) is None
    assert plants.add_mark("甲", Random(1), []) == "甲。"


def test_widened_text_has_the_same_compatibility_form():
    text = "abc 12.5% 甲 (x)"
    forms = set(planted(plants.widen, text))
    assert forms == {
        "ａｂｃ １２．５％ 甲 （ｘ）",
        "ａｂｃ １２.５% 甲 (ｘ)",
        "abc 12．5％ 甲 （x）",
    }
    assert {unicodedata.normalize("NFKC", form) for form in forms} == {text}


def test_a_source_stands_before_the_question_or_after_its_number():
    sources = set(planted(plants.add_source, CHOICE))
    assert len(sources) > 100
    assert all(source.endswith(CHOICE[3:]) for source in sources)
    assert {source.startswith("3. ") for source in sources} == {True, False}


def test_a_number_is_added_where_there_is_none():
    assert all(text.endswith(OTHER) and text != OTHER for text in planted(plants.add_number, OTHER))
    for numbered in (CHOICE, "（3）甲", "第3题 甲", "①甲", "2008年"):
        assert plants.add_number(numbered, Random(1), []) is None


def test_reordered_choices_are_the_same_ones_under_the_same_labels():
    orders = {choices_of(text).contents for text in planted(plants.reorder, CHOICE, 500)}
    assert len(orders) == 23
    assert {tuple(sorted(order)) for order in orders} == {
        tuple(sorted(choices_of(CHOICE).contents))
    }
    assert all(
        choices_of(text).labels == choices_of(CHOICE).labels
        for text in planted(plants.reorder, CHOICE)
    )


@pytest.mark.parametrize("last", ["A", "以上都对", "A和B", "All of the above", "甲"])
def test_choices_that_speak_of_others_or_are_equal_are_not_reordered(last):
    text = f"选一个\nA. 甲 B. 乙 C. {last}"
    assert choices_of(text) is not None
    assert plants.reorder(text, Random(1), []) is None


def test_one_digit_of_a_number_that_is_asked_about_changes():
    changed = set(planted(plants.change_number, NUMBERS, 500))
    five, money = NUMBERS.index("5个"), NUMBERS.index("1.5元")
    places = {
        tuple(i for i, (a, b) in enumerate(zip(text, NUMBERS, strict=True)) if a != b)
        for text in changed
    }
    assert places == {(five,), (money,), (money + 2,)}
    assert all("." in text[money : money + 3] for text in changed)


def test_a_long_number_does_not_begin_with_nought():
    changed = set(planted(plants.change_number, "共有100人", 500))
    assert "共有000人" not in changed
    assert len(changed) == 8 + 9 + 9


@pytest.mark.parametrize(
    "text", ["没有数", "3. 甲", "（2019·北京）甲", "满分12分", "(2) 甲\n2. 乙"]
)
def test_a_question_whose_numbers_only_number_it_has_no_case(text):
    assert plants.change_number(text, Random(1), []) is None


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("说法正确的是", {"说法不正确的是", "说法错误的是"}),
        ("说法不正确的是", {"说法正确的是"}),
        ("一定不是偶数", {"一定是偶数"}),
        ("压强增大", {"压强减小"}),
        ("It is not correct", {"It is correct", "It is not incorrect"}),
        ("是不是偶数", None),
        ("可能性", None),
        ("能不能", None),
        ("甲是乙", None),
    ],
)
def test_polarity_is_turned_once(text, turned):
    assert set(planted(plants.turn_polarity, text)) == (turned or {None})


def test_one_choice_is_replaced_by_a_foreign_one():
    own = choices_of(CHOICE)
    for text in planted(plants.replace_choice, CHOICE):
        new = choices_of(text)
        foreign = set(new.contents) - set(own.contents)
        assert new.stem == own.stem
        assert len(foreign) == 1
        assert foreign <= set(choices_of(OTHER).contents)


def test_all_choices_are_replaced_by_those_of_another_question():
    text = plants.replace_choices(CHOICE, Random(1), POOL)
    assert choices_of(text).stem == choices_of(CHOICE).stem
    assert choices_of(text).contents == choices_of(OTHER).contents
    assert plants.replace_choices(CHOICE, Random(1), POOL[:1]) is None


def test_every_kind_bears_any_text():
    texts = ["", " ", "\ud800", "A.", "甲" * 50, "(" * 5000, "1" * 5000, "，" * 100, "A. " * 900]
    for kind in KINDS:
        for text in texts:
            kind.plant(text, Random(1), POOL)


def test_what_tells_another_question_is_seen_in_it():
    for name, text in (
        ("number changed", NUMBERS),
        ("polarity turned", CHOICE),
        ("one choice replaced", CHOICE),
        ("all choices replaced", CHOICE),
    ):
        kind = next(kind for kind in KINDS if kind.name == name)
        for other in filter(None, planted(kind.plant, text)):
            assert kind.told_by(other) != kind.told_by(text)


def test_what_tells_a_question_does_not_depend_on_its_form():
    assert plants.numbers_in("3.（4分）有1.5元") == plants.numbers_in("有1.5元") == ("1.5",)
    assert plants.polarity_of("不正确的是") == plants.polarity_of("错 误的是") == ("不正确",)
    assert plants.choices_in(OTHER) == {"向东", "向西", "向南", "向北"}
    assert plants.choices_in("没有选项") is None
