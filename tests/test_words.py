"""One word for one thing: the words that docstrings, comments and names do without."""

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    file
    for folder in ("dedup_job", "src", "tests", "scripts")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in {".py", ".cpp", ".hpp"}
    and file != Path(__file__)
    and "third_party" not in file.parts
]
PROSE = {  # by pattern, what to write instead
    r"\banew\b": "again",
    r"\bwho(m)?ever\b": "the caller, the next run ...",
    r"\b(Return|Yield)s? (what|whatever|those|them|which)\b": "a noun",
    r"\bwhat (is|was|are|were|lets?|makes?|tells?)\b(?![^.]*\?)": "a noun",
    r"\bheirs?\b": "successor, replacement",
    r"\bpieces?\b": "chunk, record, segment",
    r"\brooms?\b": "module, folder, space, memory",
    r"(?<!in )(?<!decimal )(?<!take )(?<!the )\bplaces?\b": "offset, position, collection",
}
NAMES = {
    *("told", "said", "given", "on", "wanted", "asked", "anew", "whose", "arrived", "meant"),
    *("lasting", "there", "here", "others", "among", "spread", "gone", "held", "drawn", "due"),
}
ALLOWED = {  # by file
    "dedup_job/cli/inspect.py": ("what is",),  # help, a message to users
    "dedup_job/cli/listing.py": ("what was",),
    "dedup_job/cli/upkeep.py": ("what is",),
    "dedup_job/commands/look.py": ("among",),  # a field of `inspect --json`
    "dedup_job/index.py": ("gone",),  # an argument of the core
}


def _prose(file):
    """Yield line and text of each docstring and comment."""
    source = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        for number, line in enumerate(source.splitlines(), 1):
            if found := re.search(r"(?<!:)//+ (.*)", line):
                yield number, found[1]
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _names(file):
    """Yield line and name of each function, class, argument and variable that a module defines."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def _found(file):
    allowed = ALLOWED.get(file.relative_to(ROOT).as_posix(), ())
    for number, text in _prose(file):
        for pattern, better in PROSE.items():
            for match in re.finditer(pattern, text):
                if match[0] not in allowed:
                    yield f"{file}:{number}: {match[0]!r}, better: {better}"
    for number, name in _names(file) if file.suffix == ".py" else ():
        if name.strip("_") in NAMES and name not in allowed:
            yield f"{file}:{number}: the name {name!r}, better: a noun"


@pytest.mark.parametrize("folder", ["dedup_job", "src", "tests", "scripts"])
def test_docstrings_comments_and_names_use_the_words_of_the_house(folder):
    files = [file for file in FILES if file.is_relative_to(ROOT / folder)]
    assert files
    assert [line for file in files for line in _found(file)] == []


def test_no_file_of_the_package_is_long_or_shares_its_name():
    files = [file for file in FILES if file.is_relative_to(ROOT / "dedup_job")]
    files += [file for file in FILES if file.is_relative_to(ROOT / "src")]
    lines = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {file: n for file, n in lines.items() if n > 450} == {}
    names = Counter(file.name for file in files)
    assert {name for name, n in names.items() if n > 1} == {"__init__.py", "bind.cpp"}
