"""What is remembered of kept documents: in order of run, found again, saved and brought back."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dedup_job.columns import Fingerprints, KeptPage, Sketches
from dedup_job.documents import Channel
from dedup_job.index import IndexSettings, KeptIndex, Promised

A = 0x0F0F_1234_5678_9ABC


def text(id_, value, digest=None, *, short=False):
    """Make a document by hand; texts are equal where value and digest are."""
    return id_, value, id_ if digest is None else digest, short


def key_of(id_):
    return str(id_).encode()


def arrays(rows, sketches=None):
    return Fingerprints(
        values=np.array([row[1] for row in rows], dtype=np.uint64),
        digests=np.array([row[2] for row in rows], dtype=np.uint64),
        short=np.array([row[3] for row in rows], dtype=np.bool_),
        sketches=sketches,
    )


def page(*rows):
    """Make a page of kept documents from (run, document)."""
    return KeptPage(
        keys=[key_of(row[0]) for _, row in rows],
        fingerprints=arrays([row for _, row in rows]),
        run=np.array([run for run, _ in rows], dtype=np.int64),
    )


def remembering(rows, **values):
    kept = KeptIndex(IndexSettings(**values))
    kept.remember(lambda: [page(*((1, row) for row in rows))])
    return kept


def order(kept):
    return [*map(int, kept.keys(range(len(kept))))]


class Pages:
    """Pages that can be had again, and how often they were."""

    def __init__(self, *pages):
        self.pages, self.turns = pages, 0

    def __call__(self):
        """Yield them."""
        self.turns += 1
        yield from self.pages


@pytest.mark.parametrize(
    ("runs", "expected", "turns"),
    [
        ([1, 1, 1, 1], [0, 1, 2, 3], 1),
        ([1, 2, 1, 2], [0, 2, 1, 3], 1),
        ([3, 10, 3, 2], [3, 0, 2, 1], 2),  # an earlier run appears late
        ([4, 3, 2, 1], [3, 2, 1, 0], 4),
        ([2, 1, 1, 2], [1, 2, 0, 3], 2),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_documents_are_numbered_by_run_and_then_in_the_order_of_the_pages(
    runs, expected, turns, size
):
    rows = [(run, text(i, A + i)) for i, run in enumerate(runs)]
    pages = Pages(*(page(*rows[i : i + size]) for i in range(0, 4, size)), page())
    kept = KeptIndex(IndexSettings())
    kept.remember(pages)
    assert order(kept) == expected
    assert pages.turns <= turns


def test_remembering_begins_anew():
    kept = remembering([text(1, A), text(2, A, 9)])
    kept.replace(1, 0)
    kept.remember(lambda: [page((1, text(3, A)))])
    assert order(kept) == [3]
    assert kept.equal(arrays([text(9, A, 3), text(9, A, 9)])).tolist() == [0, -1]
    kept.forget()
    assert len(kept) == 0


def test_of_equal_texts_the_first_is_named_until_another_stands_in_for_it():
    kept = remembering([text(1, A, 5), text(2, A, 6), text(3, A, 5), text(4, A, 5)])
    query = arrays([text(9, A, 5), text(9, A, 6), text(9, A, 7), text(9, A ^ 1, 5)])
    assert kept.equal(query).tolist() == [0, 1, -1, -1]
    kept.replace(0, 2)
    assert kept.equal(query).tolist() == [2, 1, -1, -1]
    kept.replace(2, 3)
    assert kept.equal(query).tolist() == [3, 1, -1, -1]


USES = {
    "equal": lambda kept: kept.equal(arrays([text(9, A, 5)])).tolist(),
    "keys": lambda kept: kept.keys([0, 1]),
    "held": lambda kept: kept.held(np.array([1])).values.tolist(),
    "held_ids": lambda kept: kept.held_ids(),
    "live_numbers": lambda kept: kept.live_numbers().tolist(),
    "look_up": lambda kept: kept.look_up(arrays([text(9, A)]), np.zeros(1, np.int64)).held,
    "replacements": lambda kept: kept.replacements(),
    "to_merge": lambda kept: kept.to_merge(),
}


@pytest.mark.parametrize("use", USES)
def test_what_was_promised_is_loaded_when_it_is_used_first(use):
    """Until then it is counted only; where loading fails, it is tried again."""
    whole = remembering([text(1, A, 5), text(2, A ^ 1), text(3, A ^ 2)])
    whole.forget_one(2)
    kept, calls = KeptIndex(IndexSettings()), []

    def load():
        calls.append(len(kept))
        if len(calls) == 1:
            raise OSError
        kept.remember(lambda: [page(*((1, row) for row in rows))])
        kept.forget_one(2)

    rows = [text(1, A, 5), text(2, A ^ 1), text(3, A ^ 2)]
    kept.promise(Promised(3, 2, 7), load)
    assert (len(kept), kept.live, kept.unindexed, kept.keys([])) == (3, 2, 7, [])
    assert not calls
    with pytest.raises(OSError):  # it says nothing
        USES[use](kept)
    for _ in range(2):
        assert USES[use](kept) == USES[use](whole)
    assert calls == [0, 0]
    assert (len(kept), kept.live, kept.unindexed) == (3, 2, 0)


def test_while_one_thread_loads_what_was_promised_others_wait_for_it():
    kept, begun, may_end = KeptIndex(IndexSettings()), threading.Event(), threading.Event()

    def load():
        begun.set()
        assert may_end.wait(60)
        kept.remember(lambda: [page((1, text(7, A)))])

    kept.promise(Promised(1, 1, 0), load)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kept.keys, [0])
        assert begun.wait(60)
        second = pool.submit(kept.keys, [0])
        with pytest.raises(TimeoutError):
            second.result(timeout=0.2)
        may_end.set()
        assert first.result() == second.result() == [b"7"]


def sketches(keys, bits, channels=(Channel.MINHASH, Channel.SENTENCES)):
    return Sketches(np.array(keys, dtype=np.uint32), np.array(bits, dtype=np.uint64), channels)


@pytest.mark.parametrize(
    ("sizes", "first"),
    [
        ([], 0),
        ([5], 0),
        ([100, 5], 0),  # small ones are merged
        ([300, 5], 1),  # a large one stays as it is
        ([300, 80], 0),  # not beside one that is a quarter as large
        ([2000, 300, 5], 2),
        ([2000, 300, 80], 1),
        ([2000, 300, 100, 80, 70], 0),
        ([300, 0], 1),
    ],
)
def test_segments_are_merged_so_that_sizes_fall(monkeypatch, sizes, first):
    monkeypatch.setattr("dedup_job.index.kept._LEAST", 200)
    kept = KeptIndex(IndexSettings())
    for size in sizes:
        kept.seal()
        rows = [text(i, i) for i in range(size)]
        kept.add([key_of(row[0]) for row in rows], arrays(rows))
    if sizes and not sizes[-1]:
        assert len(kept.segments) == len(sizes)
    assert kept.to_merge() == first


def id_key(id_):
    """Return a key as BSON has it: kind, name, value."""
    return b"\x10_id\0" + id_.to_bytes(4, "little")


def others_of(settings, numbers, seed):
    """Return an index of n documents that share keys with others, and what it holds."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 6, (len(numbers), 2)).astype(np.uint32)
    bits = rng.integers(0, 2**63, (len(numbers), 2), dtype=np.uint64)
    digests = rng.integers(0, 40, len(numbers), dtype=np.uint64)
    texts = Fingerprints(digests, digests, digests % 5 == 0, sketches(keys, bits))
    part = KeptIndex(settings)
    part.add([id_key(n) for n in numbers], texts)
    return part, texts


def test_documents_of_other_collections_are_found_as_if_one_index_held_all():
    settings, whole = IndexSettings(), KeptIndex(IndexSettings())
    kept, held = KeptIndex(settings), []
    for seed, (place, count) in enumerate([("a.b", 300), ("a.c", 200), ("", 250)]):
        part, texts = others_of(settings, range(count), seed)
        whole.add([id_key(n) for n in range(count)], texts)
        held += [(place.encode() or b"_id", n) for n in range(count)]
        if place:
            kept.add_other(place, part)
        else:
            kept.add(part.keys(range(count)), texts)
    assert (kept.others, kept.live, len(kept)) == (500, 250, 750)
    assert kept.places_of(np.array([0, 299, 300, 499, 500])).tolist() == [1, 1, 2, 2, 0]
    names = [b"\x10" + place + b"\0" + n.to_bytes(4, "little") for place, n in held]
    assert kept.keys(range(750)) == names
    _, query = others_of(settings, range(50), 9)
    assert kept.equal(query).tolist() == whole.equal(query).tolist()
    found, expected = (
        one.look_up(query, np.zeros(50, dtype=np.int64)).candidates for one in (kept, whole)
    )
    assert found.offsets.tolist() == expected.offsets.tolist()
    assert found.numbers.tolist() == expected.numbers.tolist()
    kept.forget()
    assert (kept.others, kept.live) == (500, 0)


def test_documents_that_are_gone_elsewhere_are_found_no_more_and_equal_ones_stand_in():
    part = KeptIndex(IndexSettings())
    part.add(
        [id_key(n) for n in range(5)],
        arrays([text(n, A, d) for n, d in enumerate([5, 6, 5, 7, 5])]),
    )
    part.forget_keys({id_key(n) for n in (0, 1, 2)})
    part.name_heirs()
    kept = KeptIndex(IndexSettings())
    kept.add_other("a.b", part)
    query = arrays([text(9, A, 5), text(9, A, 6), text(9, A, 7)])
    numbers = kept.equal(query)
    assert numbers.tolist() == [4, 1, 3]
    assert kept.is_forgotten(numbers).tolist() == [False, True, False]
    found = kept.look_up(query, np.zeros(3, dtype=np.int64)).candidates.numbers
    assert set(found[found < len(kept)].tolist()) == {3, 4}
    kept.add([id_key(8)], arrays([text(8, A, 6)]))
    assert kept.equal(query).tolist() == [4, 5, 3]
    assert (kept.live, kept.live_numbers().tolist()) == (1, [5])


def test_all_documents_with_a_key_are_forgotten_and_no_others():
    kept = KeptIndex(IndexSettings())
    for ids in ([1, 2, 3], [4, 2]):
        kept.add([id_key(n) for n in ids], arrays([text(n, A) for n in ids]))
        kept.seal()
    kept.forget_keys({id_key(2), id_key(4), id_key(9)})
    assert kept.live_numbers().tolist() == [0, 2]


def test_what_was_replaced_is_remembered_wherever_the_first_kept_document_lies():
    others, _ = others_of(IndexSettings(), range(3), 1)
    before, after = KeptIndex(IndexSettings()), KeptIndex(IndexSettings())
    before.add_other("a.b", others)
    for kept in (before, after):
        kept.add([id_key(n) for n in range(4)], arrays([text(n, A, 5) for n in range(4)]))
    before.forget_one(3)
    before.replace(3, 6)
    before.replace(0, 4)  # of the other collection, which is read again
    before.join_group(6, 77)
    after.restore_replacements(before.replacements())
    assert after.live_numbers().tolist() == [1, 2, 3]
    assert after.equal(arrays([text(9, A, 5)])).tolist() == [3]
    assert after.groups(np.array([3]), after.packed_keys(np.array([3]))).tolist() == [77]
    assert before.replacements() == after.replacements()
