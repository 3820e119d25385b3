"""Documents that runs decided, looked up by an `_id` as a person writes it."""

from __future__ import annotations

from collections.abc import Sequence

from dedup_job.commands.opened import Opened
from dedup_job.documents import Document, Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.messages import Message, joined
from dedup_job.mongo.id_keys import readings, shown, shown_value, unmistakable
from dedup_job.mongo.records import Record, Records
from dedup_job.printing import for_shell

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
        id=_brief(repr(written)),
        tried=", ".join(_brief(shown_value(value)) for value in readings(written)),
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
    """Return what refuses an id that may mean several documents."""
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


def _brief(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
