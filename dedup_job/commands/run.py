"""A run: its checks, its job, the target of a dry run, and the survey of its decisions."""

import logging
import platform
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from operator import itemgetter

import numpy as np
import xxhash

from dedup_job.columns import Batch, Decisions, Documents, NumberedTexts
from dedup_job.commands.session import (
    form_of,
    index_memory,
    open_client,
    preparing_thread_count,
    preprocessor_of,
)
from dedup_job.commands.snapshots import ReferenceSnapshots, SnapshotStore
from dedup_job.decision import Models
from dedup_job.decision.abort import AbortConditions
from dedup_job.decision.decider import Decider, PairRecheck
from dedup_job.documents import Decision, Document, Duplicate, Kept, Reason, Skipped
from dedup_job.index import KeptIndex
from dedup_job.job import Target as JobTarget
from dedup_job.job import pipeline
from dedup_job.judgment.features import RULES
from dedup_job.messages import Message, UsageError
from dedup_job.mongo import checks
from dedup_job.mongo.commits import writers_for
from dedup_job.mongo.connection import Client, Namespace, retry_policy
from dedup_job.mongo.database_settings import OnChange, OnDelete
from dedup_job.mongo.id_keys import are_own, reference_name, shown
from dedup_job.mongo.reading import are_empty
from dedup_job.mongo.refreshing import Refresher
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.mongo.undoing import finish_undo
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.runs.decided import DUPLICATE, KEPT, NO_PAIR, DecidedDocument, ListKind
from dedup_job.runs.run_record import QUIET, About, Checkpoint, Progress, Run, Scope
from dedup_job.runs.survey import BINS, BY_THRESHOLD, EXTREME, OTHERS, RANDOM, PairSample, Survey
from dedup_job.settings import Settings

log = logging.getLogger("dedup")
_PACKAGES = ("dedup-job", "jieba", "numpy", "pymongo", "xxhash")


@dataclass(frozen=True, slots=True)
class Request:
    """Run options that are not settings; follow: stay and decide documents as they arrive."""

    source: str
    target: str
    limit: int | None = None
    dry_run: bool = False
    follow: bool = False


@dataclass(frozen=True, slots=True)
class RunCallbacks:
    """Callbacks of a run.

    stop: returns whether to stop after the batch in hand; on_begin: called when the first batch may
    begin; agree: called before a new target is made, its error ends the run; warn: takes a
    warning; collector: takes the decisions of a dry run; on_report: takes each report of a job that
    follows, and whether it decided nothing.
    """

    progress: Progress = QUIET
    stop: Callable[[], bool] = lambda: False
    on_begin: Callable[[], None] = lambda: None
    agree: Callable[[str, str], None] | None = None
    warn: Callable[[str], None] = log.warning
    collector: "SurveyCollector | None" = None
    on_report: Callable[[Run, bool], None] = lambda *_: None


NO_CALLBACKS = RunCallbacks()
Distributor = Callable[[Settings, pipeline.Job], AbstractContextManager[pipeline.Job]]
"""Returns a context of the job in which other processes prepare its pages."""


def run_job(
    settings: Settings,
    request: Request,
    callbacks: RunCallbacks = NO_CALLBACKS,
    distributor: Distributor | None = None,
) -> Run:
    """Connect, check all that can be checked before the first write, run; return the report."""
    if request.follow and (request.limit or request.dry_run):
        raise UsageError(
            "--follow and {option} cannot be combined: a run that follows decides all that "
            "arrives. Leave one of them out.",
            option="--limit" if request.limit else "--dry-run",
        )
    with open_client(settings, callbacks.progress) as (client, database):
        source_name = Namespace.parse(request.source, database, "--source")
        target_name = Namespace.parse(request.target, database, "--target")
        named = (Namespace.parse(n, database, "--against") for n in settings.source.against)
        references = [*dict.fromkeys(named)]
        retry = retry_policy(client, settings.run.retry_for, callbacks.progress, callbacks.stop)
        models = settings.models(callbacks.progress.stage)
        parts_of = client, target_name, form_of(settings, models), source_name
        target: Target | _DryTarget
        if request.dry_run:
            target = _DryTarget(*parts_of, retry)
            target.collector = callbacks.collector
        else:
            target = Target(*parts_of, finish_undo, retry, retry(lambda: writers_for(client)))
            target.undo_days = settings.run.undo_days
        page = settings.run.page_documents
        source = Source(target.source, settings.source, retry, target.decided, page)

        def check() -> None:
            checks.check_source_collection(client, source_name)
            checks.check_target_collections(client, source_name, target_name)
            checks.check_references(client, references, source_name, target_name)
            if not request.dry_run:
                checks.check_takes_writes(client.admin.command("hello"))
                checks.check_target_lasts(target.documents)
            target.check()
            checks.check_query(source)
            if request.follow:
                source.check_changes()
            ranking = target.form.ranking if are_empty(target.decided) else None
            checks.check_fields(source, ranking.rules if ranking else ())

        retry(check)
        if settings.cleaning.html == "auto":
            retry(lambda: checks.check_not_cleaned(client, [source_name, *references]))
        memory = index_memory(settings, _largest_index(request.limit, source, target))
        if callbacks.agree and not request.dry_run and retry(target.state.read) is None:
            callbacks.agree(source.name, target.name)
        callbacks.progress.stage(Message("loading the dictionary"))
        _ = models.fingerprinter
        read = [target.other(str(name), page) for name in references]
        job = _job(settings, request, callbacks, client, models, source, target, read, memory)
        callbacks.on_begin()
        with nullcontext(job) if distributor is None else distributor(settings, job) as ready:
            return pipeline.run(ready)


def _job(
    settings: Settings,
    request: Request,
    callbacks: RunCallbacks,
    client: Client,
    models: Models,
    source: Source,
    target: "Target | _DryTarget",
    references: Sequence[Source],
    memory: float,
) -> pipeline.Job:
    index, used = KeptIndex(settings.index), versions(client)
    stored = target, settings.index, memory / (1 + len(references))
    keeps = not request.dry_run
    threads = settings.run.threads or preparing_thread_count(host for host, _ in client.nodes)
    return pipeline.Job(
        about=About(source.name, target.name, settings.recorded(), used, request.dry_run),
        scope=Scope(settings.source.query, request.limit),
        source=source,
        target=target,
        prepare=preprocessor_of(settings, models, target.form).prepare,
        index=index,
        decider=Decider(index, settings.decision, target.texts_of, models.judge, target, threads),
        abort_if=AbortConditions(settings.abort_if, target.usual_without_text(), callbacks.warn),
        snapshots=SnapshotStore(*stored, keeps=keeps),
        references=[ReferenceSnapshots(one, *stored, keeps=keeps) for one in references],
        threads=threads,
        max_rate=settings.run.max_rate,
        progress=callbacks.progress,
        stop=callbacks.stop,
        refresher=_refresher(settings, models, source, target, callbacks.progress),
        follow=callbacks.on_report if request.follow else None,
    )


def _refresher(
    settings: Settings, models: Models, source: Source, target: TargetReader, progress: Progress
) -> Refresher | None:
    policies = settings.source.on_change, settings.source.on_delete
    if not isinstance(target, Target) or policies == (OnChange.KEEP, OnDelete.KEEP):
        return None
    recheck = PairRecheck(settings.decision, settings.index, models)

    def alike(texts: Sequence[str], former: Sequence[str]) -> list[bool]:
        return [not isinstance(one, str) for one in recheck.decide_pairs(texts, former)]

    return Refresher(target, source, *policies, settings.abort_if.leaving, alike, progress)


def _largest_index(limit: int | None, source: Source, target: TargetReader) -> int:
    """Return the most documents that the target can hold after the run, an estimate."""
    kept = target.retry(target.documents.estimated_document_count)
    more = (source.expected if source.undecided_count is None else source.undecided_count) or 0
    return kept + min(more, limit or more)


@cache
def package_versions() -> dict[str, str]:
    """Return the versions of packages by name, which all machines of a cluster must share."""
    return {name: metadata.version(name) for name in _PACKAGES}


def versions(client: Client | None = None) -> dict[str, str]:
    """Return the versions of packages, rules, Python and the client's server, by name."""
    own = package_versions() | {"rules": str(RULES), "python": platform.python_version()}
    return own | ({"server": client.server_info()["version"]} if client else {})


class _DryTarget(TargetReader, JobTarget):
    """A target that is only read; documents that a dry run kept are read from the source."""

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
        found = self.cleaned_texts(self.origin.documents([*row_of]))
        return texts.merged(NumberedTexts.of({row_of[key]: t for key, t in found.items()}))

    def ranks_of(self, keys: BytesColumn) -> list[bytes]:
        ranks, all_keys = super().ranks_of(keys), keys.list()
        missing = [key for key, rank in zip(all_keys, ranks, strict=True) if not rank]
        ranking = self.form.ranking
        if ranking is None or not missing:
            return ranks
        found = self.origin.documents(missing)
        texts = self.texts([*found])
        documents = Documents.of(found[key].with_content(text) for key, text in texts.items())
        more = dict(zip(documents.keys.list(), ranking.ranks(documents), strict=True))
        return [rank or more.get(key, b"") for key, rank in zip(all_keys, ranks, strict=True)]

    def write(self, batch: Batch, decisions: Decisions, *_: object) -> None:
        if self.collector is not None:
            self.collector.see(batch, decisions)

    def finish(self, report: Run, *_: object, **__: object) -> None:
        if self.collector is not None:
            self.collector.finish(report, self.texts)


_MAX_TEXT = 5000  # characters of a text in memory; a longer one is looked up at the end
_OTHER = "other"  # documents without a near one
_NO_CONTENT = Skipped(Reason.MISSING)  # for a text that is no longer in memory


class SurveyCollector:
    """Samples the decisions of a dry run; `survey` is None until its end."""

    def __init__(self) -> None:
        self._bins = {what: [0] * BINS for what in (ListKind.NEAR, ListKind.REFUSED)}
        self._held = defaultdict[tuple[str, str], list[tuple[float, DecidedDocument]]](list)
        self.survey: Survey | None = None

    def see(self, batch: Batch, decisions: Decisions) -> None:
        """Add the decisions on a batch to the survey."""
        for row in np.flatnonzero(~decisions.kept | decisions.refused).tolist():
            self._take(batch.documents[row], decisions[row])
        if decisions.superseded is not None:
            _, keys, dropped = decisions.superseded
            for key, decision in zip(keys.list(), dropped, strict=True):
                self._take(Document(None, key, b"", _NO_CONTENT), decision)

    def _take(self, document: Document, decision: Decision) -> None:
        at_random = xxhash.xxh3_64_intdigest(document.key)
        if isinstance(decision, Kept):
            what, pair = ListKind.REFUSED, decision.nearest
        elif isinstance(decision, Duplicate) and decision.reason is Reason.NEAR:
            what, pair = ListKind.NEAR, decision.pair
        else:
            self._hold((_OTHER, decision.reason), OTHERS, at_random, document, decision)
            return
        if pair is None:
            return
        if pair.measure is not None and (not pair.kind or pair.kind in BY_THRESHOLD):
            self._bins[what][min(int(pair.measure * BINS), BINS - 1)] += 1
            narrow = pair.measure if what is ListKind.NEAR else -pair.measure
            self._hold((what, "extreme"), EXTREME, narrow, document, decision)
        self._hold((what, "random"), RANDOM, at_random, document, decision)

    def _hold(
        self, part: tuple[str, str], most: int, rank: float, document: Document, decision: Decision
    ) -> None:
        lowest = self._held[part]  # the lowest ranks, in order
        if len(lowest) < most or rank < lowest[-1][0]:
            insort(lowest, (rank, decided_document(document, decision)), key=itemgetter(0))
            del lowest[most:]

    def _sample(self, what: ListKind) -> PairSample:
        parts = ([one for _, one in self._held[what, part]] for part in ("extreme", "random"))
        return PairSample(self._bins[what], *parts)

    def finish(self, report: Run, texts: Callable[[Sequence[bytes]], dict[bytes, str]]) -> None:
        """Make the survey at the end of the run; texts: looks up texts of kept documents by key."""
        near, refused = map(self._sample, (ListKind.NEAR, ListKind.REFUSED))
        equal = [one for (p, _), low in self._held.items() if p == _OTHER for _, one in low]
        pairs = {one.key: one for one in (*refused.pairs, *near.pairs, *equal)}
        keys = {one.pair.of for one in pairs.values()}
        keys |= {one.key for one in pairs.values() if one.text is None and one.pair.of}
        by_key = texts(sorted(keys - {b""}))
        found = {
            key: replace(one, other=by_key.get(one.pair.of), text=one.text or by_key.get(key))
            for key, one in pairs.items()
        }
        about = report.about
        decision = about.settings.get("decision", {})
        judged = decision.get("judge") == "differences"
        self.survey = Survey(
            about=about,
            counts=report.counts,
            threshold=decision.get("confidence" if judged else "similarity"),
            judged=judged,
            near=near.without_changed(found),
            refused=refused.without_changed(found),
            unjudged=[found[one.key] for one in equal],
            runs=[report],
        )


def decided_document(document: Document, decision: Decision) -> DecidedDocument:
    """Return a document with its decision, as lists and pages show it."""
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
        against=reference_name(pair.of) if pair.of else "",
        text=content if isinstance(content, str) and len(content) <= _MAX_TEXT else None,
        detail=getattr(decision, "detail", ""),
    )
