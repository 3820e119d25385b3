"""Where the time of a run went."""

import time

from dedup_job.runs.run_record import Profile, Stage, Stopwatch, Work


def test_what_a_stage_does_adds_up():
    watch = Stopwatch()
    with watch.timing(Stage.DECIDE, 3):
        time.sleep(0.02)
    watch.add(Stage.DECIDE, Work(documents=2))
    work = watch.work[Stage.DECIDE]
    assert work.documents == 5
    assert work.seconds >= 0.02


def test_a_stage_is_busy_for_a_share_of_the_time_of_its_threads():
    work = dict.fromkeys(Stage, Work())
    work |= {
        Stage.READ: Work(3.0),
        Stage.CLEAN: Work(5.0),
        Stage.FINGERPRINT: Work(12.5),
        Stage.WRITE: Work(8.0),
    }
    profile = Profile(work, seconds=10.0, threads=2)
    assert profile.busy(Stage.FINGERPRINT) == 0.625
    assert profile.busy(Stage.WRITE) == 0.8
    assert [row["stage"] for row in profile.as_rows()] == [
        "read",
        "clean",
        "fingerprint",
        "decide",
        "write",
    ]
    assert Profile(work, 0.0, 1).busy(Stage.WRITE) == 0.0
