"""Old names of commands, options and settings, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping

from dedup_job.messages import Message

COMMANDS: Mapping[str, str] = {
    "explain": Message("dedup explain is now dedup inspect ID --target T."),
    "query": Message("dedup query is now dedup inspect --text TEXT --target T."),
    "compare": Message("dedup compare is now dedup inspect TEXT TEXT."),
    "fingerprint": Message("dedup fingerprint is now dedup inspect TEXT."),
    "sample": Message("dedup sample is now dedup list --random."),
    "calibrate": Message(
        "dedup calibrate is gone: dedup run --dry-run --html FILE shows which pairs a run "
        "would join, and dedup review asks you about pairs."
    ),
    "idf": Message(
        "dedup idf is gone: dedup run --dry-run --html FILE shows which pairs a run would join."
    ),
    "lock": Message("dedup lock is now dedup lease: dedup lease show, dedup lease break."),
}
OPTIONS: Mapping[str, str] = {
    "--compare": Message("--compare is now --full-scan."),
    "--lock-wait": Message("--lock-wait is now --lease-wait."),
    "--batch-bytes": Message(
        "--batch-bytes is gone: a batch ends at 16 MiB, or at the number of documents "
        "that run.batch_documents sets."
    ),
    "--k": Message("--k is now --max-distance."),
    "--explain": Message("--explain is now --full."),
    "--number": Message("--number is now --limit."),
    "--again": Message("--again is now --requeue: the next run decides the document again."),
    "--size": Message("--size is now --documents."),
}

_NOW = {
    "source.compare_every": "source.full_scan_every",
    "decision.richer": "decision.on_more_content",
    "index.channels": "index.candidate_generators",
    "run.lock_wait": "run.lease_wait",
    **{f"brakes.{n}": f"abort_if.{n}" for n in ("near_rate", "cluster", "without_text", "cut")},
}
_GONE = {
    "connection.timeout": Message("write serverSelectionTimeoutMS into the connection string"),
    "cleaning.notation": Message("what markup says always becomes text"),
    "cleaning.css": Message("style rules always go"),
    "fingerprint.min_features": Message("10 keywords are enough, or 5 where top_k is set"),
    "fingerprint.min_ngrams": Message("16 n-grams are enough"),
    "fingerprint.single_characters": Message("words of one character are not used"),
    "fingerprint.fold_case": Message("minhash finds texts that differ in case"),
    "fingerprint.fold_width": Message("minhash finds texts that differ in width"),
    "index.bytes_per_document": Message("a fingerprint takes up to 32 bytes"),
    "index.snapshot_from": Message(
        "an index in index.folder is always kept, elsewhere from 100,000 documents on"
    ),
    "decision.compare": Message('write decision.judge = "none" where no texts are to be compared'),
    "decision.most_left_out": Message(
        "notes of a text are left out of a comparison, and a ledger row says how much that is"
    ),
    "decision.harmless": Message(
        "decision.confidence says how sure the judge has to be; dedup learn "
        "teaches it what is the same to you"
    ),
    "brakes.window": Message("abort_if.near_rate counts 10,000 documents at a time"),
    "brakes.without_text_from": Message("abort_if.without_text counts 1,000 documents at a time"),
    "brakes.candidates": Message("the report counts documents with too many candidates"),
    "run.batch_bytes": Message("a batch ends at 16 MiB, or at run.batch_documents"),
}
SETTINGS: Mapping[str, str] = {
    **{old: Message("{old} is now {new}.", old=old, new=new) for old, new in _NOW.items()},
    **{
        old: Message("{old} is gone: {instead}.", old=old, instead=instead)
        for old, instead in _GONE.items()
    },
}
