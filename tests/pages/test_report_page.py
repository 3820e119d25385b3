"""The report as a page: nothing that it shows is more than text, and it loads nothing."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from markupsafe import escape

from dedup_job.documents import Difference, Pair
from dedup_job.pages import report_page
from dedup_job.printing import escaped
from dedup_job.runs.decided import Counts, DecidedDocument
from dedup_job.runs.run_record import About, Checkpoint, Run, Scope, Status
from dedup_job.runs.survey import Group, PairSample, Survey
from tests.runs.test_survey import ABOUT, many_pairs
from tests.test_printing import commands

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} {% raw %} ${x}",
    '" onmouseover="alert(1)',
    "\x1b[31mred\x1b[0m \u202eright to left\u202c \x00",
    "]]> <!-- --> &amp; &lt;",
    "\ue5e5 \uf8ff \U000f0001 \U0010fffd \u0378",
]
WHEN = datetime(2026, 1, 2, tzinfo=UTC)


class _Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []
        self.attributes = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


def survey_with(text, name=None, written="1"):
    name = text if name is None else name
    pair = DecidedDocument(
        b"key",
        decision="duplicate",
        reason="near",
        id=name,
        pair=Pair(
            b"of",
            3,
            0.9,
            ("simhash",),
            differences=(Difference("replaced", "stem", text[:40], text[:40]),),
            richer=("image",),
            left_out=0.12,
        ),
        of=name,
        run=1,
        text=f"1. {text}",
        other=f"2. {text}",
        detail=text,
        written=written,
    )
    counts = Counts(kept=2, near=1, exact=1, refused={"number": 1})
    run = Run(
        About(name, name, {}, {}, dry_run=False),
        Status.DONE,
        Checkpoint(1, Scope(), WHEN, counts, seconds=1.0),
        finished=WHEN,
        known=0,
        stages={},
    )
    return Survey(
        about=About(name, name, {"source": {"field": text}}, {"python": text}, dry_run=False),
        counts=counts,
        near=PairSample((0,) * 90 + (1,) * 10, [pair], [pair]),
        refused=PairSample((1,) * 100),
        groups=[Group(replace(pair, text=text, duplicates=9), [pair])],
        runs=[run],
    )


def elements(page):
    found = _Elements()
    found.feed(page)
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_an_element_or_an_attribute(text):
    plain, hostile = (elements(report_page(survey_with(each))) for each in ("plain", text))
    assert hostile.tags.count("script") == plain.tags.count("script") == 2
    assert set(hostile.tags) == set(plain.tags)
    names = {name for name, _ in hostile.attributes}
    assert names == {name for name, _ in plain.attributes}
    assert not any(name.startswith("on") for name in names)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_page_escapes_control_characters_and_loads_nothing(text):
    page = report_page(survey_with(text))
    assert commands(page) == []
    assert str(escape(escaped(text))) in page
    for name, value in elements(page).attributes:
        assert name not in ("src", "srcset", "action")
        assert name != "href" or re.match("#|data:,", value or "")
    assert "default-src 'none'" in page


def test_a_page_of_a_long_text_is_short_and_one_without_runs_says_so():
    assert len(report_page(survey_with("长" * 1_000_000, "7"))) < 500_000
    empty = report_page(Survey(ABOUT, Counts()))
    assert "No run has finished yet" in empty
    assert "There are no duplicates" in empty


def test_both_languages_are_in_the_page_and_one_is_shown_first():
    english, chinese = (report_page(survey_with("t"), language) for language in ("en", "zh"))
    for page in (english, chinese):
        assert "From read to kept" in page
        assert "从读取到保留" in page
    assert '<html lang="en" data-language="en">' in english
    assert '<html lang="zh-Hans" data-language="zh">' in chinese


def test_ten_pairs_come_first_and_all_others_are_folded_with_their_number():
    page = report_page(many_pairs())
    ten, *groups = page.split('id="samples"')[1].split("</section>")[0].split("<details")
    assert "Look at these ten pairs" in ten
    assert "先看这十对" in ten
    assert ten.count("<article") == 10
    for group in groups:
        assert group.startswith(' class="stratum">\n<summary>')
        assert f"({group.count('<article')})</span></summary>" in group
    assert page.index('id="samples"') < page.index('id="funnel"')


def test_an_id_stands_above_the_text_that_it_belongs_to():
    pair = replace(survey_with("text").near.extreme[0], id="<mine>", of="<other>", against="db.c")
    page = report_page(replace(survey_with("text"), near=PairSample(extreme=[pair])))
    named = re.findall(r'class="id">&lt;(\w+)&gt;</code>( \(db\.c\))?</p>\s*<p class="text"', page)
    assert named == [("other", " (db.c)"), ("mine", "")]


def test_a_text_that_lacks_something_is_marked_there_too():
    pair = replace(survey_with("text").near.extreme[0], other="甲乙", text="甲丙丙乙")
    page = report_page(replace(survey_with("text"), near=PairSample(extreme=[pair])))
    assert "甲<del></del>乙" in page
    assert "甲<ins>丙丙</ins>乙" in page
    assert "12% of a text not compared" in page


def test_duplicates_of_other_collections_and_what_gave_way_have_a_line():
    counts = Counts(kept=1, near=9, against={"a.<b>": 7}, replaced=3)
    rows = funnel_rows(report_page(replace(survey_with("t"), counts=counts)))
    assert rows["of these, duplicates of documents of a.&lt;b&gt;"] == "7"
    assert rows["of these, kept before a better copy came"] == "3"
    assert not [name for name in funnel_rows(report_page(survey_with("t"))) if "of these" in name]


def funnel_rows(page):
    row = r'<th scope="row"><span lang="en">([^<]*)</span>.*?</th><td class="n">([^<]*)</td>'
    return dict(re.findall(row, page.split('id="funnel"')[1].split("</section>")[0]))


def test_the_charts_have_the_same_figures_as_the_tables():
    survey = survey_with("t")
    page = report_page(survey)
    data = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)
    charts = json.loads(data[1])
    assert charts["similarities"]["near"] == list(survey.near.bins)
    assert charts["runs"] == [[1, 0.5]]


def test_similar_documents_that_were_kept_are_counted_from_a_similarity_that_is_said():
    counts = Counts(kept=9, refused={"number": 8, "unlikely": 1}, similar={"number": 3})
    survey = survey_with("t")
    about = replace(survey.runs[0].about, settings={"decision": {"similarity": 0.7}})
    page = report_page(replace(survey, counts=counts, runs=[replace(survey.runs[0], about=about)]))
    shown = page.split("What kept documents apart")[1].split("</section>")[0]
    assert "(similarity 0.7 or more)" in shown
    assert re.findall(r'<td class="n">(.*?)</td>', shown) == ["3"]


def test_a_dry_run_names_only_commands_that_need_no_target():
    made, further = survey_with("t"), []
    for dry in (True, False):
        page = report_page(replace(made, about=replace(made.about, dry_run=dry)))
        further.append(page.split('id="further"')[1])
    names = [re.findall(r"<code>dedup (\w+)", one) for one in further]
    assert names == [["run", "inspect"], ["list", "list", "inspect", "restore", "check", "undo"]]
