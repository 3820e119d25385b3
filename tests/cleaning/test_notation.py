"""The notation of docs/how-it-decides.md, case by case: (id, markup, clean text)."""

import pytest

from dedup_job.cleaning import Cleaner

IMAGES = [
    ("image", '看图<img src="a.png" alt="图">答', "看图![](a.png)答"),
    ("an image alone", "<p><img src=a.png></p>", "![](a.png)"),
    ("address with query", "<img src='http://x.cn/i?a=1&amp;b=2'>", "![](http://x.cn/i?a=1&b=2)"),
    ("marks in an address", "<img src='a b(1)\"<.png'>", "![](a%20b%281%29%22%3C.png)"),
    ("wide space in an address", "<img src='a\u3000b'>", "![](a%E3%80%80b)"),
    (
        "line breaks in an address",
        "<img src='data:image/png;base64,AA\n BB'>",
        "![](data:image/png;base64,AA%20BB)",
    ),
    ("loaded late", "<img data-src=b.png>", "![](b.png)"),
    ("address that is loaded later on", "<img src=a.png data-original=c.png>", "![](c.png)"),
    ("placeholder", "<img src='data:image/gif;base64,R0=' data-src=b.png>", "![](b.png)"),
    ("set of addresses", "<img srcset='s.png 1x, t.png 2x'>", "![](s.png)"),
    ("no address", "<img alt=x>", "![]()"),
    ("image of an office program", "<v:shape><v:imagedata src='1.wmf'/></v:shape>", "![](1.wmf)"),
    ("image as button", "<input type=image src=go.png>", "![](go.png)"),
    (
        "choices that are images",
        "<p>A. <img src=1.png></p><p>B. <img src=2.png></p>",
        "A. ![](1.png)\nB. ![](2.png)",
    ),
    ("audio", "<audio src=a.mp3 controls>不支持</audio>听", "![audio](a.mp3)\n听"),
    ("source of a video", "<video><source src=v.mp4>不支持</video>", "![video](v.mp4)"),
    ("object", "<object data=f.swf><p>不支持</p></object>", "![](f.swf)"),
    ("canvas", "<canvas>不支持</canvas>", "![]()"),
    ("drawing", "<svg>\n <path d='M0 0'/></svg>", "![](svg:7068b7395890add6)"),
    ("title and alt stay outside", "<p title=甲>乙<img src=a alt=丙></p>", "乙![](a)"),
]
FORMULAS = [
    ("formula of an image", "<img src=1.png data-latex='x^2'>", "$x^2$"),
    ("formula of a span", "<span data-tex='\\frac{1}{2}'><i>1</i>/2</span>。", "$\\frac{1}{2}$。"),
    (
        "delimiters it brings along",
        "<span data-math='$$x$$'></span><span data-latex='\\(y\\)'></span>",
        "$x$$y$",
    ),
    ("formula never closed", "若<span data-latex='x'>文字", "若$x$文字"),
    ("alternative text in LaTeX", "<img alt='\\sqrt{2}' src=1.png>", "$\\sqrt{2}$"),
    ("alternative text of a formula's image", "<img class=mwe-math alt='x=1' src=1.svg>", "$x=1$"),
    ("words as alternative text", "<img src=/math/1.png alt='triangle'>", "![](/math/1.png)"),
    ("a path is no formula", "<img src=1.png alt='C:\\img'>", "![](1.png)"),
    (
        "KaTeX",
        '<span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi>'
        '<annotation encoding="application/x-tex">x_1</annotation></semantics></math></span>'
        '<span class="katex-html">x1</span></span>是',
        "$x_1$是",
    ),
    (
        "Wikipedia",
        '<span class="mwe-math-element"><math><mi>x</mi></math><img alt="x" src=x.svg></span>',
        "$x$",
    ),
    (
        "MathJax",
        '<span class="MathJax_Preview">x</span><span class="MathJax">x2</span>'
        '<script type="math/tex">x^2</script>',
        "$x^2$",
    ),
    ("formulas in plain text", "\\(x\\) \\[y\\] $$z$$", "\\(x\\) \\[y\\] $$z$$"),
    (
        "fraction",
        "<math><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math>",
        "$\\frac{a}{b+1}$",
    ),
    (
        "roots",
        "<math><msqrt><mi>x</mi></msqrt><mroot><mi>y</mi><mn>3</mn></mroot></math>",
        "$\\sqrt{x}\\sqrt[3]{y}$",
    ),
    (
        "scripts",
        "<math><msup><mi>x</mi><mn>10</mn></msup><msubsup><mi>a</mi><mi>i</mi><mn>2</mn>"
        "</msubsup></math>",
        "$x^{10}a_i^2$",
    ),
    ("limits", "<math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover></math>", "$∑_i^n$"),
    (
        "accents",
        "<math><mover><mi>AB</mi><mo>→</mo></mover><mover><mi>x</mi><mo>¯</mo></mover></math>",
        "$\\vec{AB}\\overline{x}$",
    ),
    ("fence", "<math><mfenced open='['><mi>a</mi><mi>b</mi></mfenced></math>", "$[a,b)$"),
    (
        "matrix",
        "<math><mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd></mtr></mtable></math>",
        "$1 & 2 \\\\ 3$",
    ),
    (
        "children missing",
        "<math><mfrac><mi>a</mi></mfrac><msup><mi>b</mi></msup></math>",
        "$\\frac{a}{}b$",
    ),
    ("elements never closed", "<math><mfrac><mi>a</mi><mrow>2</math>c", "$\\frac{a}{2}$c"),
    ("math never closed", "<math><mi>a</mi>b", "ab"),
]
WORDS = [
    ("exponents", "2<sup>10</sup>÷2<sup>8</sup>", "2^{10}÷2^8"),
    ("index", "H<sub>2</sub>O, a<sub>n+1</sub>", "H_2O, a_{n+1}"),
    ("exponents of exponents", "x<sup>2<sup>n</sup></sup>", "x^{2^n}"),
    ("empty exponent", "x<sup> </sup>y", "x y"),
    ("raised by style", "x<span style='vertical-align: super'>2</span>", "x^2"),
    ("underline", "<u>加点</u>字", "[加点]{.underline}字"),
    (
        "underline by style",
        "<span style='text-decoration: underline'>词</span>",
        "[词]{.underline}",
    ),
    (
        "underline by border",
        "<span style='border-bottom:1px solid #000'>词</span>",
        "[词]{.underline}",
    ),
    ("white space stays outside", "一<u> 二 </u>三", "一 [二]{.underline} 三"),
    ("once however nested", "<u>一<ins>二</ins></u>", "[一二]{.underline}"),
    ("links stay text", "<a href=x style='text-decoration:underline'>词</a>", "词"),
    (
        "dots",
        "<span class=dian>着</span><em style='text-emphasis: dot'>重</em>",
        "[着]{.dots}[重]{.dots}",
    ),
    ("an underlined image", "<u> <img src=a> </u>", "![](a)"),
    ("an underlined empty block", "<p style='text-decoration:underline'> </p>x", "x"),
    ("bold says nothing", "<b>甲</b>", "甲"),
    ("bold that is asked about", "加粗的词是<b>甲</b>", "加粗的词是[甲]{.bold}"),
    ("italics that are asked about", "斜体<i>甲</i>", "斜体[甲]{.italic}"),
    ("bold in an address", "<img src=bold.png><b>甲</b>", "![](bold.png)甲"),
    ("reading", "<ruby>字<rt>zì</ruby>", "字(zì)"),
    ("reading in parentheses", "<ruby>字<rp>(</rp><rt>zì</rt><rp>)</rp></ruby>", "字(zì)"),
]
BLANKS = [
    ("field", "答案是<input type=text value=1>。", "答案是____。"),
    ("no fields", "<input type=hidden><input type=radio>A<input type=submit>", "A"),
    ("empty underline", "是<u>&nbsp; &nbsp;</u>。", "是____。"),
    ("underscores underlined", "<u>________</u>", "____"),
    ("text area", "<textarea></textarea><textarea>甲</textarea>", "____\n甲"),
    ("choice of a list", "<select><option>甲<option>乙</select>", "____\n甲\n乙"),
]
BLOCKS = [
    (
        "table",
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "a | b\n1 | 2",
    ),
    ("empty cells", "<tr><td>a</td><td></td><td>c</td></tr>", "a | | c"),
    ("one cell", "<table><tr><td>第一段<p>第二段</p></td></tr></table>", "第一段\n第二段"),
    ("lines in a cell", "<tr><td>a<br>b<td><p>c</p></tr>", "a b | c"),
    (
        "table in a cell",
        "<tr><td>x<td><table><tr><td>1<td>2<tr><td>3<td>4</table></tr>",
        "x | 1 | 2\n3 | 4",
    ),
    ("rows without content", "<table><tr><td><td><tr><td>a<td>b</table>", "a | b"),
    ("list with letters", "<ol type=A><li>农业</li><li>工业</li></ol>", "A. 农业\nB. 工业"),
    ("list from a number on", "<ol start=3><li>a<li value=9>b<li>c</ol>", "3. a\n9. b\n10. c"),
    ("Roman list", "<ol type=I start=4><li>a<li>b</ol>", "IV. a\nV. b"),
    ("list by style", "<ol style='list-style-type: lower-alpha'><li>a</ol>", "a. a"),
    (
        "list without markers",
        "<ol style='list-style:none'><li>A. 甲</ol><ul><li>乙</ul>",
        "A. 甲\n乙",
    ),
    ("list in a list", "<ol><li>a<ol type=a><li>b</ol><li>c</ol>", "1. a\na. b\n2. c"),
    ("lines of code", "<pre>\nif a:\n\tb  c\n\n</pre>说", "```\nif a:\n\tb  c\n```\n说"),
    ("code in a line", "用<code>a  b</code>打印", "用a b打印"),
    ("code of several lines", "<code>a\n  b</code>", "```\na\n  b\n```"),
    ("code that holds a fence", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
    ("code never closed", "<pre>a  b", "a b"),
    ("fence in plain text", "一  二\n```\na  b\n```\n三  四", "一 二\n```\na  b\n```\n三 四"),
    ("open fence in plain text", "```\na  b", "```\na b"),
    ("template", "a<template>b</template>c", "a\nc"),
    (
        "style rule beside code",
        "<p>.a{color:red}</p><pre>.b{color:red}</pre>",
        "```\n.b{color:red}\n```",
    ),
]
ESCAPES = [
    ("a comparison is no markup", "若a&lt;b且b&gt;c", "若a<b且b>c"),
    ("a tag that is text", "标签 &lt;br&gt; 表示换行", "标签 <br> 表示换行"),
    ("escaped twice", "&amp;lt;b&amp;gt;", "&lt;b&gt;"),
    ("a comment that is text", "<b>&lt;!-- x --&gt;</b>", "<!-- x -->"),
    ("a tag around something invisible", "<\u200bbr>a", "<br>a"),
    ("a style rule that is text", "<code>.a{color:red}</code>的含义", ".a{color:red}的含义"),
]
TABLES = (IMAGES, FORMULAS, WORDS, BLANKS, BLOCKS, ESCAPES)
CASES = [pytest.param(raw, expected, id=name) for table in TABLES for name, raw, expected in table]


@pytest.mark.parametrize(("raw", "expected"), CASES)
def test_markup_becomes_notation(raw, expected):
    assert Cleaner().clean(raw) == expected
