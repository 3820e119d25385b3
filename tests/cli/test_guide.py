"""`dedup run` without --source: it lists collections, proposes a command, asks on a terminal."""

import os
import select
from pathlib import Path

import pytest

from tests.running import dedup, environment_for, on_terminal, run_here, uri_of

TEXT = "植物利用阳光把二氧化碳和水合成为有机物，同时释放氧气。"


@pytest.fixture
def school(database):
    """Return a database with a question bank, a target made from it, and some small collections."""
    longer = {"html": f"<p>{TEXT * 9}</p>"}  # which few have
    other = {"url": "http://a.b/" * 9, "meta": {"note": "见上"}}
    rows = [
        {"_id": i, "stem": f"{i}. {TEXT}", **other, **(longer if i < 9 else {})} for i in range(40)
    ]
    database.questions.insert_many(rows)
    database.small.insert_one({"stem": "x y"})
    database["small.state"].insert_one({"stem": "x"})  # which makes no target of it
    run_here(database, source="questions", target="made", source__field="stem")
    return database


def ask(database, *arguments, answers, folder):
    """Run a command on a terminal of 80 columns, type the answers; return its code and output."""
    environment = environment_for(uri_of(database)) | {"PYTHONPATH": str(Path.cwd())}
    process, master = on_terminal(["run", *arguments], environment, columns=80, cwd=folder)
    output, answer = b"", ""
    try:
        while some := os.read(master, 4096):
            output += some
            if answers and output.endswith(b"]: "):  # the prompt of a question
                answer, *answers = answers
                os.write(master, answer.encode())
            while answer == "\x03" and not select.select([master], [], [], 2)[0]:
                os.write(master, b"\x03")  # the first came just before the process waited for it
    except OSError:  # it ended
        pass
    os.close(master)
    return process.wait(60), output.decode()


def test_a_script_gets_the_list_a_command_and_2(school):
    result = dedup("run", "--db", school.name, uri=uri_of(school))
    assert result.returncode == 2
    assert "questions" in result.stderr
    assert "stem (100%, " in result.stderr
    assert "html (22%, " in result.stderr
    assert "meta.note (100%, 2)" in result.stderr
    assert (
        f"dedup run --source {school.name}.questions --target {school.name}.questions_unique "
        f"--field stem --db {school.name} --dry-run --html pairs.html"
    ) in result.stderr
    assert f"{school.name}.made" not in result.stderr  # what dedup wrote is not offered
    assert "url" not in result.stderr  # nor is a field without prose


def test_enter_after_enter_is_a_dry_run_with_a_page(school, tmp_path):
    code, output = ask(school, "--db", school.name, answers=["\n"] * 2, folder=tmp_path)
    assert (code, "scanned            40 " in output) == (0, True), output
    assert "pairs.html: open it in a browser." in output
    assert (
        f"dedup run --source {school.name}.questions --target {school.name}"
        in output.split("to write")[1]
    )
    assert (tmp_path / "pairs.html").exists()
    assert "questions_unique" not in school.list_collection_names()


def test_the_collection_of_the_number_is_read(school, tmp_path):
    answers = ["9\n", "x\n", "2\n", "what\n", "y\n"]
    code, output = ask(school, "--db", school.name, answers=answers, folder=tmp_path)
    assert (code, "scanned            1 " in output) == (0, True), output
    assert "Answer y or n." in output
    assert f"dedup run --source {school.name}.small --target {school.name}.small_unique" in output


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        (["\n", "n\n"], 2, "not confirmed; nothing was written."),
        (["1\n", "\x03"], 130, "ended; nothing was written."),
    ],
)
def test_a_no_and_ctrl_c_write_nothing(school, tmp_path, answers, code, words):
    before = sorted(school.list_collection_names())
    ended, output = ask(school, "--db", school.name, answers=answers, folder=tmp_path)
    assert (ended, words in output, "Traceback" in output) == (code, True, False), output
    assert sorted(school.list_collection_names()) == before


def test_an_empty_server_says_how_to_go_on(database):
    result = dedup("run", "--db", "dedup_nothing_there", uri=uri_of(database))
    assert (result.returncode, "no collection that holds documents" in result.stderr) == (2, True)


def test_a_page_that_is_there_is_left_alone(school, tmp_path):
    (tmp_path / "pairs.html").write_text("mine")
    code, output = ask(school, "--db", school.name, answers=["\n"] * 2, folder=tmp_path)
    assert (code, "pairs.html exists" in output) == (2, True), output
    assert (tmp_path / "pairs.html").read_text() == "mine"
