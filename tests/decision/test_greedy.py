"""First wins, on fingerprints made by hand; then the whole recipe against the naive version."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Documents, Fingerprints, KeptPage
from dedup_job.demo import make_corpus
from dedup_job.documents import Document, Duplicate, Kept, Pair, Quarantined, Reason, Skipped
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from tests.deciding import Decider
from tests.reference.recipe import naive_decide

A = 0x0F0F_1234_5678_9ABC


def key_of(id_):
    return str(id_).encode()


def text(id_, value, digest=None, *, short=False):
    """Make a document by hand; texts are equal where value and digest are."""
    return id_, value, id_ if digest is None else digest, short


def without_text(id_, refusal):
    return id_, refusal


def arrays(rows):
    return Fingerprints(
        values=np.array([row[1] for row in rows], dtype=np.uint64),
        digests=np.array([row[2] for row in rows], dtype=np.uint64),
        short=np.array([row[3] for row in rows], dtype=np.bool_),
    )


def written(row):
    """Return the text itself, which nothing but its hashes are known of."""
    return f"text {row[1]} {row[2]}"


def batch(rows):
    documents = [
        Document(row[0], key_of(row[0]), b"", written(row) if len(row) > 2 else row[1])
        for row in rows
    ]
    return Batch(Documents.of(documents), arrays([row for row in rows if len(row) > 2]))


def page(*rows):
    """Make a page of kept documents from (run, document)."""
    return KeptPage(
        keys=[key_of(row[0]) for _, row in rows],
        fingerprints=arrays([row for _, row in rows]),
        run=np.array([run for run, _ in rows], dtype=np.int64),
    )


def told(decision):
    """Return what matters of a decision in a short form."""
    match decision:
        case Kept():
            return "kept"
        case Duplicate():
            return int(decision.pair.of), decision.pair.distance, str(decision.reason)
        case _:
            return decision


def decide(*rows, distance=3, after=()):
    """Decide documents after pages of others, each a list of (run, document)."""
    decider = Decider(distance=distance)
    texts = {key_of(row[0]): written(row) for rows in after for _, row in rows}
    decider.remember([page(*rows) for rows in after], texts)
    return [told(decision) for decision in decider.decide(batch(rows))]


def test_the_first_of_equal_texts_is_kept():
    assert decide(text(1, A, 9), text(2, A, 9), text(3, A, 9)) == [
        "kept",
        (1, 0, "exact"),
        (1, 0, "exact"),
    ]


def test_the_first_of_near_texts_is_kept():
    assert decide(text(1, A), text(2, A ^ 0b111)) == ["kept", (1, 3, "near")]


def test_a_text_beyond_the_distance_is_kept():
    assert decide(text(1, A), text(2, A ^ 0b1111)) == ["kept", "kept"]


@pytest.mark.parametrize("distance", range(8))
def test_the_distance_is_the_one_asked_for(distance):
    near, far = A ^ (2**distance - 1), A ^ (2 ** (distance + 1) - 1)
    assert decide(text(1, A), text(2, far), distance=distance) == ["kept", "kept"]
    assert decide(text(1, A), text(2, near), distance=distance) == ["kept", (1, distance, "near")]


def test_equal_fingerprints_of_different_texts_are_near_not_exact():
    assert decide(text(1, A, 8), text(2, A, 9)) == ["kept", (1, 0, "near")]


def test_nothing_is_chained_through_a_dropped_document():
    """3 is near the dropped 2, but not near the kept 1."""
    assert decide(text(1, A), text(2, A ^ 0b111), text(3, A ^ 0b111111)) == [
        "kept",
        (1, 3, "near"),
        "kept",
    ]


def test_an_equal_text_of_a_dropped_document_is_near_to_the_kept_one_again():
    assert decide(text(1, A), text(2, A ^ 1, 9), text(3, A ^ 1, 9)) == [
        "kept",
        (1, 1, "near"),
        (1, 1, "near"),
    ]


def test_of_is_the_nearest_kept_document():
    assert decide(text(1, A), text(2, A ^ 0b1111), text(3, A ^ 0b0111)) == [
        "kept",
        "kept",
        (2, 1, "near"),
    ]


def test_of_equally_near_documents_it_is_the_one_kept_first():
    """Both kept ones differ from the last by two bits."""
    assert decide(text(8, A ^ 0b0011), text(2, A ^ 0b1100), text(9, A))[2] == (8, 2, "near")


def test_exact_goes_before_near():
    """The kept 2 has the same fingerprint as 1 but for a bit, and 3 has the text of 2."""
    before = [[(1, text(1, A)), (1, text(2, A ^ 1, 9))]]
    assert decide(text(3, A ^ 1, 9), after=before) == [(2, 0, "exact")]


def test_short_texts_are_duplicates_only_where_they_are_equal():
    assert decide(
        text(1, A, 7, short=True), text(2, A ^ 1, short=True), text(3, A, 7, short=True)
    ) == ["kept", "kept", (1, 0, "exact")]


def test_short_and_long_texts_are_never_near_each_other():
    assert decide(text(1, A, short=True), text(2, A), text(3, A ^ 1, short=True)) == ["kept"] * 3


def test_short_texts_between_long_ones_do_not_confuse_who_is_who():
    rows = [
        text(10, A, short=True),
        text(11, A),
        text(12, A ^ 0xFF, short=True),
        text(13, A ^ 0xFF00),
        text(14, A ^ 0xFF01),
    ]
    assert decide(*rows)[-1] == (13, 1, "near")


def test_a_kept_decision_tells_fingerprint_and_shortness():
    decisions = Decider().decide(batch([text(1, 2**64 - 1), text(2, 5, short=True)]))
    assert [*decisions] == [Kept(2**64 - 1, short=False), Kept(5, short=True)]


def test_documents_without_text_keep_their_reason_and_their_place():
    missing, large = Skipped(Reason.MISSING), Quarantined(Reason.TOO_LARGE, "17 MiB")
    rows = [
        without_text(1, missing),
        text(2, A),
        without_text(3, large),
        text(4, A ^ 1),
        without_text(5, missing),
    ]
    assert decide(*rows) == [missing, "kept", large, (2, 1, "near"), missing]


def test_an_empty_batch_has_no_decisions():
    assert decide() == []


def test_it_counts_what_is_kept():
    decider = Decider()
    decider.remember([page((1, text(1, A)))], {})
    decider.decide(
        batch([text(3, ~A & (2**64 - 1)), text(4, 5, short=True), text(5, ~A & (2**64 - 1), 3)])
    )
    assert len(decider.index) == 3


def test_remembered_documents_win_over_new_ones():
    assert decide(text(1, A ^ 1), text(2, A, 9), after=[[(1, text(7, A, 9))]]) == [
        (7, 1, "near"),
        (7, 0, "exact"),
    ]


def test_nothing_remembered_is_fine():
    assert decide(text(1, A), after=[]) == ["kept"]
    assert decide(text(1, A), after=[[], []]) == ["kept"]


@pytest.mark.parametrize(
    ("runs", "first"),
    [((1, 1, 1), 30), ((2, 1, 1), 20), ((2, 2, 1), 10), ((1, 2, 3), 30), ((2, 10, 2), 30)],
)
def test_remembered_documents_stand_in_order_of_run_and_then_as_given(runs, first):
    """All three are equally near to the new one, so it is told apart by their order alone."""
    given_order = [text(30, A ^ 0b11), text(20, A ^ 0b1100), text(10, A ^ 0b110000)]
    rows = list(zip(runs, given_order, strict=True))
    assert decide(text(99, A), after=[rows]) == [(first, 2, "near")]
    assert decide(text(99, A), after=[[row] for row in rows]) == [(first, 2, "near")]


def test_of_remembered_equal_texts_the_earliest_run_counts():
    pages = [[(2, text(1, A, 9)), (1, text(2, A, 9))]]
    assert decide(text(3, A, 9), after=pages) == [(2, 0, "exact")]


@st.composite
def sequences(draw):
    """Documents huddled around three centres, so that all kinds of decisions occur."""
    rows = []
    for id_ in range(draw(st.integers(0, 25))):
        if draw(st.integers(0, 9)) == 0:
            rows.append(without_text(id_, Skipped(Reason.EMPTY)))
            continue
        value = draw(st.sampled_from([0, A, 2**64 - 1]))
        for bit in draw(st.sets(st.sampled_from([0, 1, 2, 15, 16, 17, 40, 63]), max_size=5)):
            value ^= 1 << bit
        rows.append(text(id_, value, draw(st.integers(0, 2)), short=draw(st.booleans())))
    return rows


@given(sequences(), st.lists(st.integers(0, 25)), st.integers(0, 7))
def test_decisions_do_not_depend_on_where_batches_end(rows, cuts, distance):
    decider = Decider(distance=distance)
    bounds = [0, *sorted(cuts), len(rows)]
    pieces = [rows[a:b] for a, b in pairwise(bounds)]
    decisions = [told(d) for piece in pieces for d in decider.decide(batch(piece))]
    assert decisions == decide(*rows, distance=distance)


@given(sequences(), st.integers(0, 25), st.integers(0, 7))
def test_a_run_that_is_resumed_decides_as_one_left_alone(rows, cut, distance):
    before, rest = rows[:cut], rows[cut:]
    whole = decide(*rows, distance=distance)
    kept = [(1, row) for row, d in zip(before, whole, strict=False) if d == "kept"]
    assert decide(*rest, distance=distance, after=[kept]) == whole[cut:]


@given(sequences(), st.integers(0, 7))
def test_each_dropped_text_points_to_an_earlier_kept_one_and_no_kept_one_has_one(rows, distance):
    decisions = decide(*rows, distance=distance)
    kept = {}
    for row, decision in zip(rows, decisions, strict=True):
        if len(row) == 2:
            continue
        id_, value, digest, short = row
        equal = [i for i, v, g, _ in kept.values() if (v, g) == (value, digest)]
        near = {
            i: (v ^ value).bit_count()
            for i, v, _, s in kept.values()
            if not s and not short and (v ^ value).bit_count() <= distance
        }
        if decision == "kept":
            assert not equal
            assert not near
            kept[id_] = row
        elif decision[2] == "exact":
            assert decision == (equal[0], 0, "exact")
        else:
            assert not equal
            assert decision == (min(near, key=near.__getitem__), min(near.values()), "near")


@pytest.fixture(scope="module")
def corpus():
    return [(d["_id"], d.get("text")) for d in make_corpus(400)]


@pytest.fixture(scope="module")
def by_the_book(corpus):
    return naive_decide(corpus, Cleaner().clean)


@pytest.fixture(scope="module")
def fingerprinter():
    return Fingerprinter(FingerprintSettings())


@pytest.mark.parametrize("size", [1, 37, 400])
def test_the_whole_recipe_equals_the_naive_version_on_a_corpus(
    corpus, by_the_book, fingerprinter, size
):
    cleaner = Cleaner()
    decider = Decider()
    kept, dropped = [], {}
    ids = {key_of(id_): id_ for id_, _ in corpus}
    for start in range(0, len(corpus), size):
        documents = [document_of(*pair, cleaner) for pair in corpus[start : start + size]]
        texts = [d.content for d in documents if isinstance(d.content, str)]
        of_batch = Batch(Documents.of(documents), fingerprinter.fingerprint(texts))
        for document, decision in zip(documents, decider.decide(of_batch), strict=True):
            match decision:
                case Kept():
                    kept.append(document.id)
                case Duplicate(reason=reason, pair=Pair(of=of, distance=distance)):
                    dropped[document.id] = ("duplicate", ids[of], distance, str(reason))
                case _:
                    dropped[document.id] = ("skipped", None, None, str(decision.reason))
    assert (kept, dropped) == by_the_book
    reasons = {reason for *_, reason in dropped.values()}
    assert reasons == {"exact", "near", "empty", "missing", "not_text"}  # all kinds took part


def document_of(id_, content, cleaner):
    """Do by hand what the source and the job do before the fingerprint."""
    if content is None:
        content = Skipped(Reason.MISSING)
    elif not isinstance(content, str):
        content = Skipped(Reason.NOT_TEXT)
    else:
        content = cleaner.clean(content) or Skipped(Reason.EMPTY)
    return Document(id_, key_of(id_), b"", content)
