"""A run: its parts wired together, after everything that can be checked before it."""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from dedup_job.commands.cores import index_memory, preparing_threads
from dedup_job.commands.dry_run import DryTarget, SurveyCollector
from dedup_job.commands.opened import connected, form_of, preparation
from dedup_job.commands.snapshots import OtherSnapshots, SnapshotStore
from dedup_job.decision import AbortConditions, GreedyDeduplicator, Models, PairRecheck
from dedup_job.errors import UsageError
from dedup_job.index import KeptIndex
from dedup_job.job import pipeline
from dedup_job.judgment.features import RULES
from dedup_job.messages import Message
from dedup_job.mongo import checks
from dedup_job.mongo.commits import writers_for
from dedup_job.mongo.connection import Client, Namespace, retry_policy
from dedup_job.mongo.database_settings import OnChange, OnDelete
from dedup_job.mongo.reading import PageSize, are_empty
from dedup_job.mongo.refreshing import Refresher
from dedup_job.mongo.rollback import finish_undo
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.runs.run import QUIET, About, Progress, Run, Scope
from dedup_job.settings import Settings

log = logging.getLogger("dedup")
_REPORT_SECONDS = 600.0  # after which a run that follows ends and the next one begins
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
    job that follows and goes on, see pipeline.Follow.
    """

    progress: Progress = QUIET
    stop: Callable[[], bool] = lambda: False
    begun: Callable[[], None] = lambda: None
    agree: Callable[[str, str], None] | None = None
    warn: Callable[[str], None] = log.warning
    collector: SurveyCollector | None = None
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
        target: Target | DryTarget
        if request.dry_run:
            target = DryTarget(*places, retry)
            target.collector = watch.collector
        else:
            target = Target(*places, finish_undo, retry, retry(lambda: writers_for(client)))
            target.undo_days = settings.run.undo_days
        page = PageSize(settings.run.page_documents)
        source = Source(target.source, settings.source, retry, target.decided, page)
        retry(lambda: _check(client, names, others, source, target, request))
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
            preparing=preparation(settings, models, target.form),
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
            follow=pipeline.Follow(_REPORT_SECONDS, watch.told) if request.follow else None,
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


def _check(
    client: Client,
    names: tuple[Namespace, Namespace],
    others: Sequence[Namespace],
    source: Source,
    target: TargetReader,
    request: Request,
) -> None:
    source_name, target_name = names
    checks.check_source_collection(client, source_name)
    checks.check_target_collections(client, source_name, target_name)
    checks.check_others(client, others, source_name, target_name)
    if not request.dry_run:
        checks.check_takes_writes(client.admin.command("hello"))
        checks.check_target_lasts(target.documents)
    target.check()
    source.check_query()
    if request.follow:
        source.check_changes()
    is_first = are_empty(target.decided)
    source.check_fields(target.form.ranking.rules if is_first and target.form.ranking else ())


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
