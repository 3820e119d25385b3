"""Texts made to hang a parser; the limit is far above their usual time, about a second."""

import time

import pytest

from dedup_job.cleaning import Cleaner

M = 1_000_000
HOSTILE = {
    "less-than signs": "<" * 16 * M,
    "ampersands": "&" * M,
    "references": "&lt;" * M,
    "open elements": "<div>" * M,
    "nested elements": "<div>" * (M // 2) + "</div>" * (M // 2),
    "open formatting": "<p><b x=1>" * 300_000 + "</p>",
    "open options": "<select><option>" * 100_000,
    "open cells": "<table><tr><td>" * 100_000,
    "open attributes": '<a href="' * (M // 9),
    "open attributes with both quotes": "<a href='\"" * (M // 10),
    "attributes": "<p " + "a='1' " * 200_000,
    "white space in tags": ("<p" + " " * 1000) * 1000,
    "open comments": "<!--" * 300_000,
    "open scripts": "<script>" * 300_000,
    "scripts": "<script>a</script>" * 100_000,
    "open templates": "<template>" * 300_000,
    "templates closed once": "<template>" * 300_000 + "</template>",
    "nested templates": "<template>" * 200_000 + "</template>" * 200_000,
    "templates": "<template>a</template>" * 100_000,
    "code": "{<code>a</code>" * 100_000,
    "open code": "{<code><pre>" * 100_000,
    "character data": "<![CDATA[" * 300_000,
    "doctypes": "<!doctype" * 300_000,
    "long name": "<" + "a-" * M,
    "braces": "<p>" + "{" * M,
    "rules": "<p>" + ".a{color:red}" * 100_000,
    "leading rules": ".a{color:red}" * 100_000,
    "long selector": "<p>" + "p " * M + "{color:red}",
    "open groups": "<p>" + "@media " * 300_000,
    "leading groups": "@media x{" * 200_000,
    "white space before a statement": "<p>x" + " " * M + "@import",
    "open comments in a body": "<p>p{" + "/*" * 500_000 + "*/}",
    "semicolons in a body": "<p>p{" + ";" * M + "}",
    "nested tables": "<table><tr><td>a<td>" * 60_000,
    "nested tables closed": "<table><tr><td>a<td>" * 20_000 + "</table>" * 20_000,
    "nested lists": "<ol><li>a" * 100_000,
    "nested lists closed": "<ol><li>a" * 50_000 + "</ol>" * 50_000,
    "items": "<ol>" + "<li>a" * 200_000,
    "cells": "<table><tr>" + "<td>a" * 200_000,
    "rows": "<table>" + "<tr><td>a<br>b<td>" * 50_000,
    "exponents": "<sup>2" * 200_000,
    "underlines": "<u>a" * 200_000,
    "blanks": "<u></u>" * 100_000,
    "underlined images": "<u><img>" * 100_000,
    "open fractions": "<math>" + "<mfrac><mi>a</mi>" * 60_000 + "</math>",
    "nested roots": "<math>" + "<mroot>" * 50_000 + "<mi>a</mi></mroot>" * 50_000 + "</math>",
    "roots in roots": "<math>" + "<mroot><mi>a" * 50_000 + "</mroot>" * 50_000 + "</math>",
    "nested accents": "<math>" + "<mover><mi>a" * 50_000 + "</mover>" * 50_000 + "</math>",
    "broken MathML": "<math>" + "<msup></mfrac><mi>" * 50_000,
    "formulas never closed": "<span data-latex='x'>" * 50_000,
    "open boxes": "<span class=katex><math><mi>a</mi></math>" * 25_000,
    "annotations": "<math>" + "<annotation encoding=tex>a" * 40_000 + "</math>",
    "dollars": "$" * M,
    "images": "<img src=a.png>" * 10_000,
    "an image of a megabyte": "<img src='data:image/png;base64," + "A" * M + "'>",
    "spaces in addresses": "<img src='a" + "\u3000" * M + "'>",
    "a clean text longer than its raw one": "<img src='a" + "\u3000" * 200_000 + "a'>&lt;x-y>",
    "drawings": "<svg><g>" * 50_000 + "</svg>" * 50_000,
    "templates in templates": "<template><u>" * 50_000 + "</template>" * 50_000,
    "closing tags of nothing": "<div><td></p></li></span>" * 40_000,
    "one open element, closed many times": "<p><b x=1>" * 50_000 + "</div></i></td>" * 50_000,
    "fences": "```\n" * 200_001,
    "fences of all lengths": "\n".join("`" * (3 + k % 250) for k in range(8_000)),
    "code with fences": "<pre>```</pre>" * 50_000,
    "code in code": "<code><pre>" * 50_000 + "a\nb" + "</pre></code>" * 50_000,
    "foreign names": "".join(f"<a-{k}>" for k in range(100_000)) + "</a-1>",
    "escapes": "&lt;b&gt;" * 100_000,
    "one word": "a" * M,
    "white space": " " * M + "\n" * M + "a\n" * M,
}


@pytest.mark.measured
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_no_text_takes_more_than_linear_time(text):
    """One document must not hold up a run."""
    start = time.process_time()
    Cleaner().clean(text)
    assert time.process_time() - start < 20
