"""Where the time of a run went."""

from __future__ import annotations

import time

import numpy as np
import pytest

from dedup_job.index.sharing import count_meetings
from dedup_job.runs.stages import Profile, Stage, Stopwatch, Work


def test_what_a_stage_does_adds_up():
    watch = Stopwatch()
    with watch.timing(Stage.DECIDE, 3):
        time.sleep(0.02)
    watch.passed(Stage.DECIDE, 2, 70)
    work = watch.work[Stage.DECIDE]
    assert (work.documents, work.bytes) == (5, 70)
    assert work.seconds >= 0.02
    assert work.processor < 0.015  # asleep


def test_the_busiest_stage_is_named_and_preparing_is_one():
    work = dict.fromkeys(Stage, Work())
    work |= {
        Stage.READ: Work(3.0),
        Stage.CLEAN: Work(5.0),
        Stage.FINGERPRINT: Work(12.5),
        Stage.WRITE: Work(8.0),
    }
    profile = Profile(work, seconds=10.0, threads=2)
    assert profile.bottleneck == ("clean and fingerprint", 0.875)
    assert profile.busy(Stage.WRITE) == 0.8
    assert [row["stage"] for row in profile.as_rows()] == [
        "read",
        "clean",
        "fingerprint",
        "decide",
        "write",
    ]
    assert Profile(work, seconds=10.0, threads=4).bottleneck == ("write", 0.8)


def test_native_work_is_not_under_the_lock_and_the_rest_is():
    watch = Stopwatch()
    keys = np.arange(200_000, dtype=np.uint32).reshape(-1, 1) % 7
    with watch.timing(Stage.DECIDE, 1_000):
        count_meetings(keys)
    native = watch.work[Stage.DECIDE]
    assert native.locked < native.processor / 2
    with watch.timing(Stage.WRITE, 1_000):
        sum(range(300_000))
    assert watch.work[Stage.WRITE].locked == watch.work[Stage.WRITE].processor > 0
    locked = native.locked + watch.work[Stage.WRITE].locked
    assert Profile(watch.work, 1.0, 1).ceiling == pytest.approx(1_000 / locked)


def test_nothing_measured_is_no_division_by_zero():
    assert Profile(dict.fromkeys(Stage, Work()), 0.0, 1).bottleneck == ("read", 0.0)
    assert Profile(dict.fromkeys(Stage, Work()), 0.0, 1).ceiling == 0
