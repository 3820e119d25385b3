"""A run: its parts wired together, after all checks; a dry run's target, and what it shows."""

import logging
import platform
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import metadata
from operator import itemgetter

import numpy as np
import xxhash

from dedup_job.columns import Batch, Decisions, Documents, NumberedTexts
from dedup_job.commands.cores import index_memory, preparing_threads
from dedup_job.commands.opened import connected, form_of, preparation
from dedup_job.commands.snapshots import OtherSnapshots, SnapshotStore
from dedup_job.decision import Models
from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.greedy import GreedyDeduplicator, PairRecheck
from dedup_job.documents import Decision, Document, Duplicate, Kept, Pair, Reason, Skipped
from dedup_job.index import KeptIndex
from dedup_job.job import parts, pipeline
from dedup_job.judgment.features import RULES
from dedup_job.messages import Message, UsageError
from dedup_job.mongo import checks
from dedup_job.mongo.commits import writers_for
from dedup_job.mongo.connection import Client, Namespace, retry_policy
from dedup_job.mongo.database_settings import OnChange, OnDelete
from dedup_job.mongo.id_keys import are_own, place_of, shown
from dedup_job.mongo.reading import are_empty
from dedup_job.mongo.refreshing import Refresher
from dedup_job.mongo.rollback import finish_undo
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.runs.decided import DUPLICATE, KEPT, NO_PAIR, DecidedDocument, What
from dedup_job.runs.run import QUIET, About, Checkpoint, Progress, Run, Scope
from dedup_job.runs.survey import BINS, BY_THRESHOLD, EXTREME, OTHERS, RANDOM, Drawn, Survey
from dedup_job.settings import Settings

log = logging.getLogger("dedup")
_PACKAGES = ("dedup-job", "jieba", "numpy", "pymongo", "xxhash")


@dataclass(frozen=True, slots=True)
class Request:
    """Options of one run that are no settings; follow: stay and decide what arrives."""

    source: str
    target: str
    limit: int | None = None
    dry_run: bool = False
    follow: bool = False


@dataclass(frozen=True, slots=True)
class Watch:
    """Who watches a run, and may end it.

    stop: whether to stop after the batch in hand; begun: called when there is a batch to be
    finished from now on; agree: called before a new target is made, what it raises ends the run;
    warn: takes a warning; collector: sees the decisions of a dry run; told: takes each report of a
    job that follows and goes on, see pipeline.Job.
    """

    progress: Progress = QUIET
    stop: Callable[[], bool] = lambda: False
    begun: Callable[[], None] = lambda: None
    agree: Callable[[str, str], None] | None = None
    warn: Callable[[str], None] = log.warning
    collector: "SurveyCollector | None" = None
    told: Callable[[Run, bool], None] = lambda *_: None


NOBODY = Watch()


Spread = Callable[[Settings, pipeline.Job], AbstractContextManager[pipeline.Job]]
"""Returns the job with its pages prepared by other processes."""


def run_job(
    settings: Settings, request: Request, watch: Watch = NOBODY, spread: Spread | None = None
) -> Run:
    """Connect, check everything that can be checked before the first write, and run."""
    progress = watch.progress
    not_these = ("--limit", request.limit), ("--dry-run", request.dry_run)
    if request.follow and (given := [name for name, value in not_these if value]):
        raise UsageError(
            "--follow and {option} cannot be combined: a run that follows decides all that "
            "arrives. Leave one of them out.",
            option=given[0],
        )
    with connected(settings, progress) as (client, database):
        names = (
            Namespace.parse(request.source, database, "--source"),
            Namespace.parse(request.target, database, "--target"),
        )
        named = (Namespace.parse(n, database, "--against") for n in settings.source.against)
        others = [*dict.fromkeys(named)]
        retry = retry_policy(client, settings.run.retry_for, progress, watch.stop)
        models = settings.models(progress.stage)
        places = client, names[1], form_of(settings, models), names[0]
        target: Target | _DryTarget
        if request.dry_run:
            target = _DryTarget(*places, retry)
            target.collector = watch.collector
        else:
            target = Target(*places, finish_undo, retry, retry(lambda: writers_for(client)))
            target.undo_days = settings.run.undo_days
        page = settings.run.page_documents
        source = Source(target.source, settings.source, retry, target.decided, page)

        def check() -> None:
            checks.check_source_collection(client, names[0])
            checks.check_target_collections(client, *names)
            checks.check_others(client, others, *names)
            if not request.dry_run:
                checks.check_takes_writes(client.admin.command("hello"))
                checks.check_target_lasts(target.documents)
            target.check()
            checks.check_query(source)
            if request.follow:
                source.check_changes()
            is_first = are_empty(target.decided)
            ranking = target.form.ranking if is_first else None
            checks.check_fields(source, ranking.rules if ranking else ())

        retry(check)
        if settings.cleaning.html == "auto":
            retry(lambda: checks.check_not_cleaned(client, [names[0], *others]))
        memory = index_memory(settings, _kept_at_most(request.limit, source, target))
        if watch.agree and not request.dry_run and retry(target.state.read) is None:
            watch.agree(source.name, target.name)
        progress.stage(Message("loading the dictionary"))
        _ = models.fingerprinter
        kept_in = target, settings.index, memory / (1 + len(others))
        keeps = not request.dry_run
        read = (target.other(str(name), page) for name in others)
        index = KeptIndex(settings.index)
        threads = settings.run.threads or preparing_threads(host for host, _ in client.nodes)
        recorded = settings.recorded()
        job = pipeline.Job(
            about=About(source.name, target.name, recorded, versions(client), request.dry_run),
            scope=Scope(settings.source.query, request.limit),
            source=source,
            target=target,
            prepare=preparation(settings, models, target.form).prepare,
            index=index,
            decider=GreedyDeduplicator(
                index, settings.decision, target.texts_of, models.judge, target, threads
            ),
            abort_if=AbortConditions(settings.abort_if, target.usual_without_text(), watch.warn),
            snapshots=SnapshotStore(*kept_in, keeps=keeps),
            others=[OtherSnapshots(one, *kept_in, keeps=keeps) for one in read],
            threads=threads,
            max_rate=settings.run.max_rate,
            progress=progress,
            stop=watch.stop,
            refresher=_refresher(settings, models, source, target, progress),
            follow=watch.told if request.follow else None,
        )
        watch.begun()
        with nullcontext(job) if spread is None else spread(settings, job) as ready:
            return pipeline.run(ready)


def _refresher(
    settings: Settings, models: Models, source: Source, target: TargetReader, progress: Progress
) -> Refresher | None:
    wanted = settings.source.on_change, settings.source.on_delete
    if not isinstance(target, Target) or wanted == (OnChange.KEEP, OnDelete.KEEP):
        return None
    recheck = PairRecheck(settings.decision, settings.index, models)

    def alike(texts: Sequence[str], others: Sequence[str]) -> list[bool]:
        return [not isinstance(one, str) for one in recheck.decide(texts, others)]

    return Refresher(target, source, *wanted, settings.abort_if.leaving, alike, progress)


def _kept_at_most(limit: int | None, source: Source, target: TargetReader) -> int:
    kept = target.retry(target.documents.estimated_document_count)
    more = (source.expected if source.undecided is None else source.undecided) or 0
    return kept + min(more, limit or more)


@cache
def package_versions() -> dict[str, str]:
    """Return those of the packages, which are the same wherever a run is at work."""
    return {name: metadata.version(name) for name in _PACKAGES}


def versions(client: Client | None = None) -> dict[str, str]:
    """Return the versions of what has a part in a decision: in this process, and the server's."""
    own = package_versions() | {"rules": str(RULES), "python": platform.python_version()}
    return own | ({"server": client.server_info()["version"]} if client else {})


class _DryTarget(TargetReader, parts.Target):
    """Reads the target; what would be there is read from the source."""

    collector: "SurveyCollector | None" = None

    @contextmanager
    def hold(self) -> Iterator[None]:
        self.check()
        yield

    def begin(
        self, scope: Scope, record: Callable[[Checkpoint], Run]
    ) -> tuple[Checkpoint, Sequence[Run]]:
        return super().begin(scope, record)[0], self.run_lines()

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        texts = super().texts_of(keys)
        missing = np.setdiff1d(np.flatnonzero(are_own(keys)), texts.numbers)
        if not len(missing):
            return texts
        row_of = dict(zip(keys.take(missing).list(), missing.tolist(), strict=True))
        found = self.cleaned(self.origin.documents([*row_of]))
        return texts.joined(NumberedTexts.of({row_of[key]: t for key, t in found.items()}))

    def ranks_of(self, keys: BytesColumn) -> list[bytes]:
        ranks, asked = super().ranks_of(keys), keys.list()
        missing = [key for key, rank in zip(asked, ranks, strict=True) if not rank]
        ranking = self.form.ranking
        if ranking is None or not missing:
            return ranks
        found = self.origin.documents(missing)
        texts = self.texts([*found])
        documents = Documents.of(found[key].with_content(text) for key, text in texts.items())
        more = dict(zip(documents.keys.list(), ranking.ranks(documents), strict=True))
        return [rank or more.get(key, b"") for key, rank in zip(asked, ranks, strict=True)]

    def write(self, batch: Batch, decisions: Decisions, *_: object) -> None:
        if self.collector is not None:
            self.collector.see(batch, decisions)

    def finish(self, report: Run, *_: object, **__: object) -> None:
        if self.collector is not None:
            self.collector.finish(report, self.texts)


_MAX_TEXT = 5000  # characters of a text that is held; a longer one is looked up in the end
_OTHER = "other"  # documents without a near one
_GONE = Skipped(Reason.MISSING)  # for the text of a document that is no longer at hand


class SurveyCollector:
    """Watches the decisions of a dry run; afterwards `survey` has what a page says."""

    def __init__(self) -> None:
        self._bins = {what: [0] * BINS for what in (What.NEAR, What.REFUSED)}
        self._held = defaultdict[tuple[str, str], list[tuple[float, DecidedDocument]]](list)
        self.survey: Survey | None = None

    def see(self, batch: Batch, decisions: Decisions) -> None:
        """Take the decisions on a batch."""
        for row in np.flatnonzero(~decisions.kept | decisions.refused).tolist():
            self._take(batch.documents[row], decisions[row])
        if decisions.superseded is not None:
            _, keys, dropped = decisions.superseded
            for key, decision in zip(keys.list(), dropped, strict=True):
                self._take(Document(None, key, b"", _GONE), decision)

    def _take(self, document: Document, decision: Decision) -> None:
        at_random = xxhash.xxh3_64_intdigest(document.key)
        decided = partial(decided_document, document, decision)
        if isinstance(decision, Kept):
            if decision.nearest is not None:
                self._draw(What.REFUSED, decision.nearest, at_random, decided)
        elif isinstance(decision, Duplicate) and decision.reason is Reason.NEAR:
            self._draw(What.NEAR, decision.pair, at_random, decided)
        else:
            self._hold((_OTHER, decision.reason), OTHERS, at_random, decided)

    def _draw(
        self, what: What, pair: Pair, at_random: float, decided: Callable[[], DecidedDocument]
    ) -> None:
        if pair.measure is not None and (not pair.kind or pair.kind in BY_THRESHOLD):
            self._bins[what][min(int(pair.measure * BINS), BINS - 1)] += 1
            narrow = pair.measure if what is What.NEAR else -pair.measure
            self._hold((what, "extreme"), EXTREME, narrow, decided)
        self._hold((what, "random"), RANDOM, at_random, decided)

    def _hold(
        self,
        part: tuple[str, str],
        most: int,
        rank: float,
        decided: Callable[[], DecidedDocument],
    ) -> None:
        """Keep a document, made by `decided`, if its rank is among the `most` lowest."""
        held = self._held[part]
        if len(held) < most or rank < held[-1][0]:
            insort(held, (rank, decided()), key=itemgetter(0))
            del held[most:]

    def _drawn(self, what: What) -> Drawn:
        parts = ([one for _, one in self._held[what, part]] for part in ("extreme", "random"))
        return Drawn(self._bins[what], *parts)

    def finish(self, report: Run, texts: Callable[[Sequence[bytes]], dict[bytes, str]]) -> None:
        """Make the survey; texts: looks up the texts of kept documents."""
        near, refused = map(self._drawn, (What.NEAR, What.REFUSED))
        others = [one for (p, _), held in self._held.items() if p == _OTHER for _, one in held]
        pairs = {one.key: one for one in (*refused.pairs, *near.pairs, *others)}
        named = {one.pair.of for one in pairs.values()}
        named |= {one.key for one in pairs.values() if one.text is None and one.pair.of}
        held = texts(sorted(named - {b""}))
        found = {
            key: replace(one, other=held.get(one.pair.of), text=one.text or held.get(key))
            for key, one in pairs.items()
        }
        counts, about = report.counts, report.about
        decision = about.settings.get("decision", {})
        judged = decision.get("judge") == "differences"
        self.survey = Survey(
            about=about,
            counts=counts,
            threshold=decision.get("confidence" if judged else "similarity"),
            judged=judged,
            near=near.changed(found),
            refused=refused.changed(found),
            others=[found[one.key] for one in others],
            runs=[report],
        )


def decided_document(document: Document, decision: Decision) -> DecidedDocument:
    """Return a document with its decision."""
    if isinstance(decision, Kept):
        pair = decision.nearest or NO_PAIR
        name, reason = KEPT, pair.kind
    elif isinstance(decision, Duplicate):
        name, reason, pair = DUPLICATE, str(decision.reason), decision.pair
    else:
        name, reason, pair = type(decision).__name__.lower(), str(decision.reason), NO_PAIR
    content = document.content
    return DecidedDocument(
        document.key,
        name,
        reason,
        pair,
        id=shown(document.key),
        of=shown(pair.of) if pair.of else "",
        against=place_of(pair.of) if pair.of else "",
        text=content if isinstance(content, str) and len(content) <= _MAX_TEXT else None,
        detail=getattr(decision, "detail", ""),
    )
