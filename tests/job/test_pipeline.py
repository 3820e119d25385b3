"""The story of a run, told with a source and a target in memory."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime

import numpy as np
import pytest

from dedup_job.cleaning import Cleaned
from dedup_job.columns import Documents, Fingerprints, KeptPage
from dedup_job.decision import (
    AbortConditions,
    AbortSettings,
    DecisionSettings,
    GreedyDeduplicator,
    by_key,
)
from dedup_job.documents import Document, Kept, Reason, Skipped
from dedup_job.errors import DedupError, LeaseHeld, StateMismatch
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from dedup_job.index import IndexSettings, KeptIndex
from dedup_job.job.pipeline import Job, run
from dedup_job.job.preparing import Preparation
from dedup_job.native.code_points import pack
from dedup_job.runs.counts import Counts
from dedup_job.runs.progress import QUIET, Progress
from dedup_job.runs.run import About, Checkpoint, Run, Scope, Status
from dedup_job.runs.stages import Stage
from tests.deciding import decisions_of

# Twelve documents: eight are kept (of them two short), two are copies, two hold no text.
TEXTS = {
    1: "one two three four five six",
    2: "red green blue white black grey",
    3: "one two three four five six",
    4: Skipped(Reason.MISSING),
    5: "  short  ",
    6: "spring summer autumn winter year month",
    7: "   ",
    8: "short",
    9: "north south east west up down",
    10: "iron gold silver copper lead tin",
    11: "brief",
    12: "piano violin cello flute oboe horn",
}
KEPT = [1, 2, 5, 6, 9, 10, 11, 12]
LEDGER = {3: "exact", 4: "missing", 7: "empty", 8: "exact"}


class FakeSource:
    """Holds documents and gives those that the target does not hold, in pages of three."""

    def __init__(self, contents, target):
        self._contents, self._target = contents, target
        self.known = 0
        self.changed, self.tells = {}, True
        self.bookmark = "here"
        self.marked = []
        self.pages_read = 0
        self.limits = []

    @property
    def undecided(self):
        """Return how many documents are left to decide."""
        return len(self._contents.keys() - self._target.decided.keys())

    def trust(self, index):
        """Look nothing up."""

    def mark(self, since):
        """Take the bookmark, before anything is read or written."""
        assert self.pages_read == 0
        self.marked.append(since)

    def pages(self, limit):
        """Count the decided documents as known and yield the others."""
        self.limits.append(limit)
        self.known += len(self._contents.keys() & self._target.decided.keys())
        ids = sorted(self._contents.keys() - self._target.decided.keys())[:limit]
        for start in range(0, len(ids), 3):
            self.pages_read += 1
            yield Documents.of(
                Document(id_, str(id_).encode(), b"", self._contents[id_])
                for id_ in ids[start : start + 3]
            )


class FakeTarget:
    """Holds decisions by id and the checkpoint, and refuses what a real target could not do."""

    def __init__(self):
        self.decided = {}  # decisions by id, in the order in which they were written
        self.contents = {}
        self.checkpoint = None
        self.reports = []  # one for each batch written
        self.left = None  # a bookmark
        self.changed, self.tells = {}, True
        self.ends = []  # one for each run that came to its end
        self.breaks = []  # one for each run that broke off
        self.wrong = ""  # what is found at the end
        self.held = False
        self.too_large = ()
        self.removed = set()
        self.lines = []  # what is recorded of runs
        self._kept = []  # key, value, digest, short, run

    @contextmanager
    def hold(self):
        """Refuse a second holder."""
        if self.held:
            raise LeaseHeld("another run holds the lease")
        self.held = True
        try:
            yield
        finally:
            self.held = False

    def begin(self, scope, record):
        """Go on with the unfinished checkpoint of this scope, or begin a new one; tell all runs."""
        assert self.held
        former = self.checkpoint
        if former is None or former.finished or former.scope != scope:
            number = former.run + 1 if former else 1
            self.checkpoint = Checkpoint(number, scope, datetime.now(UTC), Counts())
        assert record(self.checkpoint).status is Status.RUNNING
        return self.checkpoint, [run for run in self.lines if run.number <= self.checkpoint.run]

    def kept(self):
        """Yield what is kept, in pages of two."""
        for start in range(0, len(self._kept), 2):
            keys, *columns = zip(*self._kept[start : start + 2], strict=True)
            types = (np.uint64, np.uint64, np.bool_, np.int64)
            *prints, run = (np.array(c, dtype=t) for c, t in zip(columns, types, strict=True))
            yield KeptPage(keys=list(keys), fingerprints=Fingerprints(*prints), run=run)

    def texts(self, keys):
        """Return the texts of the kept documents among these, but of none that is removed."""
        kept = {str(i).encode(): self.contents[i] for i in self.kept_ids if i not in self.removed}
        return {key: kept[key] for key in keys if key in kept}

    def fits(self, documents):
        """Refuse the documents named as too large."""
        return np.array([document.id not in self.too_large for document in documents])

    def write(self, batch, decisions, report):
        """Take the batch with its checkpoint; refuse a document that is decided already."""
        assert self.held
        prints = batch.fingerprints
        columns = zip(prints.values, prints.digests, prints.short, strict=True)
        for document, decision in zip(batch.documents, decisions, strict=True):
            assert document.id not in self.decided
            self.decided[document.id] = decision
            if isinstance(document.content, str):
                self.contents[document.id], fingerprint = document.content, next(columns)
                if isinstance(decision, Kept):
                    self._kept.append((document.key, *fingerprint, report.checkpoint.run))
        self.checkpoint = report.checkpoint
        self.reports.append(report)

    def problem(self, index, checkpoint):
        """Return what a test wants to be wrong, once all is written."""
        assert self.held
        assert checkpoint.counts == self.checkpoint.counts
        assert len(index) >= checkpoint.counts.kept
        return self.wrong

    def bookmark(self):
        """Return the bookmark that the last run left."""
        return self.left

    def finish(self, report, bookmark=None, changed=None, *, unseen=False):  # noqa: ARG002
        """Take the last checkpoint, the bookmark if there is one, and what changed since."""
        assert self.held
        self.left, self.changed = bookmark or self.left, changed or {}
        self.ends.append(report)
        self.checkpoint = report.checkpoint

    def abort(self, report):
        """Note the report; the checkpoint stays."""
        assert self.held
        self.breaks.append(report)

    @property
    def kept_ids(self):
        """Return the ids of the kept documents."""
        return [i for i, decision in self.decided.items() if isinstance(decision, Kept)]

    @property
    def ledger(self):
        """Return the reasons of all others."""
        return {i: str(d.reason) for i, d in self.decided.items() if not isinstance(d, Kept)}


class Strip:
    """A cleaner that takes white space off; `see` gets the texts of each page first."""

    def __init__(self, see=lambda _: None):
        self._see = see

    def cleaned(self, texts):
        """Strip."""
        self._see(texts.texts())
        stripped = pack([text.strip() for text in texts.texts()])
        return Cleaned(stripped, texts.lengths - stripped.lengths)


class Nothing:
    """Snapshots that keep nothing."""

    def promised(self):
        """Have nothing."""

    def load(self, index):  # noqa: ARG002
        """Have nothing."""
        return ""

    def relieve(self, index):
        """Have memory for all."""

    def save(self, index):
        """Keep nothing."""


def stop_after(batches):
    """Ask for a stop when so many batches are decided: the job looks once before the first."""
    looks = iter([False] * batches)
    return lambda: next(looks, True)


def fails_at(word):
    """Return a cleaner that breaks at a text with this word."""

    def see(texts):
        if any(word in text for text in texts):
            raise ZeroDivisionError(word)

    return Strip(see)


def job(target, *, contents=TEXTS, source=None, limit=None, decides=GreedyDeduplicator, **changes):
    """Make a job by the plain recipe; `distance` is a setting."""
    distance = changes.pop("distance", 3)
    index = KeptIndex(IndexSettings(candidate_generators=("simhash",), distance=distance))
    fingerprinter = Fingerprinter(FingerprintSettings())
    values = {
        "about": About("db.in", "db.out", {}, {}, dry_run=False),
        "scope": Scope(None, limit),
        "source": source or FakeSource(contents, target),
        "target": target,
        "preparing": Preparation(
            changes.pop("cleaner", Strip()), fingerprinter, target.fits, most_chars=10_000
        ),
        "index": index,
        "decider": decides(index, DecisionSettings(judge="none"), by_key(target.texts)),
        "max_rate": None,
        "abort_if": AbortConditions(AbortSettings()),
        "snapshots": Nothing(),
        "threads": 1,
        "progress": QUIET,
        "stop": lambda: False,
    }
    return Job(**(values | changes))


@pytest.fixture
def target():
    return FakeTarget()


@pytest.mark.parametrize("threads", [1, 4])
def test_every_document_is_decided_once_and_in_order(target, threads):
    report = run(job(target, threads=threads))
    assert list(target.decided) == list(TEXTS)
    assert (target.kept_ids, target.ledger) == (KEPT, LEDGER)
    assert report.status is Status.DONE
    assert report.checkpoint.counts == Counts(
        kept=8,
        exact=2,
        skipped=2,
        short_kept=2,
        short_duplicate=1,
        reasons={"missing": 1, "empty": 1},
        cut_documents=1,
        cut_characters=4,
    )


def test_pages_are_prepared_at_the_same_time_and_still_decided_in_order(target):
    """The first page is only cleaned once the last one is, which a single thread could not do."""
    contents = {number: f"words of the text number {number} here" for number in range(1, 10)}
    last_cleaned = threading.Event()

    def see(texts):
        if any("number 9 " in text for text in texts):
            last_cleaned.set()
        elif any("number 1 " in text for text in texts):
            assert last_cleaned.wait(timeout=60)

    run(job(target, contents=contents, threads=4, cleaner=Strip(see)))
    assert list(target.decided) == list(contents)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_only_a_few_pages_are_read_ahead_of_what_is_written(target, threads):
    """Three read, those that are prepared, one in hand, two that wait and one that is written."""
    contents = {number: f"the text {number}" for number in range(1, 100)}
    source = FakeSource(contents, target)
    ahead, write = [], target.write

    def watched_write(*arguments):
        time.sleep(0.005)
        ahead.append(source.pages_read - len(target.reports))
        write(*arguments)

    target.write = watched_write
    run(job(target, source=source, threads=threads))
    assert threads + 4 <= max(ahead) <= threads + 7


def test_an_empty_source_is_done_at_once(target):
    report = run(job(target, contents={}))
    assert (report.status, report.checkpoint.counts) == (Status.DONE, Counts())
    assert (target.reports, target.ends) == ([], [report])


def test_a_batch_is_written_with_the_checkpoint_that_counts_it_and_the_end_is_recorded(target):
    report = run(job(target))
    scanned = [(r.checkpoint.counts.scanned, r.checkpoint.last_id) for r in target.reports]
    assert scanned == [(3, 3), (6, 6), (9, 9), (12, 12)]
    assert all(r.status is Status.RUNNING and not r.checkpoint.finished for r in target.reports)
    assert target.ends == [report]
    assert target.checkpoint.finished
    assert report.finished >= report.checkpoint.started
    assert not target.held


def test_what_the_source_changed_is_counted_and_handed_to_the_target(target):
    source = FakeSource(TEXTS, target)
    source.changed = {"changed": {b"1", b"2"}, "deleted": {b"3"}}
    report = run(job(target, source=source))
    assert report.changed == {"changed": 2, "deleted": 1}
    assert target.changed == source.changed


def test_seconds_are_those_of_the_run_and_each_stage_has_its_own(target):
    before = time.perf_counter()
    report = run(job(target, cleaner=Strip(lambda _: time.sleep(0.006))))
    assert 0.02 < report.checkpoint.seconds <= time.perf_counter() - before
    assert list(report.stages) == [str(stage) for stage in Stage]
    assert 0.02 < report.stages["clean"] <= report.checkpoint.seconds


def test_a_document_that_would_not_fit_is_quarantined(target):
    target.too_large = (2, 3)
    run(job(target))
    assert target.ledger == LEDGER | {2: "too_large", 3: "too_large"}
    assert "16 MiB" in target.decided[2].detail


def test_a_stop_is_obeyed_after_the_batch_in_hand_and_leaves_no_thread_behind(target):
    before = {*threading.enumerate()}
    report = run(job(target, threads=4, stop=stop_after(2)))
    assert list(target.decided) == [1, 2, 3, 4, 5, 6]
    assert (report.status, target.ends) == (Status.STOPPED, [report])
    assert target.checkpoint == report.checkpoint
    assert (report.checkpoint.last_id, report.checkpoint.finished) == (6, False)
    deadline = time.monotonic() + 60
    ours = ("prepare", "ahead", "behind")
    while names := [t.name for t in {*threading.enumerate()} - before if t.name.startswith(ours)]:
        assert time.monotonic() < deadline, names


def test_a_stop_before_the_first_batch_reads_nothing(target):
    source = FakeSource(TEXTS, target)
    report = run(job(target, source=source, stop=lambda: True))
    assert (report.status, source.pages_read, target.decided) == (Status.STOPPED, 0, {})


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("batches", [1, 2, 3, 4])
def test_a_stopped_run_goes_on_where_it_was_and_ends_as_one_left_alone(target, threads, batches):
    first = run(job(target, threads=threads, stop=stop_after(batches)))
    second = run(job(target, threads=threads))
    assert second.status is Status.DONE
    assert second.checkpoint.run == first.checkpoint.run == 1
    assert (target.kept_ids, target.ledger) == (KEPT, LEDGER)
    assert second.checkpoint.counts == run(job(FakeTarget())).checkpoint.counts
    assert second.checkpoint.seconds > first.checkpoint.seconds
    # what its first part decided are its own documents, not those of another run
    assert [report.known for report in (*target.reports, second)] == [0] * 5


def test_a_stop_while_the_index_is_loaded_ends_at_once_and_the_run_goes_on(target):
    run(job(target, stop=stop_after(2)))
    loads = []
    progress = Progress(lambda now: loads.append(now.done) if now.done else None)
    with pytest.raises(KeyboardInterrupt):
        run(job(target, stop=lambda: bool(loads), progress=progress))
    assert loads == [2]  # of four pages the first
    assert [report.status for report in target.breaks] == [Status.STOPPED]
    report = run(job(target))
    assert (report.checkpoint.run, report.status) == (1, Status.DONE)
    assert (target.kept_ids, target.ledger) == (KEPT, LEDGER)


def test_a_run_whose_target_is_not_as_it_left_it_is_not_done(target):
    target.wrong = "two documents are missing"
    with pytest.raises(StateMismatch, match="two documents are missing"):
        run(job(target))
    (end,) = target.ends
    assert (end.status, end.checkpoint.finished) == (Status.FAILED, True)
    assert list(target.decided) == list(TEXTS)


def test_the_next_run_decides_only_what_is_new(target):
    run(job(target))
    new = {0: TEXTS[1], 13: "a new text of several words", 14: "short"}
    report = run(job(target, contents=TEXTS | new))
    assert list(target.decided)[12:] == [0, 13, 14]
    assert (report.checkpoint.run, report.known) == (2, 12)
    assert report.checkpoint.counts == Counts(kept=1, exact=2, short_duplicate=1)


def test_a_near_duplicate_is_found_among_what_former_runs_kept(target):
    """One word less among 400 turns few of the 64 sums."""
    words = [f"word{number}" for number in range(400)]
    contents = {1: " ".join(words), 2: " ".join(words[:-1])}
    run(job(target, contents=contents, limit=1, distance=7))
    report = run(job(target, contents=contents, distance=7))
    assert report.checkpoint.counts == Counts(near=1, most_candidates=1)
    assert target.decided[2].pair.of == b"1"


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("limit", [1, 3, 4, 12, 99])
def test_a_limit_bounds_the_documents_decided(target, limit, threads):
    report = run(job(target, limit=limit, threads=threads))
    assert list(target.decided) == list(TEXTS)[:limit]
    assert (report.status, report.checkpoint.finished) == (Status.DONE, True)


def test_the_next_run_gets_the_bookmark_of_the_last_one_that_read_everything(target):
    sources = [FakeSource(TEXTS, target) for _ in range(4)]
    for number, source in enumerate(sources):
        source.bookmark = number
    run(job(target, source=sources[0], limit=5))
    run(job(target, source=sources[1], stop=stop_after(3)))
    assert target.left is None
    run(job(target, source=sources[2]))
    run(job(target, source=sources[3]))
    assert [source.marked for source in sources] == [[None], [None], [None], [2]]
    assert target.left == 3


@pytest.mark.parametrize(("limit", "left"), [(5, [2]), (3, [])])
def test_a_limit_counts_what_the_first_part_of_the_run_decided(target, limit, left):
    run(job(target, limit=limit, stop=stop_after(1)))
    source = FakeSource(TEXTS, target)
    report = run(job(target, source=source, limit=limit))
    assert (report.status, report.checkpoint.counts.scanned) == (Status.DONE, limit)
    assert (list(target.decided), source.limits) == (list(TEXTS)[:limit], left)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(("word", "written"), [("spring", 3), ("iron", 9)])
def test_a_run_that_fails_says_so_and_goes_on_from_its_last_batch(target, threads, word, written):
    with pytest.raises(ZeroDivisionError, match=word):
        run(job(target, threads=threads, cleaner=fails_at(word)))
    assert (list(target.decided), target.ends) == (list(TEXTS)[:written], [])
    (broken,) = target.breaks
    assert (broken.status, broken.checkpoint.counts.scanned) == (Status.FAILED, written)
    assert broken.finished is not None
    assert not target.checkpoint.finished
    assert not target.held
    report = run(job(target))
    assert (report.checkpoint.run, report.checkpoint.counts.scanned) == (1, 12)
    assert (target.kept_ids, target.ledger) == (KEPT, LEDGER)


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt, Status.STOPPED), (OSError, Status.FAILED)]
)
def test_a_run_that_breaks_off_while_writing_does_not_count_the_batch(target, error, status):
    def write(*_):
        raise error

    target.write = write
    with pytest.raises(error):
        run(job(target))
    (broken,) = target.breaks
    assert (broken.status, broken.checkpoint.counts) == (status, Counts())
    assert target.ends == []


@pytest.mark.parametrize("wrong", [lambda d: d[:-1], lambda d: [*d, d[-1]], lambda _: []])
def test_decisions_that_do_not_fit_the_documents_stop_the_run_unwritten(target, wrong):
    class Miscounting(GreedyDeduplicator):
        def decide(self, batch):
            return decisions_of(wrong([*super().decide(batch)]))

    with pytest.raises(DedupError, match=r"3 documents were read and \d decided"):
        run(job(target, decides=Miscounting))
    assert target.decided == {}
    assert [broken.status for broken in target.breaks] == [Status.FAILED]


def test_a_run_that_is_kept_away_touches_nothing(target):
    source = FakeSource(TEXTS, target)
    with target.hold(), pytest.raises(LeaseHeld):
        run(job(target, source=source))
    assert (source.pages_read, target.ends, target.checkpoint) == (0, [], None)


@pytest.mark.parametrize(
    ("former", "wanted", "told"),
    [
        (None, {}, [(0, 12), (3, 12), (6, 12), (9, 12), (12, 12)]),
        (None, {"limit": 5}, [(0, 5), (3, 5), (5, 5)]),
        ({"limit": None}, {"contents": TEXTS | {13: "new"}}, [(0, 1), (1, 1)]),
        ({"stop": stop_after(2)}, {}, [(6, 12), (9, 12), (12, 12)]),  # nothing is counted twice
        ({"limit": 6}, {"limit": 3}, [(0, 3), (3, 3)]),
    ],
    ids=["first", "limited", "next", "resumed", "next, limited"],
)
def test_progress_tells_of_each_checkpoint_up_to_the_number_that_is_expected(
    target, former, wanted, told
):
    if former:
        run(job(target, **former))
    moments = []
    run(job(target, progress=Progress(moments.append), **wanted))
    counted = [now for now in moments if now.counted]
    assert [(now.done, now.total) for now in counted] == told
    assert {now.doing for now in counted} == {"deduplicating"}
    assert [now.counts.scanned for now in counted] == [done for done, _ in told]


def test_progress_tells_how_the_index_is_loaded(target):
    run(job(target))
    moments = []
    run(job(target, progress=Progress(moments.append)))
    assert [now.done for now in moments if now.doing == "loading the index"] == [0, 2, 4, 6, 8]


def test_progress_is_told_what_the_other_runs_of_the_target_did(target):
    then = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    ends = zip(("done", "failed", "done"), (1, 2, 4), then, strict=True)
    about = About("db.in", "db.out", {}, {}, dry_run=False)
    target.lines = [
        Run(about, Status(s), Checkpoint(n, Scope(), t, Counts(kept=n)), t, 0, {})
        for s, n, t in ends
    ]
    target.checkpoint = Checkpoint(4, Scope(), then[2], Counts())
    moments = []
    run(job(target, progress=Progress(moments.append)))
    assert (moments[0].others, moments[0].last_success) == (Counts(kept=3), then[0])


def test_reports_under_way_differ_from_the_last_in_status_and_times_only(target):
    last, under_way = run(job(target)).as_row(), target.reports[-1].as_row()
    assert {name for name in last if last[name] != under_way[name]} == {
        *("status", "finished", "stages", "profile", "series"),
        *("seconds", "docs_per_second"),
    }


def test_a_run_is_aborted_before_the_batch_is_written_and_the_run_can_go_on(target, monkeypatch):
    checks = iter([False, True])

    def check(*_):
        if next(checks):
            raise DedupError("a mistake, it seems")

    with monkeypatch.context() as patch:
        patch.setattr(AbortConditions, "check", check)
        with pytest.raises(DedupError):
            run(job(target))
    assert list(target.decided) == list(TEXTS)[:3]
    assert [broken.status for broken in target.breaks] == [Status.FAILED]
    run(job(target))
    assert list(target.decided) == list(TEXTS)
    assert target.checkpoint.run == 1
