"""A command's session: connection, opened target, and the cores and memory that it may use."""

import ipaddress
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from pydantic import ValidationError

from dedup_job.cleaning import Cleaner
from dedup_job.commands.snapshots import SnapshotStore
from dedup_job.decision import Models
from dedup_job.documents import Channel, Document, Quarantined, Reason, Skipped
from dedup_job.job import Preprocessor
from dedup_job.messages import Message, StateMismatch, UsageError, joined
from dedup_job.mongo.connection import Client, Namespace, connect, retry_policy, translate_errors
from dedup_job.mongo.database_settings import Ranking
from dedup_job.mongo.id_keys import readings, shown, shown_value, unmistakable
from dedup_job.mongo.ledger_rows import LedgerRows
from dedup_job.mongo.records import Record, Records
from dedup_job.mongo.rows import KeptRows
from dedup_job.mongo.state import state_of
from dedup_job.mongo.target import Target
from dedup_job.mongo.target_reader import TargetForm
from dedup_job.mongo.undoing import finish_undo
from dedup_job.printing import brief, for_shell
from dedup_job.runs.run_record import Progress
from dedup_job.settings import Settings, expect_settings

log = logging.getLogger("dedup")
_OWN_SECTIONS = ("connection", "run", "abort_if")  # of the command, not of the target


@dataclass(frozen=True, slots=True)
class Session:
    """An opened target with its settings, models, snapshots and progress display.

    database: of names without one; settings_of: the run that the settings come from, 0 if the
    caller chose them.
    """

    settings: Settings
    models: Models
    target: Target
    snapshots: SnapshotStore
    progress: Progress
    database: str | None = None
    settings_of: int = 0


def form_of(settings: Settings, models: Models, *, as_made: bool = False) -> TargetForm:
    """Return the form of source, target and ledger; as_made: accept any version of the rules."""
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


def preprocessor_of(settings: Settings, models: Models, form: TargetForm) -> Preprocessor:
    """Return the preprocessor of the source's pages: it cleans, fingerprints and ranks them."""
    clean, most = Cleaner(settings.cleaning), settings.source.max_chars
    ranks = None if form.ranking is None else form.ranking.ranks
    return Preprocessor(clean, models.fingerprinter, form.kept.fits, most, ranks)


@contextmanager
def open_client(settings: Settings, progress: Progress) -> Iterator[tuple[Client, str | None]]:
    """Connect to the server; yield the client, and the database of names without one."""
    progress.stage(Message("connecting"))
    client, database = connect(expect_settings(settings).connection)
    with client, translate_errors():
        yield client, database


@contextmanager
def open_target(
    settings: Settings, name: str, progress: Progress, *, as_made: bool = True
) -> Iterator[Session]:
    """Connect and open a target with the settings of its runs; yield the session.

    If the settings differ and are not explicit (`Settings.is_explicit`), the last run's replace
    them. as_made: nothing will be decided, so any version of the rules may have made the target,
    and StateMismatch is raised if the settings still differ; else the caller calls `Target.check`.
    UsageError if no run ever wrote to the target.
    """

    def session_with(settings: Settings, settings_of: int = 0) -> Session:
        models = settings.models(progress.stage)
        form = form_of(settings, models, as_made=as_made)
        retry = retry_policy(client, settings.run.retry_for, progress)
        source = Namespace.parse(state_of(client, namespace)[1]["source"], None, "source")
        target = Target(client, namespace, form, source, finish_undo, retry)
        snapshots = SnapshotStore(target, settings.index, index_memory(settings))
        return Session(settings, models, target, snapshots, progress, database, settings_of)

    with open_client(settings, progress) as (client, database):
        namespace = Namespace.parse(name, database, "--target")
        session = session_with(settings)
        try:
            session.target.check()
        except StateMismatch:
            last = None if settings.is_explicit else session.target.last_run()
            former = last and _settings_of(last, settings, session.target.name)
            if last and former:
                session = session_with(former, last["_id"])
                if as_made:
                    session.target.check()
            elif as_made:
                raise
        yield session


def _settings_of(run: Mapping[str, Any], settings: Settings, target: str) -> Settings | None:
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
    sections = {name: part for name, part in recorded.items() if name not in _OWN_SECTIONS}
    sections["index"] = {**recorded.get("index", {}), "folder": settings.index.folder}
    try:
        return Settings(connection=settings.connection, **sections)
    except (ValidationError, TypeError):
        return None  # of another version


_FORMS = """'{"$oid": "..."}', 17, '"17"'"""
_MAX_SHOWN = 200  # characters of an _id that a message repeats


def decided_records(session: Session, written: str) -> list[Record]:
    """Return the decided documents that an `_id` as written may mean; UsageError if none."""
    found = Records(session.target).find(written)
    decided = [record for record in found if record.decided]
    if decided:
        return decided
    if not [*readings(written)]:
        raise UsageError("the _id {id!r} is not in UTF-8, as ids are.", id=written)
    undecided = Message(
        "no run of the target {target} decided an _id {id} (read as {tried}).",
        target=session.target.name,
        id=brief(repr(written), _MAX_SHOWN),
        tried=", ".join(brief(shown_value(value), _MAX_SHOWN) for value in readings(written)),
    )
    where = Message(
        "Nor does the source {source} hold it. Check the id, its type (extended JSON says which: "
        "{forms}) and --target.",
        source=session.target.source.full_name,
        forms=_FORMS,
    )
    if found:
        where = Message(
            "The source {source} holds {id}: it came after the last run, or --limit, --query or a "
            "stop left it out. The next `dedup run` decides it.",
            source=session.target.source.full_name,
            id=shown(found[0].key),
        )
    raise UsageError(joined([undecided, where]))


def only_one(written: str, records: Sequence[Record]) -> Record:
    """Return the record that an `_id` as written means; UsageError if it may mean several."""
    if len(records) > 1:
        raise UsageError(
            "{id!r} may be one of several; write the one you mean, quoted for a shell: {names}.",
            id=written,
            names=", ".join(for_shell(unmistakable(record.key)) for record in records),
        )
    return records[0]


def no_text_reason(document: Document, field: str) -> Message:
    """Return a message that says why a document has no text in its field."""
    content = document.content
    if isinstance(content, Quarantined) or (isinstance(content, Skipped) and content.detail):
        return Message("{reason}: {detail}", reason=content.reason, detail=content.detail)
    if content == Skipped(Reason.NOT_TEXT):
        return Message("field `{field}` is not text now", field=field)
    return Message("field `{field}` is missing now", field=field)


_CGROUP = Path("/sys/fs/cgroup")  # of a container, cgroups v2
_OTHER_STAGES = 1  # core of reading, deciding, writing
_DATABASE = 4  # of n cores, one is left to a local database
_LEAST, _MOST = 2, 16  # one alone leaves a core idle; more would wait for the one that decides

_PROCESS = 500e6  # bytes without the index: dictionary, native code, batches under way
_LEAST_GROWING = 100e6  # bytes of the growing part of the index
_PACKING = 1.1  # peak memory of packing the index, relative to its size
_DOCUMENT_BYTES = 13 + 17 + 31.6  # an ObjectId, keys of equal texts, of near ones
_KEY_BYTES = {Channel.MINHASH: 130, Channel.SENTENCES: 7, Channel.FORM: 7}


def preparing_thread_count(hosts: Iterable[str]) -> int:
    """Return the number of threads that prepare texts; hosts: names of the database's servers."""
    cores = available_cores()
    local = -(-cores // _DATABASE) if any(map(_is_local, hosts)) else 0
    return min(max(cores - _OTHER_STAGES - local, _LEAST), _MOST, cores)


def available_cores() -> int:
    """Return the number of cores of this process, by its affinity and the container's quota."""
    cores = psutil.cpu_count() or 1
    if hasattr(psutil.Process, "cpu_affinity"):
        cores = len(psutil.Process().cpu_affinity()) or cores
    quota = _numbers("cpu.max")
    return max(min(cores, int(quota[0] // quota[1])), 1) if quota else cores


def _available_memory() -> float:
    available = float(psutil.virtual_memory().available)
    most, used = _numbers("memory.max"), _numbers("memory.current")
    return min(available, most[0] - used[0]) if most and used else available


def _numbers(name: str) -> list[float]:
    try:
        return [*map(float, (_CGROUP / name).read_text(encoding="ascii").split())]
    except (OSError, ValueError):  # ValueError: "max", no limit
        return []


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".sock"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def index_memory(settings: Settings, documents: int = 0) -> float:
    """Return the bytes that the growing part of an index may take; more is spilled to files.

    Logs a warning if an index of n documents needs more. UsageError if `run.max_memory` is too
    little for any index.
    """
    allowed = settings.run.max_memory
    limit = _available_memory() if allowed is None else allowed
    if allowed is not None and allowed < _PROCESS + _LEAST_GROWING:
        raise UsageError(
            "run.max_memory allows {allowed:,.1f} GB; a run takes {least:,.1f} GB at least, "
            "however small its index. Raise it.",
            allowed=allowed / 1e9,
            least=(_PROCESS + _LEAST_GROWING) / 1e9,
        )
    channels = {*settings.index.candidate_generators, *[Channel.FORM] * settings.decision.judges}
    keys = sum(_KEY_BYTES.get(channel, 0) for channel in channels)
    needed = _PROCESS + documents * (_DOCUMENT_BYTES + keys)
    if documents and needed > limit:
        warning = Message(
            "the run may need {needed:,.1f} GB for an index of {documents:,} documents, and it has "
            "{limit:,.1f} GB (run.max_memory, or what this machine has). What does not fit is put "
            "into files in the folder of the index and read from there, which is slower.",
            needed=needed / 1e9,
            documents=documents,
            limit=limit / 1e9,
        )
        log.warning(warning)
    return max((limit - _PROCESS) / _PACKING, _LEAST_GROWING)
