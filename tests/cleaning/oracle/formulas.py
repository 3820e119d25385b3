"""Formulas of attributes and MathML, as LaTeX."""

import re

from tests.cleaning.oracle.tree import parsed, value

_ACCENTS = {
    "overline": "¯‾ˉ_―\u0305\u0304",
    "vec": "→⇀\u20d7",
    "hat": "^ˆ\u0302",
    "tilde": "~˜\u0303",
    "dot": "˙.\u0307",
    "ddot": "¨\u0308",
}
_CHILDREN = {
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "mrow",
    "mstyle",
    "mpadded",
    "mphantom",
    "menclose",
    "merror",
    "maction",
    "semantics",
    "mmultiscripts",
    "mfrac",
    "msqrt",
    "mroot",
    "msup",
    "msub",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mfenced",
    "mtable",
    "mtr",
    "mtd",
}
_TEXT = {"mtext", "annotation", "annotation-xml"}


def formula(text):
    """Return a text as a formula, without the delimiters it has; nothing for white space."""
    text = text.strip()
    while len(text) >= 2 and text[0] == text[-1] == "$":
        if len(text) > 2 and text[-2] == "\\":
            break
        text = text[1:-1].strip()
    if len(text) >= 4 and (text[:2], text[-2:]) in {("\\(", "\\)"), ("\\[", "\\]")}:
        text = text[2:-2].strip()
    return f"${text}$" if text else ""


def alt_formula(node):
    """Return the alternative text of an image if it is a formula."""
    alt = value(node, "alt")
    if re.search(r"[\^$]|_\{|(?<!:)\\[A-Za-z]", alt):
        return formula(alt)
    names = [node.attributes.get("class", "")]
    address = node.attributes.get("src", "")
    names += [] if address.lower().startswith("data:") else [address]
    named = any(
        re.search("(?i)math|latex|equation|formula|(?<![a-z0-9])tex(?![a-z0-9])", name)
        for name in names
    )
    wordy = re.search("[A-Za-z]{4}", alt) or any(ord(c) >= 0x2E80 for c in alt)
    return formula(alt) if named and not wordy else ""


def mathematics(node):
    """Return a math element as a formula."""
    for note in _notes(node):
        text = _strip(_texts(note))
        if "tex" in note.attributes.get("encoding", "").lower() and text:
            return f"${text}$"
    text = _strip(_inside(node))
    return f"${text}$" if text else ""


def _strip(text):
    return text.strip(" \n\t\r\u3000\xa0")


def _notes(node):
    found = []
    for child in node.children:
        found += [child] if child.name == "annotation" else _notes(child)
    return found


def _texts(node):
    return "".join(parsed(c.text) if c.name == "#" else _texts(c) for c in node.children)


def _text(node, parent):
    raw = node.text if parent.name in _TEXT else node.text.strip()
    return parsed(raw)


def _inside(node):
    return "".join(_parts(node))


def _parts(node):
    """Return what stands before the first child, then each child with what follows it."""
    parts = [""]
    for child in node.children:
        if child.name in _CHILDREN:
            parts.append(_element(child))
        elif child.name == "#":
            parts[-1] += _text(child, node)
        elif child.name == "#break":
            parts[-1] += "" if child.text in {"mtable", "mtr", "mtd"} else "\n"
        elif child.name not in {"annotation", "annotation-xml", "!"}:
            parts[-1] += _inside(child)
    return parts


def _script(mark, text):
    inside = _strip(text)
    if not inside:
        return ""
    trail = " " if text[-1] in " \n" else ""
    return mark + (inside if len(inside) == 1 else f"{{{inside}}}") + trail


def _first(node, name, otherwise):
    return value(node, name).strip()[:1] if name in node.attributes else otherwise


def _element(node):
    before, *rest = _parts(node)
    name, count = node.name, len(rest)
    all_text = before + "".join(rest)
    if name == "mfrac":
        if count < 2:
            return rf"\frac{{{all_text}}}{{}}"
        return rf"\frac{{{before}{rest[0]}}}{{{''.join(rest[1:])}}}"
    if name == "msqrt":
        return rf"\sqrt{{{all_text}}}"
    if name == "mfenced":
        mark = _first(node, "separators", ",")
        inside = before + mark.join(rest)
        return _first(node, "open", "(") + inside + _first(node, "close", ")")
    if name == "mtable":
        return before + r" \\ ".join(rest)
    if name == "mtr":
        return before + " & ".join(rest)
    if count < 2:
        return all_text
    base, script = before + rest[0], "".join(rest[1:])
    if name == "mroot":
        return rf"\sqrt[{script}]{{{base}}}"
    if name == "mover":
        for command, characters in _ACCENTS.items():
            if len(script.strip()) == 1 and script.strip() in characters:
                return rf"\{command}{{{base}}}"
    if name in {"msup", "mover"}:
        return base + _script("^", script)
    if name in {"msub", "munder"}:
        return base + _script("_", script)
    if name in {"msubsup", "munderover"}:
        return base + _script("_", rest[1]) + _script("^", "".join(rest[2:]))
    return all_text
