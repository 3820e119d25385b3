"""A tree written in the notation: strings put together, in no hurry.

Characters of the private use areas stand for what must not be touched until the end: images, code,
hard line breaks. Texts that hold such characters are not for the oracle.
"""

import re
from itertools import pairwise
from urllib.parse import quote

from tests.cleaning.oracle.escapes import speaks_of_escapes
from tests.cleaning.oracle.fences import trimmed
from tests.cleaning.oracle.formulas import alt_formula, formula, mathematics
from tests.cleaning.oracle.names import BLOCKS, INVISIBLE, VOID
from tests.cleaning.oracle.tree import Node, parsed, tree, value

HARD = "\ue000"
ATOMS = 0xF0000
_WEIGHTY = re.compile("加粗|黑体|粗体|粗字|斜体|bold|italic", re.IGNORECASE)
_LATEX = ("data-latex", "data-tex", "data-formula", "data-math", "data-equation")
_LATE = {
    "data-src",
    "data-original",
    "data-lazy-src",
    "data-actualsrc",
    "data-lazyload",
    "data-lazy",
    "data-echo",
    "lazy-src",
    "data-ks-lazyload",
    "data-real-src",
    "real_src",
    "lay-src",
    "_src",
    "file",
    "original",
    "zoomfile",
}
_SETS = {"srcset", "data-srcset", "data-lazy-srcset"}
_KNOWN = {"src", "data", "href", "xlink:href", "alt", "class", "style", "type", "start", "value"}
_KNOWN |= {"encoding", "open", "close", "separators", "hidden", "id", *_LATE, *_SETS, *_LATEX}
_PLACEHOLDER = re.compile(
    r"data:.*|(?:.*/)?(?:|[A-Za-z](?:\.[^/]*)?|[^/]*(?:loading|loader|lazy|blank|none|grey|gray|space"
    r"|1x1|pixel|placeholder|default|empty|transparent|wait)[^/]*)",
    re.IGNORECASE | re.DOTALL,
)
_DOTS = {
    "dian",
    "dot",
    "dots",
    "emphasis-dot",
    "emphasis-dots",
    "em-dot",
    "dot-under",
    "zhuozhong",
    "zhuozhonghao",
    "jiazhong",
    "jiadian",
}
_BOXES = {
    "katex",
    "mathjax",
    "mathjax_display",
    "mathjax_svg",
    "mathjax_svg_display",
    "mathjax_chtml",
    "mjx-chtml",
    "mwe-math-element",
}
_NO_FIELD = {"hidden", "radio", "checkbox", "submit", "button", "reset", "file", "range", "color"}
_ROMAN = "1000M 900CM 500D 400CD 100C 90XC 50L 40XL 10X 9IX 5V 4IV 1I"
_SPACE = rf"[\s{HARD}]"


def written(tokens, whole):
    """Return tokens in the notation, not yet escaped."""
    root = tree(tokens, whole)
    text = _written(root, hides=True, twice=True)
    is_escape = text != _written(root, hides=True, twice=False) and speaks_of_escapes(text)
    return _written(root, hides=bool(text), twice=not is_escape)


def _written(root, *, hides, twice):
    plain = _Writer(heavy=False, hides=hides, twice=twice)
    plain.children(root)
    heavy = bool(_WEIGHTY.search("\x01".join(plain.words)))
    return _Writer(heavy=heavy, hides=hides, twice=twice).finished(root)


class _Writer:
    def __init__(self, *, heavy, hides, twice):
        self.heavy, self.hides, self.twice = heavy, hides, twice
        self.atoms = []
        self.words = []
        self.marks = []
        self.pre = 0
        self.code = 0
        self.counters = []

    def finished(self, root):
        text = re.sub(f"[{INVISIBLE}]", "", self.children(root))
        text = re.sub(rf"{_SPACE}*(\[*)\ue002", r"\1", text)
        text = self._folded(text).replace("\ue003", " ").replace("\ue004", "")
        parts = [
            self.atoms[ord(one) - ATOMS] if chr(ATOMS) <= one <= "\U000fffff" else one
            for one in text
        ]
        for number, (part, after) in enumerate(pairwise(parts)):
            if part.startswith("\n```") and after.startswith("\n```"):
                parts[number] = part.rstrip("\n")
        return "".join(parts).strip("\n")

    def _folded(self, text):
        fences = "".join(chr(ATOMS + k) for k, a in enumerate(self.atoms) if a.startswith("\n"))
        if fences:
            text = re.sub(rf"{_SPACE}*([{fences}]){_SPACE}*", r"\1", text)
        breaks = re.compile(rf"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029{HARD}]")
        text = re.sub(rf"{_SPACE}+", lambda m: "\n" if breaks.search(m[0]) else " ", text)
        text = text.strip(" \n")
        if fences:
            text = re.sub(f"(?<=[{fences}])(?=[{fences}])", "", text)
            text = re.sub(f"[\n\ue003]?([{fences}])", r"\1", text)
        return text

    def atom(self, text):
        self.atoms.append(text)
        return chr(ATOMS + len(self.atoms) - 1)

    def image(self, kind, address):
        address = re.sub("[\t\n\r]", "", address.strip())
        safe = re.sub(
            r"[\x00-\x20\x7f-\xa0()<>\"\\`{}\u200b\ufeff\s]",
            lambda m: quote(m[0], safe=""),
            address,
        )
        return self.atom(f"![{kind}]({safe})")

    def children(self, node):
        return "".join(self.one(child) for child in node.children)

    def one(self, node):
        if node.name == "#":
            text = parsed(node.text, twice=self.twice and not self.code)
            self.words.append(text)
            return re.sub(f"[{INVISIBLE}]", "", text)
        if node.name == "#break":
            if node.text in {"td", "th", "tr"} and not self.code:
                return ""
            return "\n" if node.text == "br" or not self.code else "\ue001"
        if node.name == "!":
            self.words.append("\x01")
            return ""
        self.words.append("\x01")
        text = self.element(node)
        self.words.append("\x01")
        return text

    def element(self, node):
        if self._is_hidden(node):
            return self._hidden(node)
        spans = self._spans(node)
        opened = [s for s in spans if s in ("^", "_") or s not in self.marks]
        self.marks += [s for s in opened if s not in ("^", "_")]
        item = self._item(node)
        text = self._content(node)
        for span in opened:
            if span not in ("^", "_"):
                self.marks.remove(span)
        for span in reversed(opened):
            text = self._span(span, text, inline=node.name not in BLOCKS)
        if not item:
            return text
        _, inside, trail = _split(text)
        return f"{item}\ue003{inside}{trail}" if inside else trail

    def _is_hidden(self, node):
        handled = hasattr(self, f"on_{node.name.replace('-', '_').replace(':', '_')}")
        may = node.name in _HIDEABLE or not (handled or node.name in _UNSPANNED - {"tr"})
        if (
            not self.hides
            or not node.known
            or not may
            or node.name in VOID
            or "id" in node.attributes
        ):
            return False
        style = _style(node)
        words = [
            word
            for name in ("display", "visibility", "font-size")
            for word in re.findall("[a-z0-9.-]+", style.get(name, ""))
        ]
        jams = "jammer" in node.attributes.get("class", "").lower().split()
        shrunk = {"0", "0px", "0pt", "0em"} & {*words} and node.name not in BLOCKS
        return bool(jams or "hidden" in node.attributes or {"none", "hidden"} & {*words} or shrunk)

    def _hidden(self, node):
        table = node.name in _TABLES and not self.code
        text = self._content(node) if table else self.children(node)
        images = [c for c in text if ord(c) >= ATOMS and self.atoms[ord(c) - ATOMS][0] == "!"]
        if node.ended != "own" or images or len(text) > 200:
            return text
        return HARD if node.name == "tr" else ""

    def _content(self, node):
        name = node.name
        given = (a for a in node.attributes if a in _LATEX)
        latex = formula(value(node, next(given, "")))
        if latex:
            return latex + ("" if node.ended == "own" else self.children(node))
        if not node.known:
            return self.children(node)
        handler = getattr(self, f"on_{name.replace('-', '_').replace(':', '_')}", None)
        if handler:
            return str(handler(node))
        classes = set(node.attributes.get("class", "").lower().split())
        if classes & _BOXES and name in {"span", "div", "p"}:
            math = _first_math(node) if node.ended != "end" else None
            if math and (made := mathematics(math)):
                return made
        if "mathjax_preview" in classes and node.ended == "own":
            return ""
        return self.children(node)

    def on_img(self, node):
        if alt := alt_formula(node):
            return alt
        address = _address(node) or value(node, "href") or value(node, "xlink:href")
        return self.image("", address)

    on_image = on_embed = on_v_imagedata = on_img

    def _medium(self, node, kind):
        found = _address(node) or next(filter(None, map(_address, _all(node, "source"))), "")
        rest = "" if node.ended == "own" else self.children(node)
        return self.image(kind, found) + rest

    def on_audio(self, node):
        return self._medium(node, "audio")

    def on_video(self, node):
        return self._medium(node, "video")

    def on_source(self, _node):
        return ""

    def on_object(self, node):
        if "data" not in node.attributes:
            return self.children(node)
        rest = "" if node.ended == "own" else self.children(node)
        return self.image("", value(node, "data")) + rest

    def on_canvas(self, node):
        return self.image("", "") + ("" if node.ended == "own" else self.children(node))

    def on_svg(self, node):
        if node.ended != "own":
            return self.children(node)
        number = 0xCBF29CE484222325
        for byte in re.sub(r"\s+", " ", node.source).encode("utf-8", "surrogatepass"):
            number = (number ^ byte) * 0x100000001B3 % (1 << 64)
        return self.image("", f"svg:{number:016x}")

    def on_template(self, node):
        return "" if node.ended == "own" else self.children(node)

    def on_math(self, node):
        return mathematics(node)

    def on_script(self, node):
        if "math/tex" in node.attributes.get("type", "").lower():
            return formula(parsed(node.text, decoded=False)) or self.children(node)
        return self.children(node)

    def on_style(self, node):
        return self.children(node)

    def on_title(self, node):
        if node.children:  # never closed
            return self.children(node)
        self.words.append(parsed(node.text))
        return parsed(node.text) + "\n" if node.text else ""

    def on_xmp(self, node):
        if node.children:
            return self.children(node)
        return parsed(node.text, decoded=False) + "\n" if node.text else ""

    def on_textarea(self, node):
        if node.ended == "own":  # `<textarea/>`, which has no content
            return ""
        if not node.closed:
            return self.children(node)
        text = parsed(node.text)
        return (text if text.strip() else "____") + "\n"

    def on_input(self, node):
        kind = node.attributes.get("type", "").lower()
        if kind == "image":
            return self.on_img(
                Node("img", {k: v for k, v in node.attributes.items() if k != "alt"})
            )
        return "" if kind in _NO_FIELD else "____"

    def on_select(self, node):
        return "____" + self.children(node)

    def on_rt(self, node):
        _, inside, trail = _split(self.children(node))
        return f"\ue002({inside}){trail}" if inside else trail

    def on_rp(self, node):
        return "" if node.ended != "end" else self.children(node)

    def on_ol(self, node):
        kind = node.attributes.get("type", "")
        style = re.findall(
            r"list-style(?:-type)?\s*:[^;]*?\b(none|decimal|(?:upp|low)er-(?:alpha|latin|roman))\b",
            node.attributes.get("style", "").lower(),
        )
        kinds = {"upper-alpha": "A", "upper-latin": "A", "lower-alpha": "a", "lower-latin": "a"}
        kinds |= {"upper-roman": "I", "lower-roman": "i", "none": "", "decimal": "1"}
        kind = kinds[style[-1]] if style else kind if kind in set("AaIi") and kind else "1"
        return self._list(node, kind, _number(node.attributes.get("start", ""), 1))

    def on_ul(self, node):
        return self._list(node, "", 1)

    on_menu = on_dir = on_ul

    def _list(self, node, kind, start):
        self.counters.append((kind, start))
        text = self.children(node)
        self.counters.pop()
        return text

    def _item(self, node):
        if node.name != "li" or not self.counters or not self.counters[-1][0] or self.code:
            return ""
        kind, number = self.counters[-1]
        number = _number(node.attributes.get("value", ""), number)
        self.counters[-1] = kind, number + 1
        return f"{_marker(kind, number)}."

    def on_tr(self, node):
        if self.code:
            return self.children(node)
        cells, before = [], ""
        for child in node.children:
            if child.name in {"td", "th"}:
                counters, self.counters = self.counters, []
                cells.append(self.one(child))
                self.counters = counters
            elif cells:
                cells[-1] += self.one(child)
            else:
                before += self.one(child)
        if len(cells) < 2:
            return HARD + before + "".join(cells) + HARD
        cells[0] = before + cells[0]
        cells = [re.sub(rf"^{_SPACE}+|{_SPACE}+$", "", cell) for cell in cells]
        if not any(cells):
            return HARD
        cells = [re.sub(r"\s+", " ", cell) if HARD not in cell else _soft(cell) for cell in cells]
        row = cells[0]
        for cell in cells[1:]:
            row += (" |" if row else "|") + (f"\ue003{cell}" if cell else "")
        return HARD + row + HARD

    def on_pre(self, node):
        return self.on_code(node, pre=True)

    on_listing = on_pre

    def on_code(self, node, *, pre=False):
        if self.code:
            return self.children(node)
        self.code += 1
        text = self.children(node)
        self.code -= 1
        inside = text.strip(f" \n\ue001{HARD}\t\r\u3000\xa0\u2028\x0b")
        lines = pre or len(inside.replace("\ue001", "\n").splitlines()) > 1
        if node.ended == "end" or not lines:
            return text.replace("\ue001", "\n")
        text = re.sub(f"[{INVISIBLE}]", "", text)
        text = re.sub("(?<![\n\r\v\f\x1c-\x1e\x85\u2028\u2029\ue001])\ue001+", "\n", text)
        text = text.replace("\ue001", "").replace("\ue002", "").replace("\ue004", "")
        text = trimmed(re.sub("\r", "\n", text))
        if not text:
            return "\n"
        runs = [len(run) for run in re.findall("`+", text)]
        ticks = "`" * max(3, 1 + max([r for r in runs if r > 2], default=2))
        text = re.sub("[\U000f0000-\U000fffff]", lambda m: self.atoms[ord(m[0]) - ATOMS], text)
        return self.atom(f"\n{ticks}\n{text}\n{ticks}\n")

    def _spans(self, node):
        name, found = node.name, []
        style = {} if name == "a" else _style(node)
        line = " ".join(style.get(p, "") for p in ("text-decoration", "text-decoration-line"))
        border = name not in BLOCKS and "solid" in re.findall(
            "[a-z0-9-]+", style.get("border-bottom", "")
        )
        if name in {"u", "ins"} or "underline" in re.findall("[a-z0-9-]+", line) or border:
            found.append("underline")
        classes = set(node.attributes.get("class", "").lower().split())
        marks = [
            (re.findall("[a-z0-9-]+", style[p]) or ["none"])[0]
            for p in style
            if re.fullmatch("(-webkit-)?text-emphasis(-style)?", p)
        ]
        if classes & _DOTS or any(mark != "none" for mark in marks):
            found.append("dots")
        weight = re.findall("[a-z0-9-]+", style.get("font-weight", ""))
        bold = name in {"b", "strong"} or any(
            re.fullmatch("bold|bolder|[6-9]00", w) for w in weight
        )
        slant = re.findall("[a-z0-9-]+", style.get("font-style", ""))
        italic = name in {"i", "em"} or "italic" in slant or "oblique" in slant
        if self.heavy:
            found += ["bold"] * bold + ["italic"] * italic
        align = re.findall("[a-z0-9-]+", style.get("vertical-align", ""))
        raised = name in {"span", "font"}
        if name == "sup" or (raised and "super" in align):
            found.append("^")
        elif name == "sub" or (raised and "sub" in align):
            found.append("_")
        return found if node.known and name not in _UNSPANNED else []

    def _span(self, span, text, *, inline):
        lead, inside, trail = _split(text)
        if span in ("^", "_"):
            if not inside:
                return lead + trail
            visible = re.sub(rf"[{INVISIBLE}]", "", inside)
            one = len(visible) == 1 and ord(visible) < ATOMS
            return f"{span}\ue004{visible}{trail}" if one else f"{span}{{{inside}}}{trail}"
        words = re.sub(rf"[\U000f0000-\U000fffff_{INVISIBLE}]|{_SPACE}", "", inside)
        if words or any(
            self.atoms[ord(c) - ATOMS].startswith("\n") for c in inside if ord(c) >= ATOMS
        ):
            return f"{lead}[{inside}]{{.{span}}}{trail}"
        if span == "underline" and not re.search("[\U000f0000-\U000fffff]", inside):
            if not inside:
                return "____" if inline else lead + trail
            return f"{lead}____{trail}" if inline else text
        return text


_UNSPANNED = frozenset(["math", "mi", "mn", "mo", "mtext", "mrow", "tr", "textarea", "title"])


_TABLES = frozenset(["table", "thead", "tbody", "tfoot", "caption", "tr", "td", "th"])
_HIDEABLE = _TABLES | frozenset(
    ["ol", "ul", "menu", "dir", "li", "pre", "listing", "code", "rt", "select"]
)


def _style(node):
    return {
        p.strip().lower(): v.lower()
        for part in node.attributes.get("style", "").split(";")
        for p, colon, v in [part.partition(":")]
        if colon
    }


def _address(node):
    """Return the address that an element's attributes hold, the real one before a placeholder."""
    given = node.attributes
    late = next((v for k, v in given.items() if k in _LATE and re.search("[/.]", v)), "")
    places = [given.get("src", ""), next((v for k, v in given.items() if k in _SETS), "")]
    if _PLACEHOLDER.fullmatch(places[0]):
        places.reverse()
        form = r"[^\s\"'<>(]*/(?=[^/]*[.?])[^/\s\"'<>(]*"
        late = late or next(
            (v for k, v in given.items() if k not in _KNOWN and re.fullmatch(form, v)), ""
        )
    found = [v for v in (late, *places) if v]
    chosen = next((v for v in found if not _is_data(v)), found[0] if found else "")
    if chosen and chosen == next((v for k, v in given.items() if k in _SETS), "") != late:
        return (parsed(chosen).split() or [""])[0].rstrip(",")
    return parsed(chosen)


def _split(text):
    """Return the white space before, the rest, and the white space behind."""
    inside = re.sub(rf"^{_SPACE}+|{_SPACE}+$", "", text)
    lead = text[: len(text) - len(re.sub(rf"^{_SPACE}+", "", text))]
    return lead, inside, text[len(lead) + len(inside) :]


def _soft(cell):
    return re.sub(rf"{_SPACE}+", lambda m: HARD if HARD in m[0] else " ", cell)


def _is_data(address):
    return address.lower().startswith("data:")


def _all(node, name):
    found = [node] if node.name == name else []
    for child in node.children:
        found += _all(child, name)
    return found


def _first_math(node):
    return next((math for math in _all(node, "math") if math.known), None)


def _number(text, otherwise):
    return int(text) if re.fullmatch(r"\s*-?[0-9]{1,9}\s*", text) else otherwise


def _marker(kind, number):
    if kind in "Aa" and number > 0:
        letters = ""
        while number:
            number, rest = divmod(number - 1, 26)
            letters = chr(ord(kind) + rest) + letters
        return letters
    if kind in "Ii" and 0 < number < 4000:
        out = ""
        for step in _ROMAN.split():
            worth, letters = int(re.sub("[A-Z]", "", step)), re.sub("[0-9]", "", step)
            out += letters * (number // worth)
            number %= worth
        return out if kind == "I" else out.lower()
    return str(number)
