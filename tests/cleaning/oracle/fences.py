"""White space folded but for fenced code, line by line."""

import re

_FENCE = re.compile(r"\s*(`{3,255})(?!`)(?P<info>[^`]*)")


def drop_invisible(text):
    """Remove the zero-width space and the byte order mark."""
    return text.replace("\u200b", "").replace("\ufeff", "")


def folded(text):
    """Fold each run of white space to a line break if it holds one, else to a space."""
    return "\n".join([" ".join(words) for line in text.splitlines() if (words := line.split())])


def _ticks(line):
    match = _FENCE.fullmatch(line)
    return (len(match[1]), not match["info"].strip()) if match else (0, False)


def fold_fenced(text):
    """Fold white space; what stands between two fences of as many backticks stays."""
    lines = drop_invisible(text).splitlines(keepends=True)
    out = []
    at = 0
    while at < len(lines):
        length, _ = _ticks(lines[at])
        ends = [k for k in range(at + 1, len(lines)) if _ticks(lines[k]) == (length, True)]
        out.append(folded(lines[at]))
        if length and ends:
            code = "".join(lines[at + 1 : ends[0]]).replace("\r\n", "\n").replace("\r", "\n")
            out += [trimmed(code), folded(lines[ends[0]])]
            at = ends[0]
        at += 1
    return "\n".join(part for part in out if part)


def trimmed(code):
    """Return code without the blank lines around it."""
    lines = code.splitlines(keepends=True)
    while lines and not lines[0].strip():
        del lines[0]
    return "".join(lines).rstrip()
