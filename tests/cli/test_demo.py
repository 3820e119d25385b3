"""`dedup demo`: planted documents and the decisions on them."""

from dedup_job.demo import Kind, make_corpus, score
from tests.running import invoke, refusal


def test_no_innocent_is_dropped_and_most_copies_are_found(tmp_path):
    printed = invoke("demo", "--documents", "2000", "--embedded", str(tmp_path)).stdout
    table = printed.split("what was planted")[1].split("documents lost: 0")[0].splitlines()[2:]
    rows = [line.split()[-3:] for line in table if line.strip()]
    assert len(rows) == len(Kind)
    assert sum(int(planted.replace(",", "")) for planted, _, _ in rows) == 2000
    for planted, should, found in rows:
        share = int(found.replace(",", "")) / int(planted.replace(",", ""))
        assert share >= (0.9 if should == "duplicate" else 1)


def test_no_server_lies_among_other_files(tmp_path, monkeypatch):
    (tmp_path / "mine").touch()
    monkeypatch.chdir(tmp_path)
    assert "holds files that are no server's" in str(refusal("demo", "--embedded", ""))


def test_a_document_that_is_lost_or_doubled_or_decided_otherwise_is_counted():
    corpus = make_corpus(300)
    decided = {each["_id"]: [Kind[each["kind"].upper()].expected] for each in corpus}
    assert all(row.planted == row.found for row in score(corpus, decided))
    lost, other, *_ = (each["_id"] for each in corpus if each["kind"] == Kind.ORIGINAL)
    (twice, *_) = (each["_id"] for each in corpus if each["kind"] == Kind.EXACT_COPY)
    del decided[lost]
    decided |= {other: ["skipped"], twice: ["kept", "duplicate"]}
    missed = {row.kind: row.planted - row.found for row in score(corpus, decided)}
    assert {kind: number for kind, number in missed.items() if number} == {
        Kind.ORIGINAL: 2,
        Kind.EXACT_COPY: 1,
    }
