"""`dedup config init`: a settings file that can be used as it is, and changed line by line."""

import re
import tomllib

from dedup_job.settings import Settings, load
from tests.running import invoke


def test_the_file_says_what_holds_without_it(tmp_path):
    file = tmp_path / "my.toml"
    invoke("config", "init", str(file))
    assert load(file=file).settings.model_dump() == load().settings.model_dump()
    assert tomllib.loads(file.read_text(encoding="utf-8")) == {
        section: {} for section in Settings.model_fields
    }


def test_what_was_given_is_set_and_all_else_is_commented_out(tmp_path):
    file = tmp_path / "my.toml"
    invoke("config", "init", str(file), "--field", "题干", "--config", "questions")
    assert tomllib.loads(file.read_text(encoding="utf-8"))["source"] == {"field": "题干"}
    assert load(file=file).settings.cleaning.cut_at == ("收录：", "来源：")


def test_each_default_can_be_taken_out_of_its_comment(tmp_path):
    file = tmp_path / "my.toml"
    invoke("config", "init", str(file))
    text = re.sub(r"(?m)^# (\w+ = \S)", r"\1", file.read_text(encoding="utf-8"))
    file.write_text(text, encoding="utf-8")
    assert text.count("\nconfidence = 0.94\n") == 1
    assert load(file=file).settings.model_dump() == load().settings.model_dump()


def test_a_password_is_not_written(tmp_path):
    file = tmp_path / "my.toml"
    invoke("config", "init", str(file), DEDUP_URI="mongodb://user:geheim@host")
    assert "geheim" not in file.read_text(encoding="utf-8")
