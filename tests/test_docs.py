"""The pages: links, examples and code, their Chinese, and agreement with the program."""

import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from pymongo import MongoClient
from typer.testing import CliRunner

import dedup_job
from dedup_job.cli import app
from dedup_job.cli.decide import QUARANTINED
from dedup_job.documents import Reason
from dedup_job.judgment.features import RULES
from dedup_job.messages import DedupError, Interrupted
from dedup_job.report.progress import HELP
from dedup_job.runs.run_record import Status
from dedup_job.runs.status import NOTES, Check
from dedup_job.settings import Settings, load
from scripts import make_docs, site_hooks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
HELP_OPTIONS = {"-h", "--help"}  # an option of every command, listed once
READMES = ("README.md", "README.zh-CN.md")
TRANSLATED = [(ROOT / READMES[0], ROOT / READMES[1])] + [
    (page.with_name(page.name.replace(".zh.md", ".md")), page) for page in DOCS.glob("*.zh.md")
]
USER_PAGES = sorted([*(ROOT / name for name in READMES), *DOCS.glob("*.md")])
PAGES = [*USER_PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
_COMMENT = re.compile(r"(?:^|\s)(?:#|//) .*|(?<=\")(?:[^\"\x00-\x7f][^\"]*)(?=\")", re.M)


def read(page):
    return page.read_text(encoding="utf-8")


def name_of(page):
    return str(page.relative_to(ROOT))


def without_fences(text):
    return _FENCE.sub("", text)


def fences(text):
    return [(block[2], _COMMENT.sub("", block[3])) for block in _FENCE.finditer(text)]


def headings(text):
    headings = re.findall(r"^(#+) (.*)$", without_fences(text), re.M)
    return [(len(marks), words) for marks, words in headings]


def section(page, heading):
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", read(page), re.M | re.S)
    assert found, f"{page.name} has no heading {heading!r}"
    return found[1]


def first_column(text):
    return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]


def spans(text):
    return re.findall(r"`([^`\n]+)`", without_fences(text))


def code(text):
    yield from spans(text)
    for block in _FENCE.finditer(text):
        yield from block[3].splitlines()


def flags(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def slug(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@cache
def options_in_help(path):
    result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    rows = re.findall(r"^  (-[^ ].*?)(?:  |$)", result.stdout, re.M)
    return frozenset(name for row in rows for name in re.findall(r"(?<!\S)--?[a-z][a-z-]*", row))


def options_in(text):
    cells = first_column(text)
    return {name for cell in cells for name in re.findall(r"(?<=`)--?[a-z][a-z-]*", cell)}


COMMAND_PAGES = [DOCS / "commands.md", DOCS / "commands.zh.md"]
CODES = {"commands.md": "Exit codes", "commands.zh.md": "退出码"}
SHARED = {f"--{name.replace('_', '-')}" for name in make_docs.SHARED}
COMMANDS = [tuple(path.split()[1:]) for path, _ in make_docs.commands()]
GROUPS = {path[0] for path in COMMANDS if len(path) > 1}
EVERY = [(), *COMMANDS]


def unknown(text):
    """Yield each nonexistent command and option in a line of code."""
    call = re.search(r"(?<![\w./-])dedup ([a-z]+)(?: ([a-z]+)|(?=[\s`]|$))([^|;&]*)", text)
    if call and call[1] != "did":  # of a message: documents that dedup did not write
        path = (call[1], call[2]) if call[1] in GROUPS and call[2] else (call[1],)
        if path in COMMANDS:
            yield from sorted(flags(call[3]) - options_in_help(path) - HELP_OPTIONS)
        elif path[0] not in GROUPS or path[1:]:
            yield f"dedup {' '.join(path)}"
    elif text.startswith("--"):
        yield from sorted(flags(text) - {name for path in EVERY for name in options_in_help(path)})


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=name_of)
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_page_lists_the_options_of_each_command(path, page):
    listed = options_in_help(path)
    elsewhere = HELP_OPTIONS if path == ("run",) else HELP_OPTIONS | SHARED
    assert listed >= HELP_OPTIONS
    assert options_in(section(page, f"`{' '.join(('dedup', *path))}`")) == listed - elsewhere


@pytest.mark.parametrize("page", COMMAND_PAGES, ids=name_of)
def test_the_page_describes_every_command_and_no_other(page):
    described = [words for _, words in headings(read(page)) if words.startswith("`dedup")]
    assert sorted(described) == sorted(f"`{' '.join(('dedup', *path))}`" for path in COMMANDS)


@pytest.mark.parametrize("name", CODES)
def test_the_page_lists_the_exit_codes_of_all_errors(name):
    def codes(error):
        return {error.code}.union(*(codes(child) for child in error.__subclasses__()))

    signals = {Interrupted("", s).code for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
    cells = first_column(section(DOCS / name, CODES[name]))
    assert {int(cell) for cell in cells if cell.isdigit()} == {0, QUARANTINED} | codes(
        DedupError
    ) | signals


@pytest.mark.parametrize("page", USER_PAGES, ids=name_of)
def test_every_command_and_option_that_a_page_names_exists(page):
    assert [wrong for text in code(read(page)) for wrong in unknown(text)] == []


SETTINGS_PAGE = DOCS / "settings.md"
NAMES = {name for name, *_ in load().rows()}


def test_the_page_lists_all_settings_and_marks_the_stamp_with_stars():
    tables = re.findall(r"<!-- begin settings: \w+ -->(.*?)<!-- end -->", read(SETTINGS_PAGE), re.S)
    cells = [cell for table in tables for cell in first_column(table) if cell.startswith("`")]
    assert {cell.strip("`* ") for cell in cells} == NAMES
    stamp = load(flags={"output.keep": ("longest",)}).settings.stamp()
    assert stamp.pop("rules") == RULES
    assert {cell.strip("`* ") for cell in cells if cell.endswith("*")} == {
        f"{part}.{name}" for part, values in stamp.items() for name in values
    }


@pytest.mark.parametrize("page", USER_PAGES, ids=name_of)
def test_every_setting_that_a_page_names_exists(page):
    sections = "|".join(Settings.model_fields)
    words = (re.match(rf"(?:{sections})\.[a-z_]+(?![\w./])", span) for span in spans(read(page)))
    named = {word[0] for word in words if word}
    assert named <= NAMES


@pytest.mark.parametrize("word", [*Reason, *Status])
def test_every_reason_and_status_is_explained(word):
    cells = [line for line in read(DOCS / "data-format.md").splitlines() if line.startswith("| ")]
    assert any(f"`{word}`" in cell for cell in cells)


def test_the_page_lists_the_presets():
    listed = re.findall(r"\(\.\./configs/([a-z]+)\.toml\)", read(SETTINGS_PAGE))
    assert sorted(listed) == sorted(file.stem for file in (ROOT / "configs").glob("*.toml"))


TAGS = r"<a id=\"([^\"]+)\">"
PACKAGE = ROOT / "dedup_job"
FOLDERS = "|".join(f.name for root in (ROOT, PACKAGE) for f in root.iterdir() if f.is_dir())
PATH = re.compile(rf"(?<![\w./$~:-])(?:(?:{FOLDERS})/[\w./-]*\w|[\w-]+\.py\b)")
EXAMPLES = {"docs/s", "docs/page.zh.md", "utils.py"}  # no files


def anchors(page):
    text = read(page)
    return {slug(words) for _, words in headings(text)} | set(re.findall(TAGS, text))


def is_broken(page, link):
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    return not target.exists() or (anchor and anchor not in anchors(target))


def test_the_generated_parts_are_up_to_date():
    names = [name_of(page) for page in make_docs.stale()]
    assert names == [], "run scripts/make_docs.py"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_link_is_broken(page):
    text = re.sub(r"`[^`\n]+`", "x", without_fences(read(page)))
    links = re.findall(r"(?<!!)\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)", text)
    assert [link for link in links if "://" not in link and is_broken(page, link)] == []


def exists(name):
    if "/" not in name:  # in a folder that the text named before
        parts = ("dedup_job", "scripts", "tests")
        return any(next((ROOT / part).rglob(name), None) for part in parts)
    names = (name, f"{name}.py", f"{name.rpartition('.')[0]}.py")  # a module, a function of one
    return any((root / each).exists() for root in (ROOT, PACKAGE) for each in names)


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=name_of)
def test_every_file_that_a_page_names_exists(page):
    named = {path[0] for line in code(read(page)) for path in PATH.finditer(line)} - EXAMPLES
    assert [name for name in named if not exists(name)] == []


def test_the_house_lists_every_folder_and_file_of_the_package():
    block = read(ROOT / "CONTRIBUTING.md").split("## The map")[1].split("```")[1]
    folders, listed = [ROOT], set()
    for indent, name in re.findall(r"^( *)(\S+)(?:  |$)", block, re.M):
        folders[1 + len(indent) // 2 :] = [folders[len(indent) // 2] / name]
        assert folders[-1].exists(), folders[-1]
        listed.add(folders[-1])
    own = {*PACKAGE.iterdir()} - {PACKAGE / "__main__.py", PACKAGE / "py.typed"}
    built = {"__pycache__", *(path.name for path in PACKAGE.glob("_core.*.so"))}
    assert {path for path in own if path.name not in built} <= listed


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_readme_is_one_screen(name):
    assert len(read(ROOT / name).splitlines()) <= 60


def test_every_page_is_in_the_navigation_of_the_site():
    listed = re.findall(r"^ +- [^:]+: (\S+\.md)$", read(ROOT / "mkdocs.yml"), re.M)
    assert sorted(listed) == sorted(
        page.name for page in DOCS.glob("*.md") if not page.name.endswith(".zh.md")
    )


def test_the_site_drops_outside_links_joins_chinese_lines_and_unescapes_bars():
    text = "[the README](../README.md#x)，\n[这](api.md)：\n\n- 一\n\n```\n第一\n行\n```\n"
    changed = text.replace("[the README](../README.md#x)，\n", "the README，")
    assert site_hooks.on_page_markdown(text) == changed
    assert site_hooks.on_page_content(r"<td>a \| b</td>") == "<td>a | b</td>"


@pytest.mark.parametrize(("page", "no"), [("operations.md", "no"), ("operations.zh.md", "否")])
def test_each_finding_has_one_sentence_that_says_whether_it_is_an_error(page, no):
    table = read(DOCS / page).split("|---|---|---|\n")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \| (\S+) \| (.+?) \|$", table, re.M)
    assert [name for name, _, _ in rows] == [*map(str, Check)]
    assert [answer == no for _, answer, _ in rows] == [check in NOTES for check in Check]
    sentences = [re.split(r"(?<=\.) |(?<=。)", sentence.strip("。")) for _, _, sentence in rows]
    assert {*map(len, sentences)} == {1}


DASHBOARD = DOCS / "monitoring" / "dashboard.json"
ALERTS = DOCS / "monitoring" / "alerts.yml"
METRIC = r"\bdedup_[a-z_]*[a-z]\b"


def test_dashboard_and_rules_use_every_metric_and_no_other():
    assert set(re.findall(METRIC, read(DASHBOARD) + read(ALERTS))) == set(HELP)


@pytest.mark.parametrize(
    ("page", "heading"), [("operations.md", "Metrics"), ("operations.zh.md", "指标")]
)
def test_the_page_lists_every_metric_in_the_order_of_the_file(page, heading):
    cells = first_column(section(DOCS / page, heading))
    assert [cell.strip("`") for cell in cells if cell.startswith("`dedup")] == [*HELP]


NEEDED = {"first-run", "output", "commands", "operations"}
SAME = {"bash", "cron", "dockerfile", "ini", "js", "python", "toml", "yaml"}
pages = pytest.mark.parametrize(
    ("english", "chinese"), TRANSLATED, ids=[name_of(chinese) for _, chinese in TRANSLATED]
)


def test_four_pages_are_translated_into_chinese():
    assert {page.name.removesuffix(".zh.md") for page in DOCS.glob("*.zh.md")} == NEEDED


@pages
def test_a_chinese_page_has_the_headings_of_the_english_one(english, chinese):
    ours, theirs = ([level for level, _ in headings(read(page))] for page in (chinese, english))
    assert ours == theirs[: len(ours)]
    assert len(ours) == len(theirs) or chinese.name == "operations.zh.md", "the end is in English"


@pages
def test_a_chinese_page_has_the_code_of_the_english_one(english, chinese):
    ours = fences(read(chinese))
    theirs = fences(read(english))[: len(ours)]
    assert [language for language, _ in ours] == [language for language, _ in theirs]
    assert [block for block in ours if block[0] in SAME] == [
        block for block in theirs if block[0] in SAME
    ]


PRINTED = re.findall(r"^```text\n(.*?)^```$", read(DOCS / "api.md"), re.M | re.S)
API_EXAMPLES = re.findall(r"^```python\n(.*?)^```$", read(DOCS / "api.md"), re.M | re.S)


@pytest.fixture
def school(replica_set, monkeypatch):
    monkeypatch.setenv("DEDUP_URI", replica_set)
    with MongoClient(replica_set) as client:
        texts = ("水是生命之源。", "<p>水是生命之源。</p>", "火是文明之源。")
        client.school.questions.insert_many([{"_id": i, "text": t} for i, t in enumerate(texts)])
        yield client.school
        client.drop_database("school")


def test_the_examples_of_the_api_print_the_text_on_the_page(school, capsys):
    names = {}
    for example in API_EXAMPLES:
        exec(compile(example, "docs/api.md", "exec"), names)
    printed = re.sub(" +$", "", capsys.readouterr().out, flags=re.M)
    assert printed.startswith("".join(PRINTED))
    assert "\n3 2 1\n" in printed
    assert school.questions_unique.count_documents({}) == 2


def test_dir_shows_every_public_name_and_all_can_be_loaded():
    assert {*dir(dedup_job)} == {*dedup_job.__all__, "__version__"}
    for name in dedup_job.__all__:
        assert getattr(dedup_job, name).__doc__


def test_the_package_is_imported_without_numpy_and_pymongo():
    program = "import sys, dedup_job; print({'numpy', 'pymongo'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout == "set()\n"
