"""With output.text = original the target's texts are the source's, and all else is as before."""

import pytest
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from dedup_job.demo import make_corpus
from tests.running import outcome, run_here

RAW = CodecOptions(document_class=RawBSONDocument)
ORIGINAL = {"output__text": "original"}


@pytest.fixture
def twice(any_database, tmp_path):
    for seed in (3, 4):
        some = [d for d in make_corpus(300, seed=seed) if isinstance(d.get("text"), str)]
        any_database.source.insert_many(
            {"_id": f"{seed} {d['_id']}", "text": f"<p> {d['text']}&nbsp;</p>"} for d in some
        )
        folder = str(tmp_path / "index")
        run_here(any_database, index__folder=folder, **ORIGINAL)
        run_here(any_database, target="cleaned", index__folder=folder)
    return any_database


def test_source_and_target_are_equal_byte_for_byte_but_for_dedup(twice):
    source = {d["_id"]: bytes(d.raw) for d in twice.source.with_options(RAW).find()}
    documents = list(twice.target.with_options(RAW).find())
    assert len(documents) > 100
    for document in documents:
        raw, there = bytes(document.raw), source[document["_id"]]
        assert raw[4:].startswith(there[4:-1])
        assert len(RawBSONDocument(raw)) == len(RawBSONDocument(there)) + 1


def test_the_decisions_are_the_same(twice):
    one, other = outcome(twice), outcome(twice, "cleaned")
    assert one[1] == other[1]
    texts = [{k: v for k, v in d.items() if k != "text"} for d in one[0]]
    assert texts == [{k: v for k, v in d.items() if k != "text"} for d in other[0]]


@pytest.mark.parametrize("form", ["text", "classic"])
def test_other_forms_hold_the_original_text_as_well(any_database, form):
    text = "<p>光合作用是绿色植物利用太阳光能，把二氧化碳和水合成为有机物。</p>"
    any_database.source.insert_one({"_id": 1, "a": {"b": text}})
    run_here(any_database, source__field="a.b", output__document=form, output__text="original")
    document = any_database.target.find_one() or {}
    assert (document["ques"] if form == "classic" else document["a"]["b"]) == text
