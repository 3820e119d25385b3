"""Markup as sites and dumps really have it: left open, untidy, hidden, escaped once more."""

import pytest

from dedup_job.cleaning import Cleaner

LATE = [
    ("a name of many libraries", "<img src=/a/grey.gif data-echo=/u/1.png>", "![](/u/1.png)"),
    ("a forum's name", "<img src='none.gif' zoomfile='u/1.jpg' file='u/1.jpg'>", "![](u/1.jpg)"),
    ("no src", "<img lay-src='/u/1.jpg'>", "![](/u/1.jpg)"),
    ("src without a value", "<img src='' data-original='/u/1.jpg'>", "![](/u/1.jpg)"),
    ("a placeholder of any name", "<img src=/wait-cat.png data-src=/u/1.jpg>", "![](/u/1.jpg)"),
    ("an unknown name", "<img src='/img/1x1.gif' data-pic='/u/1.jpg'>", "![](/u/1.jpg)"),
    ("a query under such a name", "<img src=t.png data-url='/Get?id=1'>", "![](/Get?id=1)"),
    ("a set for later", "<img src=blank.gif data-srcset='/1.jpg 1x, /2.jpg 2x'>", "![](/1.jpg)"),
    ("a set beside a placeholder", "<img src=blank.gif srcset='/1.jpg 1x'>", "![](/1.jpg)"),
    ("a film", "<video src=spacer.gif data-src=/v.mp4></video>", "![video](/v.mp4)"),
    ("no address", "<img src=/u/1.jpg data-lazy=true original=1>", "![](/u/1.jpg)"),
    ("a larger one beside an image", "<img src=/u/1.jpg data-big=/u/b.jpg>", "![](/u/1.jpg)"),
    ("a word in a word", "<img src=/a/sc_reload.svg itemtype=//a.org/X>", "![](/a/sc_reload.svg)"),
    ("an address of no file", "<img src=blank.gif itemtype=//a.org/X>", "![](blank.gif)"),
    ("a type", "<img src=blank.gif data-type='image/png'>", "![](blank.gif)"),
    ("a program", "<img src=blank.gif onerror='this.src=(/a.png)'>", "![](blank.gif)"),
    ("alternative text", "<img src=blank.gif alt=/u/1.jpg>", "![](blank.gif)"),
    ("a placeholder alone", "<img src=loading.gif>", "![](loading.gif)"),
]
OPEN = [
    ("behind a sentence", "第一段。<p>第二段。<p>第三段。", "第一段。\n第二段。\n第三段。"),
    ("in capitals", "他走了！<P>天亮了。", "他走了！\n天亮了。"),
    ("behind an English sentence", "He left.<p>It rained.", "He left.\nIt rained."),
    ("between Chinese words", "标题<p>正文", "标题\n正文"),
    ("before a line break", "Title<p>\nText", "Title\nText"),
    ("before another tag", "甲2<b><br>乙", "甲2\n乙"),
    ("bold and italic", "甲，<b>乙；<i>丙", "甲，乙；丙"),
    ("underlined to the end", "甲。<u>乙", "甲。[乙]{.underline}"),
    ("a frame", '甲<iframe src="//v.cn/1">乙', "甲\n乙"),
    ("a field", "甲<textarea rows=3>乙", "甲\n乙"),
    ("a program", "甲<script src=a.js>乙", "甲\n乙"),
]
MATHEMATICS = [
    "m<p>n",
    "若a<b>c",
    "0<p<1",
    "概率<p>0.5",
    "若 a <b> c",
    "若x<u>y，则",
    "若a<b 且c=d, e>f",
    "设 a <b =c> d",
    "n(n+1)<p>(q)",
    "Set<i> s",
    "convert <b> <i>",
    "<iframe>",
    "下列标签中，<b>表示粗体",
    "HTML的标记<p>表示段落",
]
UNTIDY = [
    ("escaped quotes", r"甲<div class=\"a\" style=\"color: red\">乙</div>", "甲\n乙"),
    ("escaped single quotes", r"甲<p id=\'a b\'>乙</p>", "甲\n乙"),
    ("address in escaped quotes", r"<img src=\"/u/1.png\" alt=\"图 一\">", "![](/u/1.png)"),
    (
        "style in escaped quotes",
        r"<i style=\"text-decoration: underline\">乙</i>",
        "[乙]{.underline}",
    ),
    ("a quote too many", '甲<td width="10""><p align=center">乙</p>', "甲\n乙"),
    ("no name", "甲<p ='x'>乙</p>", "甲\n乙"),
    ("words among attributes", '甲<div class="a" 你好; >乙</div>', "甲\n乙"),
    ("Chinese quotes", "甲<span style=“color: red;”>乙</span>", "甲乙"),
    ("a mark first", '甲<div ,class="a">乙</div>', "甲\n乙"),
    ("no attributes", "已知<div 你好>乙", "已知<div 你好>乙"),
]
HIDDEN = [
    ("in capitals", "甲<b STYLE='DISPLAY : NONE'>x</b>乙", "甲乙"),
    ("a block", "<p>甲</p><p style='color:red;display:none !important'>x</p><p>乙</p>", "甲\n乙"),
    ("an attribute", "甲<font hidden=''>x</font>乙", "甲乙"),
    ("no letters", "甲<i style='font-size:0'>x</i><u style='font-size: 0pt'>y</u>乙", "甲乙"),
    ("random letters of a forum", "甲<font class='x Jammer'>x</font>乙", "甲乙"),
    ("an item of a list", "<ol><li>甲<li hidden>x</li><li>乙</ol>", "1. 甲\n2. 乙"),
    ("a cell", "<tr><td>甲</td><td style='display:none'>x</td></tr>", "甲 |"),
    ("a formula within", "甲<s hidden><math><mi>x</mi></math></s>乙", "甲乙"),
    ("small letters", "甲<i style='font-size:0.9em'>x</i>乙", "甲x乙"),
    ("hidden overflow", "甲<i style='overflow:hidden'>x</i>乙", "甲x乙"),
    (
        "letters that are larger within",
        "<p style='font-size:0'><b style='font-size:9px'>x</b></p>",
        "x",
    ),
    ("an image", "甲<p style='display:none'><img src=/1.png></p>", "甲\n![](/1.png)"),
    ("shown by a script", "甲<p id=js_content style='visibility:hidden'>x</p>", "甲\nx"),
    ("long", f"甲<p style='display:none'>{'长' * 201}</p>", "甲\n" + "长" * 201),
    ("the whole text", "<p style='display:none'>x</p>", "x"),
    ("never closed", "甲<p style='display:none'>x", "甲\nx"),
    ("sound", "甲<audio hidden src=/1.mp3></audio>", "甲\n![audio](/1.mp3)"),
]
ESCAPED = [
    ("blocks", "&lt;p&gt;甲&lt;/p&gt;&lt;p&gt;A. 乙&lt;/p&gt;", "甲\nA. 乙"),
    ("attributes", "&lt;div class=&quot;q&quot;&gt;甲&lt;br/&gt;乙&lt;/div&gt;", "甲\n乙"),
    ("by number", "&#60;p&#62;甲&#60;/p&#62;", "甲"),
    ("twice more", "&amp;lt;p&amp;gt;甲&amp;amp;nbsp;乙&amp;lt;/p&amp;gt;", "甲 乙"),
    ("a program's string", r"\u003Cp class=\"a\"\u003E甲\nB. 乙\u003C\/p\u003E", "甲\nB. 乙"),
    (
        "formulas in such",
        r"\u003cp\u003e若 $\nu \neq \theta$\u003c/p\u003e",
        r"若 $\nu \neq \theta$",
    ),
    ("references", "<p>&amp;ldquo;甲&amp;hellip;&amp;#39;&amp;amp;nbsp;乙</p>", "“甲…' 乙"),
    ("a comparison", "<p>若a&amp;lt;b且b&amp;gt;c</p>", "若a<b且b>c"),
    ("line breaks", r"<p>甲\nA. 一\n\n（2）二\n</p>", "甲\nA. 一\n（2）二"),
    ("an escape that a table explains", r"<tr><td>\n</td><td>end</td></tr>", r"\n | end"),
    ("formulas", r"<p>$\nu$\nabla 与 \n 甲</p>", r"$\nu$\nabla 与 \n 甲"),
    ("code", r"<p>甲<code>&amp;nbsp;\n乙</code></p>", r"甲&nbsp;\n乙"),
    ("a question about a tag", "&lt;b&gt; 是什么标签", "<b> 是什么标签"),
    ("such a one in a block", "&lt;p&gt;标签&lt;hr&gt;&lt;/p&gt;", "<p>标签<hr></p>"),
    ("a question about a reference", "<p>空格的实体是&amp;nbsp;</p>", "空格的实体是&nbsp;"),
    ("a question about a line break", r"<p>转义字符\n表示</p>", r"转义字符\n表示"),
    ("a choice of tags", "A. &lt;br&gt; B. &lt;hr&gt;", "A. <br> B. <hr>"),
    ("a program", "&lt;script&gt;x&lt;/script&gt;", "<script>x</script>"),
]
KINDS = {"late": LATE, "open": OPEN, "untidy": UNTIDY, "hidden": HIDDEN, "escaped": ESCAPED}
CASES = [
    pytest.param(raw, expected, id=f"{kind}: {name}")
    for kind, table in KINDS.items()
    for name, raw, expected in table
]


@pytest.mark.parametrize(("raw", "expected"), CASES)
def test_the_visible_text_is_kept(raw, expected):
    """Placeholders, tags and decoys are dropped; text that only looks like such is kept."""
    assert Cleaner().clean(raw) == expected


@pytest.mark.parametrize("raw", MATHEMATICS)
def test_text_that_is_no_tag_is_kept(raw):
    assert Cleaner().clean(raw) == raw
