"""Regression test: targets and ledgers of runs over real text, compared with recorded hashes.

    python -m scripts.bench.golden [--threads 8] [--batch 100] [--record]

Every collection of ../shared/data that is named below, and the demo's documents, are decided in
each preset and with each judge, two thirds first, then the rest. The documents of the target and
the rows of the ledger are hashed byte by byte in the order of `_id`. Threads and the size of a
batch change nothing. --record rewrites benchmarks/golden.json.
"""

import argparse
import hashlib
import json
import sys
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.collection import Collection
from pymongo.database import Database

from dedup_job.demo import make_corpus
from dedup_job.mongod import embedded_server
from scripts.bench import processes
from scripts.bench.command import DATA, ROOT, count, parser_of, records_of

Db = Database[dict[str, Any]]
RECORD = ROOT / "benchmarks" / "golden.json"
COLLECTIONS = {
    "exam_dev": "text",
    "html_dev": "html",
    "articles_dev": "text",
    "neardup_docs_dev": "text",
    "edge_strings": "text",
    "demo": "text",
}
FORMS = {
    "articles": {},
    "articles, similarity": {"DEDUP_DECISION__JUDGE": "similarity"},
    "questions": {},
    "questions, similarity": {"DEDUP_DECISION__JUDGE": "similarity"},
    "classic": {},
    "questions, longest, whole": {
        "DEDUP_OUTPUT__KEEP": '["longest"]',
        "DEDUP_LEDGER__DOCUMENT": "whole",
    },
}


def decide(uri: str, database: Db, field: str, form: str, arguments: argparse.Namespace) -> str:
    """Run on the source of a database; return sizes and hashes of its target and its ledger."""
    target = form.replace(", ", "_")
    processes.dedup(
        uri, "run", "--db", database.name, "--source", "source", "--target", target,
        "--config", form.split(",")[0], "--field", field, "--yes",
        DEDUP_RUN__THREADS=str(arguments.threads),
        DEDUP_RUN__BATCH_DOCUMENTS=str(arguments.batch), **FORMS[form],
    )  # fmt: skip
    parts = [_hash(database[name]) for name in (target, f"{target}.ledger")]
    return " ".join(f"{number} {digest}" for number, digest in parts)


def _hash(collection: Collection[Any]) -> tuple[int, str]:
    options = collection.codec_options.with_options(document_class=RawBSONDocument)
    digest, number = hashlib.sha256(), 0
    for row in collection.with_options(options).find().sort("_id", 1):
        digest.update(row.raw)
        number += 1
    return number, digest.hexdigest()[:16]


def main() -> int:
    """Print a row for each collection and form; return 1 if any differs from the record."""
    parser = parser_of(__doc__)
    parser.add_argument("--threads", type=count, default=2)
    parser.add_argument("--batch", type=count, default=1000)
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    found = dict[str, dict[str, str]]()
    with embedded_server() as uri, MongoClient[dict[str, Any]](uri) as client:
        for name, field in COLLECTIONS.items():
            database, file = client[name], DATA / f"{name}.jsonl.gz"
            documents = make_corpus(5000) if name == "demo" else records_of(file)
            cut, found[name] = len(documents) * 2 // 3, {}
            for part in (documents[:cut], documents[cut:]):
                database.source.insert_many(part)
                for form in FORMS:
                    found[name][form] = decide(uri, database, field, form, arguments)
            for form, hashes in found[name].items():
                is_same = hashes == recorded.get(name, {}).get(form)
                print(f"{name:16} {form:26} {hashes}{'' if is_same else '  OTHER'}", flush=True)
            client.drop_database(name)
    if arguments.record:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
    return int(found != recorded)


if __name__ == "__main__":
    sys.exit(main())
