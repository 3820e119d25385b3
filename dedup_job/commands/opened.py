"""A target that a run wrote, opened for the commands that look at it or at its snapshot."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from dedup_job.cleaning import Cleaner
from dedup_job.commands.cores import index_memory
from dedup_job.commands.snapshots import SnapshotStore
from dedup_job.decision import Models
from dedup_job.documents import Document, Quarantined, Reason, Skipped
from dedup_job.job.parts import Preparation
from dedup_job.messages import Message, StateMismatch, UsageError, joined
from dedup_job.mongo.connection import Client, Namespace, connect, retry_policy, translated
from dedup_job.mongo.database_settings import Ranking
from dedup_job.mongo.id_keys import readings, shown, shown_value, unmistakable
from dedup_job.mongo.ledger_rows import LedgerRows
from dedup_job.mongo.records import Record, Records
from dedup_job.mongo.rollback import finish_undo
from dedup_job.mongo.rows import KeptRows
from dedup_job.mongo.state import state_of
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetForm
from dedup_job.printing import brief, for_shell
from dedup_job.runs.run import Progress
from dedup_job.settings import Settings, expect_settings

_NOW = ("connection", "run", "abort_if")  # settings that decide nothing


@dataclass(frozen=True, slots=True)
class Opened:
    """The target, its snapshot, and where to tell of progress.

    database: that of names given without one; settings_of: the run that the settings come from,
    0 where they were given.
    """

    settings: Settings
    models: Models
    target: Target
    snapshots: SnapshotStore
    progress: Progress
    database: str | None = None
    settings_of: int = 0


def form_of(settings: Settings, models: Models, *, as_made: bool = False) -> TargetForm:
    """Return how source, target and ledger are read and written."""
    field, output, cleaner = settings.source.field, settings.output, Cleaner(settings.cleaning)
    rules = output.rules
    return TargetForm(
        settings.source,
        KeptRows(output.document, field, models.sketcher, cleaner, output.text),
        LedgerRows(settings.ledger.document),
        settings.stamp(),
        as_made,
        Ranking(rules, lambda texts: models.any_judge.richness(texts)) if rules else None,
    )


def preparation(settings: Settings, models: Models, form: TargetForm) -> Preparation:
    """Return the preparation of the source's pages."""
    clean, most = Cleaner(settings.cleaning), settings.source.max_chars
    ranks = None if form.ranking is None else form.ranking.ranks
    return Preparation(clean, models.fingerprinter, form.kept.fits, most, ranks)


@contextmanager
def connected(settings: Settings, progress: Progress) -> Iterator[tuple[Client, str | None]]:
    """Connect; yield the client, and the database of names given without one."""
    progress.stage(Message("connecting"))
    client, database = connect(expect_settings(settings).connection)
    with client, translated():
        yield client, database


@contextmanager
def opened(
    settings: Settings, name: str, progress: Progress, *, as_made: bool = True
) -> Iterator[Opened]:
    """Connect and open a target with the settings that it was made with.

    Where the settings are not those, and nobody chose them (`Settings.chosen`), those of the
    target's last run are taken. as_made: nothing will be decided, so any version of the rules may
    have made the target, and StateMismatch is raised where the settings differ all the same; else
    `Target.check` is left to the caller. UsageError if no run ever wrote to it.
    """

    def made(settings: Settings, settings_of: int = 0) -> Opened:
        models = settings.models(progress.stage)
        form = form_of(settings, models, as_made=as_made)
        retry = retry_policy(client, settings.run.retry_for, progress)
        source = Namespace.parse(state_of(client, namespace)[1]["source"], None, "source")
        target = Target(client, namespace, form, source, finish_undo, retry)
        snapshots = SnapshotStore(target, settings.index, index_memory(settings))
        return Opened(settings, models, target, snapshots, progress, database, settings_of)

    with connected(settings, progress) as (client, database):
        namespace = Namespace.parse(name, database, "--target")
        on, refused = made(settings), None
        try:
            on.target.check()
        except StateMismatch as e:
            refused = e
        last = None if refused is None or settings.chosen else on.target.last_run()
        then = None if last is None else _as_recorded(settings, last, on.target.name)
        if last is not None and then is not None:
            on = made(then, last["_id"])
            if as_made:
                on.target.check()
        elif refused is not None and as_made:
            raise refused
        yield on


def _as_recorded(settings: Settings, run: Mapping[str, Any], target: str) -> Settings | None:
    recorded = run["settings"]
    model = recorded.get("decision", {}).get("model")
    if model is not None:
        raise UsageError(
            "run {run} of the target {target} read files: {files}. A file that only a database "
            "names is not read: give --config FILE with the settings of that run.",
            run=run["_id"],
            target=target,
            files=f"decision.model = {model!r}",
        )
    sections = {name: part for name, part in recorded.items() if name not in _NOW}
    sections["index"] = {**recorded.get("index", {}), "folder": settings.index.folder}
    try:
        return Settings(connection=settings.connection, **sections)
    except (ValidationError, TypeError):
        return None  # of another version


_FORMS = """'{"$oid": "..."}', 17, '"17"'"""
_MAX_SHOWN = 200  # characters of an _id that a message repeats


def decided_records(on: Opened, records: Records, written: str) -> list[Record]:
    """Return the decided documents that the id may mean; UsageError says what to check."""
    found = records.find(written)
    decided = [record for record in found if record.decided]
    if decided:
        return decided
    if not [*readings(written)]:
        raise UsageError("the _id {id!r} is not in UTF-8, as ids are.", id=written)
    undecided = Message(
        "no run of the target {target} decided an _id {id} (read as {tried}).",
        target=on.target.name,
        id=brief(repr(written), _MAX_SHOWN),
        tried=", ".join(brief(shown_value(value), _MAX_SHOWN) for value in readings(written)),
    )
    where = Message(
        "Nor does the source {source} hold it. Check the id, its type (extended JSON says which: "
        "{forms}) and --target.",
        source=on.target.source.full_name,
        forms=_FORMS,
    )
    if found:
        where = Message(
            "The source {source} holds {id}: it came after the last run, or --limit, --query or a "
            "stop left it out. The next `dedup run` decides it.",
            source=on.target.source.full_name,
            id=shown(found[0].key),
        )
    raise UsageError(joined([undecided, where]))


def several(written: str, records: Sequence[Record]) -> UsageError:
    """Return the error for an id that may mean several documents."""
    names = ", ".join(for_shell(unmistakable(record.key)) for record in records)
    return UsageError(
        "{id!r} may be one of several; write the one you mean, quoted for a shell: {names}.",
        id=written,
        names=names,
    )


def refusal(document: Document, field: str) -> Message:
    """Return in words why a document has no text in its field."""
    content = document.content
    if isinstance(content, Quarantined) or (isinstance(content, Skipped) and content.detail):
        return Message("{reason}: {detail}", reason=content.reason, detail=content.detail)
    if content == Skipped(Reason.NOT_TEXT):
        return Message("field `{field}` is not text now", field=field)
    return Message("field `{field}` is missing now", field=field)
