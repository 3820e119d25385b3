"""A batch is cleaned like each of its texts alone, text without tags like by the reference."""

import re
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dedup_job.cleaning import Cleaner, CleaningSettings, drop_leading_rules
from dedup_job.native.bytes_column import BREAK, pack
from tests.cleaning.reference import clean

NASTY = " \n\t\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u3000\u2028\u2029\u200b\ufeff"
NASTY += "<>&{}:;@#/!?.\"'=,a-pxZ若，😀\ud800\0"
PIECES = [
    *("<b", "</b>", "<br>", "<!--", "-->", "<!doctype", "<?xml", "&lt;", "&#60;", "&amp", "a<b"),
    *("p{color:red}", "{a}", "{a:b}", "@media x{", "@import url(x);", "/**/", "x{"),
    *("}", ".a", "  ", "若a<b且b>c", "\\frac{1}{2}", "【答案】", "\n\n", " \n", "text"),
]
TAG = re.compile("(?i)<[a-z/!?]")
TEXTS = st.lists(
    st.text(alphabet=NASTY, max_size=12)
    | st.text(max_size=12)
    | st.lists(st.sampled_from(PIECES) | st.sampled_from(NASTY), max_size=8).map("".join),
    max_size=12,
)
SETTINGS = st.builds(
    CleaningSettings,
    html=st.sampled_from(["auto", "never"]),
    cut_at=st.sampled_from([(), ("【答案】",), ("a", " ", "\n", "}")]),
)


@settings(max_examples=200)
@given(TEXTS, SETTINGS)
@example([], CleaningSettings())
def test_many_texts_are_cleaned_as_each_alone_and_as_by_the_reference(texts, options):
    cleaner = Cleaner(options)
    cleaned, same = cleaner.clean_all(texts), cleaner.cleaned(pack(texts)).same
    assert cleaned == [cleaner.clean(text) for text in texts]
    assert same.tolist() == [raw == clean for raw, clean in zip(texts, cleaned, strict=True)]
    for text, found in zip(texts, cleaned, strict=True):
        if not TAG.search(text) and not options.cut_at:  # the reference keeps rules among tags
            assert found == clean(text, html=options.html == "auto", rules=drop_leading_rules)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "若a<3且b>c，则x & y",
        "一行\n又一行 和空格",
        "{1,2,3}和{x:x>0}",
        "\\frac{1}{2}：比例3:4",
        "R&D" + "，甲" * 10,
        "\0\ud800😀",
    ],
)
def test_plain_text_stays_without_a_copy(text):
    packed = pack([text])
    assert Cleaner().cleaned(packed).texts is packed


def test_each_character_is_cleaned_as_by_the_reference():
    """White space, line breaks and invisible characters of all Unicode."""
    characters = (one for one in map(chr, range(sys.maxunicode + 1)) if one != BREAK)
    texts = [form for one in characters for form in (one, f"a{one}b")]
    cleaned = Cleaner().clean_all(texts)
    plane = 2 * 65535
    assert all(clean(texts[i]) == cleaned[i] for i in range(plane))
    assert cleaned[plane:] == texts[plane:]  # nothing from there on is anything but a letter
