"""Clean text, case by case: (id, raw, expected)."""

import pytest
from pydantic import ValidationError

from dedup_job.cleaning import Cleaner, CleaningSettings
from dedup_job.native.bytes_column import pack

MATHEMATICS = [
    ("two comparisons", "若a<b且b>c则x>y", "若a<b且b>c则x>y"),
    ("chain", "1<x<3", "1<x<3"),
    ("chain, then greater", "1<x<3, y>2", "1<x<3, y>2"),
    ("one comparison", "a<b", "a<b"),
    ("lone less-than", "<", "<"),
    ("logical and", "i<a && a>b", "i<a && a>b"),
    ("unknown letter in brackets", "x<y>z", "x<y>z"),
    ("known letter in brackets", "若a<b>c", "若a<b>c"),
    ("paragraph letter inside a formula", "m<p>n", "m<p>n"),
    ("words after the letter", "if a <b and c> d", "if a <b and c> d"),
    ("dashed name", "a<x-y>b", "a<x-y>b"),
    ("heart", "我<3你", "我<3你"),
    ("less or equal, arrow, unequal", "a <= b, c <- d, e <> f", "a <= b, c <- d, e <> f"),
    ("generic types", "vector<int> v; List<String> s", "vector<int> v; List<String> s"),
    ("generic type with an element's name", "List<Object> o", "List<Object> o"),
    ("command line placeholders", "convert <path> <filter>", "convert <path> <filter>"),
    ("email", "Wang <wang@example.com>", "Wang <wang@example.com>"),
    (
        "address in brackets",
        "见<https://example.com/a?b=1&c=2>",
        "见<https://example.com/a?b=1&c=2>",
    ),
    ("formula next to tags", "<p>若a<b且b>c</p><p>则x>y</p>", "若a<b且b>c\n则x>y"),
    ("escaped less-than", "x&lt;y", "x<y"),
    ("unclosed tag at the end", "已知 a<div", "已知 a<div"),
]
LATEX_AND_CODE = [
    ("fraction", r"\frac{a}{b} < c", r"\frac{a}{b} < c"),
    ("alignment", r"a & b \\ c & d", r"a & b \\ c & d"),
    ("text with a colon", r"\text{note: x}", r"\text{note: x}"),
    ("colour with a colon", r"\style{color: red}{x}", r"\style{color: red}{x}"),
    ("set", "A={x:x>1}", "A={x:x>1}"),
    ("set next to tags", "<p>A={x:x>1}</p>", "A={x:x>1}"),
    ("braces", "p{x}", "p{x}"),
    ("json", '{"color": "red", "width": 3}', '{"color": "red", "width": 3}'),
    ("json next to tags", '<p>{"color": "red"}</p>', '{"color": "red"}'),
    ("include", "#include <stdio.h>", "#include <stdio.h>"),
    ("shift", "cout << a << endl;", "cout << a << endl;"),
    ("php", "<?php echo $a > 1; ?>", "<?php echo $a > 1; ?>"),
]
ENTITIES = [
    ("ampersand in a name", "AT&T", "AT&T"),
    ("query string", "?a=1&para=2&copy=3", "?a=1&para=2&copy=3"),
    ("query string next to tags", "<b>?a=1&copy=3</b>", "?a=1&copy=3"),
    ("named", "a&nbsp;b&hellip;&copy;", "a b…©"),
    ("numeric", "&#20013;&#x6587;", "中文"),
    ("unknown name", "&unheard; &notit; &#;", "&unheard; &notit; &#;"),
    ("many ampersands", "a&&&amp;b", "a&&&b"),
]
TAGS = [
    ("line break", "two<br>second", "two\nsecond"),
    ("closed line breaks", "a<br/>b<br />c<BR>d</br>e", "a\nb\nc\nd\ne"),
    ("text astray in a table", "<table><tr><td>甲</td></tr>乙</table>丙", "甲\n乙\n丙"),
    ("list", "<ul><li>一<li>二</ul>三", "一\n二\n三"),
    ("definitions", "<dl><dt>词<dd>义</dl>", "词\n义"),
    ("headings and sections", "<h1>A</h1><section>b</section>", "A\nb"),
    ("newline in the source", "<p>a\nb</p>", "a\nb"),
    ("bold in a word", "un<b>believ</b>able", "unbelievable"),
    ("formatting badly nested", "<p><b>a<i>b</b>c</i>d</p>", "abcd"),
    ("style attribute", '<p style="color:red">x</p>', "x"),
    ("greater-than in an attribute", '<a title="x>y">z</a>', "z"),
    ("unquoted attributes", "<font face=宋体 size=3>x</font>", "x"),
    ("quotes in quotes", '<p style="font-family:"宋体";color:red">x</p>', "x"),
    ("open quote", '<a href="x>链接</a>完', "链接完"),
    ("attribute without value", "<td nowrap>x</td>", "x"),
    ("letter with attributes", "<p align=center>x", "x"),
    ("open paragraph at the start", "<p>x", "x"),
    ("open paragraph after white space", "a\n<p>b", "a\nb"),
    ("open paragraph after a tag", "<div><p>b", "b"),
    ("closing tag alone", "a</div>b</p>", "a\nb"),
    ("word tags", '<o:p></o:p>今<st1:chsdate year="1">天</st1:chsdate>', "今天"),
    ("custom element", "<my-note>x</my-note>", "x"),
    ("ruby", "<ruby>漢<rp>(</rp><rt>hàn</rt><rp>)</rp></ruby>", "漢(hàn)"),
    ("null in markup", "<p>a\0b</p>", "ab"),
    ("surrogate in markup", "<p>a\ud800b</p>", "a\ufffdb"),
]
WHOLE_ELEMENTS = [
    ("comment", "a<!-- <p>x</p> -->b", "ab"),
    ("empty comment", "a<!-->b<!---->c", "abc"),
    ("conditional comment", "<!--[if mso]><xml>x</xml><![endif]-->正文", "正文"),
    ("revealed conditional comment", "<![if !supportLists]>1.<![endif]>正文", "1.正文"),
    ("open comment", "a<!-- b", "a<!-- b"),
    ("second comment open", "a<!-- x -->b<!-- c", "ab<!-- c"),
    ("doctype and declaration", '<?xml version="1.0"?><!DOCTYPE html><p>x', "x"),
    ("script", 'a<script>if (a<b) alert("</p>")</script>b', "a\nb"),
    ("script in capitals", "a<SCRIPT SRC=x></Script >b", "a\nb"),
    ("open script", "a<script>b<br>c", "a<script>b\nc"),
    ("style", "<style>p{color:red}</style>x", "x"),
    ("open style", "<style>x", "<style>x"),
    ("title", "<title>a<b>c &amp; d</title>e", "a<b>c & d\ne"),
    ("open title", "<title>x", "<title>x"),
    ("open text area", "<textarea>x", "<textarea>x"),
    ("template", "a<template>b<template>c</template>d</template>e", "a\ne"),
    ("open template", "a<template>b", "a\nb"),
    ("inner template closed", "a<template>b<template>c</template>d", "a\nb\nd"),
    ("noscript", "<noscript>请开启脚本</noscript>x", "请开启脚本\nx"),
    ("frame with content", "<iframe src=x>a<b>c</b></iframe>d", "ac\nd"),
    ("frameset", "<frameset>abc", "abc"),
    ("plaintext", "<plaintext>a<br>b", "a\nb"),
    ("character data", "<p><![CDATA[a<b]]>c</p>", "a<bc"),
    ("open character data", "<![CDATA[abc", "abc"),
    ("text after the end", "<html><body>a</body></html>b", "a\nb"),
]
WHITE_SPACE = [
    ("spaces", "  a \t b\u00a0\u3000c ", "a b c"),
    ("line breaks", "a \r\n \n b\u2028c\x85d\x0be\x1cf", "a\nb\nc\nd\ne\nf"),
    ("zero width", "\ufeffa\u200bb \u200b c", "ab c"),
    ("zero width by reference", "a&#8203;b", "ab"),
    ("joiners stay", "👨\u200d👩 می\u200cخواهم", "👨\u200d👩 می\u200cخواهم"),
    ("control characters stay", "a\0b\x07c\x1b", "a\0b\x07c\x1b"),
    ("lone surrogate stays", "a\ud800b", "a\ud800b"),
    ("nothing", "", ""),
    ("only white space", " \n\u3000<p>&nbsp;</p>", ""),
]
STYLE_RULES = [
    ("word paste", "p.MsoNormal, li.MsoNormal\n\t{mso-style-parent:'';\n margin:0}\n正文", "正文"),
    ("comment before", '/* Style */\n .a {font-family:"宋体"; color:red} 正文', "正文"),
    ("at-rules", "@font-face{font-family:宋体} @page x{size:1pt} 正文", "正文"),
    ("group", "@media print { p{color:red} .a{margin:0;} } 正文", "正文"),
    ("group cut off", "@media print { p{color:red} 正文", "@media print { p{color:red} 正文"),
    ("later rule without class", ".a{margin:0} p{color:red} 正文", "正文"),
    ("two declarations", "p{color:red;margin:0}正文", "正文"),
    ("one declaration", "p{color:red}", "p{color:red}"),
    ("code behind one", "p{color:red}\n```\n  a\n```", "p{color:red}\n```\n  a\n```"),
    ("code behind rules", ".a{color:red}x\n```\n  a\n```", "x\n```\n  a\n```"),
    ("question on style", "下列CSS中 p{color:red} 的含义是", "下列CSS中 p{color:red} 的含义是"),
    ("rule later in plain text", "题目 .a{color:red}", "题目 .a{color:red}"),
]
AMONG_TAGS = [
    ("rule among tags", "<p>前 p.a{color:red} 后</p>", "前 后"),
    ("words before the rule", "<b>Read this</b> note p.a {margin:0} now", "Read this note now"),
    ("rule glued to text", "<p>前p.a{color:red}后</p>", "前 后"),
    ("rule over several blocks", "<p>.a{</p><p>color:red;</p><p>}</p>正文", "正文"),
    ("address with a semicolon", "<p>.a{src:url(data:x;base64,y)}z</p>", "z"),
    ("groups among tags", "<p>@media print { p{color:red} } x</p>", "x"),
    ("import among tags", '<p>@import url("a.css"); x</p>', "x"),
    ("in inline code", "<p>规则<code>.a{color:red}</code>的含义</p>", "规则.a{color:red}的含义"),
    ("escaped in code", "<code>p&#123;color:red&#125;</code>", "p{color:red}"),
    ("unknown property", "<p>.a{note:x}</p>", ".a{note:x}"),
]
TABLES = (
    *(MATHEMATICS, LATEX_AND_CODE, ENTITIES, TAGS, WHOLE_ELEMENTS, WHITE_SPACE, STYLE_RULES),
    AMONG_TAGS,
)
CASES = [pytest.param(raw, expected, id=name) for table in TABLES for name, raw, expected in table]


@pytest.mark.parametrize(("raw", "expected"), CASES)
def test_markup_is_dropped_and_text_kept(raw, expected):
    assert Cleaner().clean(raw) == expected


@pytest.mark.parametrize("formula", [pytest.param(raw, id=name) for name, raw, _ in MATHEMATICS])
def test_mathematics_is_kept_among_tags(formula):
    cleaner = Cleaner()
    page = f"<div>甲<br></div>\n{formula}\n<ul><li>乙</ul>"
    assert cleaner.clean(page) == f"甲\n{cleaner.clean(formula)}\n乙"


def test_with_html_never_markup_is_text():
    cleaner = Cleaner(CleaningSettings(html="never"))
    assert cleaner.clean(" <p>a&lt;b</p>\n\n<br> ") == "<p>a&lt;b</p>\n<br>"


MARKERS = ("收录：", "来源：")
NOTE = "来源：" + "人" * 97  # as long as a note can be
MATERIAL = (
    "材料一 2019年，我国国内生产总值近百万亿元。（资料来源：人民日报）\n材料二 居民收入稳步增长。\n"
    "根据材料，下列说法正确的是\nA. 经济下行\nB. 收入下降\nC. 消费不振\nD. 经济稳中有进"
)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param("正文\n收录：2011年", "正文", id="last line"),
        pytest.param("<p>正文</p><p><b>来</b>源：2019年高考</p>", "正文", id="written with tags"),
        pytest.param("正文\n来源：a\n收录：b", "正文", id="last two lines"),
        pytest.param("正文\n\n来源：a\n \n收录：b\n", "正文", id="blank lines"),
        pytest.param("正文\n" + NOTE, "正文", id="longest note"),
        pytest.param("来源：a\n收录：b", "来源：a", id="first line stays"),
        pytest.param("```\n  a\n```\n来源：a", "```\n  a\n```", id="code stays as it is"),
    ],
)
def test_last_lines_that_begin_with_a_marker_are_cut_off(raw, expected):
    """The notes that a site appends to each text would make different texts alike."""
    assert Cleaner(CleaningSettings(cut_at=MARKERS)).clean(raw) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("正文 来源：a", id="within a line"),
        pytest.param("正文\n资料来源：人民日报", id="within a word"),
        pytest.param(MATERIAL, id="question on a material"),
        pytest.param("材料\n来源：人民日报\n下列说法正确的是 A. 对 B. 错", id="text follows"),
        pytest.param("来源：人民日报", id="the only line"),
        pytest.param("正文\n" + NOTE + "民", id="too long for a note"),
        pytest.param("正文\n收录", id="a part of a marker"),
    ],
)
def test_a_marker_anywhere_else_cuts_nothing(text):
    """The target stores the clean text: a line cut off is lost there."""
    assert Cleaner(CleaningSettings(cut_at=MARKERS)).clean(text) == text


def test_characters_cut_off_are_counted_for_each_text():
    texts = ["正文\n来源：a", MATERIAL, "<p>正文</p><p>来源：a</p><p>收录：b</p>", ""]
    cleaned = Cleaner(CleaningSettings(cut_at=MARKERS)).cleaned(pack(texts))
    assert cleaned.texts.texts() == ["正文", MATERIAL, "正文", ""]
    assert cleaned.cut.tolist() == [5, 0, 10, 0]
    assert not Cleaner().cleaned(pack(texts)).cut.any()


def test_an_empty_marker_is_refused():
    """It begins each line: only the first would be left."""
    with pytest.raises(ValidationError, match="must not be empty"):
        CleaningSettings(cut_at=("收录：", ""))
