"""The decision stage decides as its naive version, however a run is divided; with ranks, too."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup_job import index as kept
from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Documents, KeptPage
from dedup_job.decision import DecisionSettings, Judging
from dedup_job.demo import make_corpus
from dedup_job.documents import Channel, Document, Kept
from dedup_job.fingerprint import Fingerprinter, FingerprintSettings, Sketcher, load_lexicon
from dedup_job.native import snapshot
from dedup_job.runs.decided import Counts
from tests.deciding import MemoryTarget
from tests.judging import judge_for, verdict
from tests.reference.decision import NaiveDecision, NaiveFirstWins, NaiveText

ALL = (Channel.SIMHASH, Channel.MINHASH, Channel.SENTENCES)
FORM = (*ALL, Channel.FORM)
DECIDER = "dedup_job.decision.decider"


def key_of(number):
    return f"key {number}".encode()


def templates(rng):
    """Yield texts of one template with small differences, most of them different questions."""
    for _ in range(260):
        a, b = rng.randrange(100), rng.randrange(100)
        yield f"一个长方形的长是{a}厘米，宽是{b}厘米，它的面积是多少平方厘米？周长是多少厘米？"
    for _ in range(80):
        yield f"计算：{rng.randrange(10)}+{rng.randrange(10)}="
    subjects = ["线粒体", "叶绿体", "高尔基体", "溶酶体", "核糖体", "中心体", "液泡", "细胞核"]
    for _ in range(120):
        chosen = rng.sample(subjects, 4)
        options = "\n".join(f"{'ABCD'[i]}. {name}" for i, name in enumerate(chosen))
        turned = rng.choice(["正确", "错误", "不正确"])
        yield f"下列关于细胞器的叙述，{turned}的是（ ）\n{options}"


def versions(rng, text):
    """Yield other versions of a text, alike and barely alike."""
    at = rng.randrange(len(text))
    yield text[:at] + text[at + rng.randint(1, 3) :]
    yield text[:at] + rng.choice("的一是了3五不") + text[at:]
    yield f"{rng.randint(1, 30)}．（{rng.randint(1990, 2024)}·某市模拟）{text}"
    yield "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text).upper()
    yield text[: len(text) * 2 // 3]
    yield text.replace("，", ",").replace("。", ".") + " "


def corpus(size, seed=1):
    """Return cleaned texts: of the demo, versions of them, and templates."""
    rng = random.Random(seed)
    cleaner = Cleaner()
    contents = (d.get("text") for d in make_corpus(size // 2, seed=seed))
    made = [text for c in contents if isinstance(c, str) and (text := cleaner.clean(c))]
    made += list(templates(rng))[: size // 5]
    for text in rng.sample(made, len(made)):
        if len(made) >= size:
            break
        made += [cleaned for v in versions(rng, text) if (cleaned := cleaner.clean(v))]
    made = made[:size]
    rng.shuffle(made)
    return made


class Pool:
    """Texts with fingerprints, each also as the naive version takes it."""

    def __init__(self, written):
        sketcher = Sketcher(FORM, lambda: judge_for().core)
        fingerprinter = Fingerprinter(FingerprintSettings(), load_lexicon(print), sketcher)
        self.texts = written
        self.fingerprints = fingerprinter.fingerprint(written)
        values, short = self.fingerprints.values.tolist(), self.fingerprints.short.tolist()
        made = dict(zip(written, map(NaiveText.of, written, values, short), strict=True))
        self.naive = [made[text] for text in written]

    def fingerprints_for(self, rows, channels):
        """Return fingerprints of some rows, with the sketches of these channels."""
        chosen = self.fingerprints[np.array(rows, dtype=np.int64)]
        sketches = chosen.sketches
        columns = [j for j, channel in enumerate(sketches.channels) if channel in channels]
        names = tuple(sketches.channels[j] for j in columns)
        bits = sketches.bits if Channel.MINHASH in channels else sketches.bits[:, :0]
        own = type(sketches)(sketches.keys[:, columns], bits, names) if columns else None
        return type(chosen)(chosen.rows, own)

    def batch(self, rows, start, channels):
        """Return a batch of some rows; documents are numbered from `start` on."""
        documents = tuple(
            Document(number, key_of(number), b"", self.texts[row])
            for number, row in enumerate(rows, start)
        )
        return Batch(Documents.of(documents), self.fingerprints_for(rows, channels))


def as_naive(decisions):
    """Yield decisions as decisions of the naive version."""
    for row, (decision, own) in enumerate(zip(decisions, decisions.rows, strict=True)):
        missing = decisions.missing.get(row, ())
        void = frozenset(map(number_of, missing))
        assert len(missing) == len(void)
        tried = {"candidates": own["candidates"], "cut": own["cut"], "void": void}
        if isinstance(decision, Kept):
            near = decision.nearest
            refused = near and (number_of(near.of), near.similarity, near.probability, near.kind)
            yield NaiveDecision(**tried, refused=refused)
            continue
        pair, reason = decision.pair, str(decision.reason)
        values = pair.distance, pair.similarity, pair.probability, pair.found_by
        yield NaiveDecision(number_of(pair.of), *values, reason, **tried)


def number_of(key):
    return int(key.removeprefix(b"key "))


def judges(options):
    """Return whether the judge decides by differences with these settings."""
    return options.get("judge") == Judging.DIFFERENCES


def channels_of(options):
    return (*options["channels"], *([Channel.FORM] if judges(options) else []))


def decider_of(options):
    index = {"candidate_generators": options["channels"], "distance": options.get("distance", 3)}
    own = {name: options[name] for name in ("judge", "similarity") if name in options}
    return MemoryTarget(DecisionSettings(**({"judge": "similarity"} | own)), **index)


@pytest.fixture(scope="module")
def pool(pytestconfig):
    return Pool(corpus(3000 if pytestconfig.getoption("--thorough") else 1500))


TEXTS = 84
DEFAULT = {"channels": (Channel.SIMHASH, Channel.MINHASH)}
FULL = {"channels": ALL, "judge": Judging.DIFFERENCES}


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (1200, DEFAULT),
        pytest.param(3000, DEFAULT, marks=pytest.mark.thorough),
        (1500, FULL),
        (1000, FULL | {"most_candidates": 3}),
        (1500, {"channels": (Channel.SIMHASH,), "distance": 7, "judge": Judging.NONE}),
        (1500, {"channels": (Channel.SIMHASH, Channel.SENTENCES), "distance": 5}),
        (800, {"channels": (Channel.MINHASH,), "similarity": 0.9}),
        (300, {"channels": ALL, "similarity": 0.85}),
    ],
    ids=["similarity", "more", "judge", "few", "plain", "sentences", "minhash", "all"],
)
def test_documents_are_decided_as_by_the_naive_version(pool, size, options):
    expected = NaiveFirstWins(**options, verdict=verdict).decide_all(pool.naive[:size])
    decider, found = decider_of(options), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{DECIDER}.MOST_CANDIDATES", options.get("most_candidates", 64))
        for start in range(0, size, 1000):
            rows = list(range(start, min(start + 1000, size)))
            found += as_naive(decider.decide(pool.batch(rows, start, channels_of(options))))
    for number, (decision, one) in enumerate(zip(found, expected, strict=True)):
        assert decision == one, f"document {number}: {pool.texts[number]!r}"
    assert_all_kinds_took_part(expected, options)


def assert_all_kinds_took_part(decisions, options):
    assert {d.reason for d in decisions} == {"", "exact", "near"}
    by = {channel for d in decisions for channel in d.found_by}
    assert by == {str(channel) for channel in channels_of(options)} | {"text"}
    refused = {d.refused[-1] for d in decisions if d.refused}
    if options.get("judge") == Judging.NONE:
        assert refused == set()
    else:
        assert refused >= ({"number", "unlikely"} if judges(options) else {"similarity"})
        assert any(d.similarity is not None and 0 < d.similarity < 1 for d in decisions)
    if judges(options):
        assert any(d.cut for d in decisions)


@pytest.fixture(scope="module")
def small_pool():
    """Return few texts of few families, so that nearly all find each other."""
    rng = random.Random(4)
    made = list(templates(rng))
    some = [*made[:14], *made[260:266], *made[340:352]]
    base = corpus(40, seed=9)[:6]
    more = [version for text in base for version in versions(rng, text)]
    more += [text + end for text in base[:2] for end in "的了呢吗吧啊"]  # of one simhash
    return Pool([*some, *base, *more][:TEXTS])


@st.composite
def runs(draw):
    """Documents in any order, cut into batches, and events between the batches."""
    few = draw(st.lists(st.integers(0, TEXTS - 1), min_size=1, max_size=15))
    rows = draw(st.lists(st.sampled_from(few), min_size=12, max_size=60))
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), min_size=1, max_size=6)))
    between = [
        draw(st.sampled_from(["", "", "snapshot", "memory", "pages", "remove", "remove"]))
        for _ in cuts
    ]
    return rows, cuts, between


OPTIONS = st.fixed_dictionaries(
    {
        "channels": st.sampled_from([ALL, *((one,) for one in ALL), (ALL[0], ALL[2])]),
        "distance": st.sampled_from([0, 3, 7]),
        "similarity": st.sampled_from([0.3, 0.8, 1.0]),
        "judge": st.sampled_from(Judging),
        "most_candidates": st.sampled_from([1, 2, 5, 64]),
    }
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    runs(), OPTIONS, st.sampled_from([1, 2, 4, 128]), st.sampled_from([2, 7, 1024]), st.randoms()
)
def test_decisions_depend_on_neither_batches_nor_restarts_nor_where_texts_are_held(
    small_pool, tmp_path, run, options, most_equal, at_once, rng
):
    """Texts that are removed from the target between two batches are no candidates afterwards."""
    rows, cuts, between = run
    naive = NaiveFirstWins(**options, verdict=verdict, most_equal=most_equal, most_same=most_equal)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{DECIDER}.PART", at_once)
        patch.setattr(f"{DECIDER}.MOST_CANDIDATES", options["most_candidates"])
        patch.setattr(f"{DECIDER}.MEMORY", 0)  # texts are fetched and parsed each time
        patch.setattr(kept, "LIMITS", (most_equal,) * 3)
        decider = decider_of(options)
        bounds = [0, *cuts, len(rows)]
        for (start, stop), event in zip(pairwise(bounds), ["", *between], strict=True):
            happen(event, decider, naive, small_pool, rows, options, tmp_path, rng)
            batch = small_pool.batch(rows[start:stop], start, channels_of(options))
            found = [*as_naive(decider.decide(batch))]
            expected = [naive.decide(n, small_pool.naive[rows[n]]) for n in range(start, stop)]
            assert found == expected


def happen(event, decider, naive, pool, rows, options, folder, rng):
    """Remove kept texts from the target, or reload the index in one of three ways."""
    present = [kept for kept in naive.kept if kept.number not in naive.removed]
    if event == "remove":
        for kept in rng.sample(present, (len(present) + 1) // 2):
            naive.removed.add(kept.number)
            del decider.texts[key_of(kept.number)]
    elif event == "memory":
        decider.index.spill_growing(lambda dump: snapshot.mapped(folder, dump))
    elif event == "snapshot" and not naive.removed:  # else a run refuses it, by its size
        with snapshot.writing(folder / "one.index") as writer:
            decider.index.dump(writer)
        decider.restart()
        decider.index.load(snapshot.read(folder / "one.index"))
    elif event:
        numbers = [kept.number for kept in present]
        pages = [
            KeptPage(
                [key_of(n) for n in some],
                pool.fingerprints_for([rows[n] for n in some], channels_of(options)),
                np.ones(len(some), dtype=np.int64),
            )
            for some in (numbers[i : i + 5] for i in range(0, len(numbers), 5))
        ]
        decider.restart()
        decider.index.rebuild(lambda: pages)
        naive.restart()  # missing texts are not in the index any more
        for kept in present:
            naive.keep(kept.number, kept.text)


@pytest.fixture(scope="module")
def drifting_pool():
    """Versions of a text that differ a little, each from the one before it."""
    text, other = ("".join(map(chr, range(start, start + 60))) for start in (0x4E00, 0x6E00))
    made = [other[: 2 * step] + text[2 * step :] for step in range(8)]
    made += [text + "".join(map(chr, range(0x5E00, 0x5E00 + 4 * step))) for step in range(1, 5)]
    return Pool(made * (TEXTS // len(made)))


def superseded(decisions):
    """Yield the row of the better copy, key, group and decision of each superseded document."""
    if decisions.superseded is not None:
        rows, keys, dropped = decisions.superseded
        yield from zip(rows.tolist(), keys.list(), dropped["group"], as_naive(dropped), strict=True)


def as_final(decision):
    """Return a decision without its candidates: they may have been superseded since."""
    return replace(decision, candidates=0, cut=0, void=frozenset())


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(runs(), OPTIONS, st.sampled_from([1, 2, 7, 1024]), st.integers(0, 5), st.randoms())
def test_the_kept_copies_are_those_of_the_naive_version(
    small_pool, drifting_pool, run, options, at_once, most, rng
):
    pool = rng.choice([small_pool, drifting_pool])
    rows, cuts, _ = run
    rising = rng.choice([0, 1])
    ranks = {n: rising * n + rng.randint(0, most) for n in range(len(rows))}
    naive = NaiveFirstWins(**options, verdict=verdict, ranks=ranks)
    decider = decider_of(options)
    decider.ranks = {key_of(n): bytes([rank]) for n, rank in ranks.items()}
    found, expected, groups, counts = {}, {}, {}, Counts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{DECIDER}.PART", at_once)
        patch.setattr(f"{DECIDER}.MEMORY", 0)
        patch.setattr(f"{DECIDER}.MOST_CANDIDATES", options["most_candidates"])
        for start, stop in pairwise([0, *cuts, len(rows)]):
            batch = pool.batch(rows[start:stop], start, channels_of(options))
            own = [decider.ranks[key_of(n)] for n in range(start, stop)]
            decisions = decider.decide(replace(batch, ranks=own))
            found |= {n: as_final(one) for n, one in enumerate(as_naive(decisions), start)}
            for row, key, group, decision in superseded(decisions):
                assert decisions.kept[row]  # a copy that was superseded in turn is a duplicate
                by = decision.of - start
                assert by == row or decisions["superseded"][by]
                assert decisions["group"][row] == group == groups[key]
                number = number_of(key)
                assert found[number].of is None
                found[number] = as_final(decision)
            for n in range(start, stop):
                groups[key_of(n)] = int(decisions["group"][n - start])
                expected[n] = as_final(naive.decide(n, pool.naive[rows[n]]))
            expected |= naive.replaced
            assert found == expected
            counts += Counts.of(decisions)
            left = sum(one.of is None for one in expected.values())
            assert (counts.kept, counts.scanned) == (left, stop)
            assert counts.replaced == len(naive.replaced)
    for n, one in expected.items():  # all members of a group have its number
        assert one.of is None or groups[key_of(n)] == groups[key_of(one.of)]
    kept = {groups[key_of(n)]: n for n, one in expected.items() if one.of is None}
    assert {*decider.texts} == {*map(key_of, kept.values())}
    for n, row in enumerate(rows):  # no text is dropped in a group whose kept one it is unlike
        head, text = pool.naive[rows[kept[groups[key_of(n)]]]], pool.naive[row]
        assert text.text == head.text or naive.joins(head, text)
