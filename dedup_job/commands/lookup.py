"""Documents that runs decided, looked up by an `_id` as a person writes it."""

from __future__ import annotations

from collections.abc import Sequence

from dedup_job.commands.opened import Opened
from dedup_job.documents import Document, Quarantined, Reason, Skipped
from dedup_job.errors import UsageError
from dedup_job.mongo.bson.edit import type_name_at
from dedup_job.mongo.bson.extended_json import readings, shown, shown_value, unmistakable
from dedup_job.mongo.maintenance.records import Record, Records
from dedup_job.printing import for_shell
from dedup_job.text_fields import TextFields

_MAX_SHOWN = 200  # characters of an _id that a message repeats


def decided_records(on: Opened, records: Records, written: str) -> list[Record]:
    """Return the decided documents that the id may mean; UsageError says what to check."""
    found = records.find(written)
    decided = [record for record in found if record.decided]
    if decided:
        return decided
    if not [*readings(written)]:
        raise UsageError(f"the _id {written!r} is not in UTF-8, as ids are.")
    tried = ", ".join(_brief(shown_value(value)) for value in readings(written))
    name = _brief(repr(written))
    message = f"no run of the target {on.target.name} decided an _id {name} (read as {tried})."
    source = on.target.source.full_name
    if found:
        raise UsageError(
            f"{message} The source {source} holds {shown(found[0].key)}: it came after the last "
            "run, or --limit, --query or a stop left it out. The next `dedup run` decides it."
        )
    raise UsageError(
        f"{message} Nor does the source {source} hold it. Check the id, its type (extended JSON "
        'says which: \'{"$oid": "..."}\', 17, \'"17"\') and --target.'
    )


def several(written: str, records: Sequence[Record]) -> UsageError:
    """Return what refuses an id that may mean several documents."""
    names = " or ".join(for_shell(unmistakable(record.key)) for record in records)
    return UsageError(
        f"{written!r} may be one of several; write the one you mean, quoted for a shell: {names}."
    )


def refusal(document: Document, field: str) -> str:
    """Return in words why a document has no text in its field."""
    content = document.content
    if isinstance(content, Quarantined):
        return f"{content.reason}: {content.detail}"
    if isinstance(content, Skipped) and content.detail:
        return f"{content.reason}: {content.detail}"
    if content != Skipped(Reason.NOT_TEXT):
        return f"field `{field}` is missing now"
    found = type_name_at(document.raw, TextFields.of(field).one)
    return f"field `{field}` is {found} now, not text"


def _brief(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
