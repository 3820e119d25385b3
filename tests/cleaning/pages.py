"""Random pages of all that the notation knows, whole and broken."""

import random

_WORDS = [
    "若a<b且b>c",
    "下列",
    "x",
    "y2",
    "text",
    "加粗",
    "1",
    " ",
    "\n",
    "  ",
    "\t",
    "。",
    "_",
    "__",
]
_WORDS += [
    "&lt;",
    "&amp;",
    "&nbsp;",
    "&amp;lt;",
    "&#123;",
    "`",
    "```",
    "\n```\n",
    "|",
    "*",
    "&lt;b&gt;",
]
_WORDS += [
    "![](a.png)",
    "$x$",
    "[甲]{.underline}",
    "^{2}",
    "\u200b",
    "\u3000",
    "<",
    "&",
    "&copy;",
    "bold",
]
_INLINE = ["b", "i", "u", "ins", "em", "strong", "span", "font", "sup", "sub", "a", "a"]
_BLOCKS = ["p", "div", "li", "h1", "select", "option", "x-y", "o:p"]
_WHOLE = ["template", "object", "audio", "video", "canvas", "svg", "pre", "pre", "code", "code"]
_MATH = ["mi", "mn", "mo", "mtext", "mrow", "mfrac", "msqrt", "mroot", "msup", "msub", "msubsup"]
_MATH += ["munder", "mover", "munderover", "mfenced", "mtable", "mtr", "mtd"]
_ATTRIBUTES = [
    *(' style="text-decoration:underline"', " style='vertical-align: super'", " class=dian"),
    *(
        ' style="font-weight:bold;color:red"',
        ' style="text-emphasis:dot"',
        " style=font-style:italic",
    ),
    *(
        ' style="border-bottom:1px solid"',
        ' class="x dots"',
        " data-latex='x^2'",
        ' data-tex="$y$"',
    ),
    *(" data-latex=''", " href=x", " type=A", " start=3", " value=7", ' style="list-style:none"'),
    *(" type=i", " src=a.png", " src='b c(1).png'", ' data="d.swf"', ' title="<b>"', " start=x"),
]
_VOID = [
    *("<br>", "<img src=a.png>", "<img src='x y.png' alt=图>", "<img alt='\\frac{1}{2}'>", "<hr>"),
    *("<img class=latex alt='x=1'>", "<img data-src=l.png>", "<img srcset='s.png 2x, t.png'>"),
    *(
        "<img>",
        "<input>",
        "<input type=radio>",
        "<input type='text' value=1>",
        "<input type=image src=i>",
    ),
    *("<source src=m.mp3>", "<textarea> </textarea>", "<textarea>甲</textarea>", "<!-- c -->"),
    *(
        "<script>x</script>",
        "<title>a<b></title>",
        "<svg><path d='M0 0'/></svg>",
        "<u></u>",
        "<u> </u>",
    ),
    *("<img src='data:image/png;base64,AA==' data-src='z.png'>", "<v:imagedata src='v.png'>"),
    *('。<script type="math/tex">a<b</script>', "<u>__</u>", "<embed src=e>", "<?xml ?>"),
    "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x_1</annotation>"
    "</semantics></math>",
    '<span class="katex"><math><mi>z</mi></math><span class="katex-html">z</span></span>',
]
_BROKEN = ["<", "</", "<!--", "</p>", "</div>", "</table>", "</span>", "</td>", "</u>", "</li>"]


class _Source(random.Random):
    """Random numbers, and how many tables are open: within them markup is less broken."""

    tables = 0


def page(rng):
    """Return a page."""
    source = _Source(rng.random())
    return _part(source, source.randrange(1, 5))


def _part(rng, depth):
    kinds = [_text, _text, _void, _element, _element, _formula]
    kinds += [_table, _list, _broken] if rng.random() < 0.5 else []
    return "".join(rng.choice(kinds)(rng, depth) for _ in range(rng.randrange(5)))


def _text(rng, _depth):
    return "".join(rng.choices(_WORDS, k=rng.randrange(1, 4)))


def _void(rng, _depth):
    return rng.choice(_VOID)


def _broken(rng, _depth):
    return rng.choice(_BROKEN[:3] if rng.tables else _BROKEN)


def _attributes(rng):
    return "".join(rng.sample(_ATTRIBUTES, rng.choice([0, 0, 1, 1, 2])))


def _element(rng, depth):
    if rng.random() < 0.2:
        return _whole(rng)
    name = rng.choice(_INLINE if rng.random() < 0.6 else _BLOCKS)
    inside = _part(rng, depth - 1) if depth else _text(rng, 0)
    end = "" if rng.random() < 0.05 and not rng.tables else f"</{name}>"
    return f"<{name}{_attributes(rng)}>{inside}{end}"


def _whole(rng):
    if rng.random() < 0.2:
        return rng.choice(
            ["<ruby>字<rt>zì</rt></ruby>", "<ruby>字<rp>(</rp><rt>zì<rp>)</rp></ruby>"]
        )
    name = rng.choice(_WHOLE)
    lines = [
        "a",
        "  b",
        "\n",
        "\t",
        "<br>",
        "<b>c</b>",
        "`",
        "```",
        "\n```\n",
        "x<sup>2</sup>",
        "<img src=a>",
    ]
    inside = "".join(rng.choices(lines, k=rng.randrange(6))) if name in "precode" else _text(rng, 0)
    return f"<{name}{_attributes(rng)}>{inside}</{name}>"


def _table(rng, depth):
    rows = []
    rng.tables += 1
    for _ in range(rng.randrange(1, 4)):
        cells = [_part(rng, depth - 1) if depth else "甲" for _ in range(rng.randrange(1, 4))]
        end = rng.choice(["</td>", ""])
        rows.append(
            "<tr>" + "".join(f"<td>{cell}{end}" for cell in cells) + rng.choice(["</tr>", ""])
        )
    rng.tables -= 1
    return f"<table>{''.join(rows)}</table>"


def _list(rng, depth):
    items = [_part(rng, depth - 1) if depth else "乙" for _ in range(rng.randrange(1, 4))]
    name = rng.choice(["ol", "ol", "ul"])
    given = rng.choice(
        [" type=A", " type=i start=4", " start=x", " style='list-style:none'", "", ""]
    )
    return f"<{name}{given}>" + "".join(f"<li>{item}" for item in items) + f"</{name}>"


def _formula(rng, depth):
    return f"<math>{''.join(_mathematics(rng, depth) for _ in range(rng.randrange(3)))}</math>"


def _mathematics(rng, depth):
    if depth <= 0 or rng.random() < 0.4:
        return f"<mi>{rng.choice(['x', '10', ' + ', '→', '¯', '&lt;', '', 'sin'])}</mi>"
    name = rng.choice(_MATH)
    inside = "".join(
        _mathematics(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 3, 4]))
    )
    return f"<{name}>{inside}{'' if rng.random() < 0.03 else f'</{name}>'}"
