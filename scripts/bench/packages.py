"""Tools that decide which of n texts are kept, each from nothing: ours and known packages.

    PYTHON -m scripts.bench.packages TOOL FILE.jsonl

Decides the texts of a file, a JSON string on each line, and prints a list of the numbers of those
kept. Imports only what the tool needs: PYTHON may be of an environment with that package alone. All
MinHash takes 128 permutations of the 3-grams of characters at 0.8, except datatrove's, which is as
it comes: 5-grams of jieba's words, 14 bands of 8, here two tasks.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Keeps = Callable[[Sequence[str]], NDArray[np.bool_]]
"""Decides n texts in their order, from nothing: bool (n,), True where kept."""

THRESHOLD, PERMUTATIONS, BANDS = 0.8, 128, 16
TASKS = 2
HAN = range(0x4E00, 0xA000)


def dedup(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with this package, default settings."""
    from dedup_job import deduplicate

    return np.array([outcome.decision == "kept" for outcome in deduplicate(texts)], dtype=np.bool_)


def similarity(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with this package by the similarity of texts alone, as the others do."""
    from dedup_job import deduplicate, load_settings

    settings = load_settings(values={"decision.judge": "similarity"})
    kept = [outcome.decision == "kept" for outcome in deduplicate(texts, settings)]
    return np.array(kept, dtype=np.bool_)


def rensa(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with the package `rensa`: R-MinHash, bands, estimated Jaccard."""
    from rensa import RMinHash, RMinHashDeduplicator

    seen = RMinHashDeduplicator(
        threshold=THRESHOLD, num_perm=PERMUTATIONS, use_lsh=True, num_bands=BANDS, seed=42
    )
    kept = []
    for number, text in enumerate(texts):
        minhash = RMinHash(num_perm=PERMUTATIONS, seed=42)
        minhash.update([gram.decode() for gram in _grams(text)])
        kept.append(seen.add(str(number), minhash))
    return np.array(kept, dtype=np.bool_)


def datasketch(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with the package `datasketch`: MinHash, whatever its LSH proposes."""
    from datasketch import MinHash, MinHashLSH

    seen = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    kept = []
    for number, text in enumerate(texts):
        minhash = MinHash(num_perm=PERMUTATIONS, seed=42)
        minhash.update_batch(list(_grams(text)))
        kept.append(not seen.query(minhash))
        if kept[-1]:
            seen.insert(number, minhash)
    return np.array(kept, dtype=np.bool_)


def text_dedup(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with the command `text_dedup.minhash`; spaces make a word of each character."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HF_HOME": folder, "HF_HUB_OFFLINE": "1"}
        from datasets import load_from_disk
        from text_dedup.minhash import main as minhash

        _write(Path(folder) / "in.jsonl", [(i, " ".join(text)) for i, text in enumerate(texts)])
        options = {
            "path": "json",
            "data_files": f"{folder}/in.jsonl",
            "split": "train",
            "cache_dir": f"{folder}/cache",
            "output": f"{folder}/out",
            "column": "text",
            "ngram": 3,
            "min_length": 1,
            "num_perm": PERMUTATIONS,
            "threshold": THRESHOLD,
        }
        minhash([f"--{k}={v}" for k, v in options.items()], standalone_mode=False)
        return _kept(load_from_disk(f"{folder}/out")["id"], len(texts))


def datatrove(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with the package `datatrove`: the four steps of its MinHash, on this machine."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import minhash
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    with tempfile.TemporaryDirectory() as folder:
        for task, part in enumerate(np.array_split(np.arange(len(texts)), TASKS)):
            _write(Path(folder) / f"in/{task}.jsonl", [(int(i), texts[i]) for i in part])
        read, config = JsonlReader(f"{folder}/in"), minhash.MinhashConfig()
        sign = minhash.MinhashDedupSignature(f"{folder}/signed", config, language="cmn_Hani")
        match = minhash.MinhashDedupBuckets(f"{folder}/signed", f"{folder}/pairs", config=config)
        group = minhash.MinhashDedupCluster(f"{folder}/pairs", f"{folder}/groups", config)
        drop = minhash.MinhashDedupFilter(f"{folder}/groups")
        write = JsonlWriter(f"{folder}/out", compression=None)
        steps = (
            ([read, sign], TASKS),
            ([match], config.num_buckets),
            ([group], 1),
            ([read, drop, write], TASKS),
        )
        for number, (pipeline, tasks) in enumerate(steps):
            logs = f"{folder}/logs/{number}"
            workers = min(tasks, TASKS)
            LocalPipelineExecutor(pipeline, tasks, workers, logs, start_method="fork").run()
        lines = [line for file in Path(folder, "out").iterdir() for line in file.open()]
        return _kept([json.loads(line)["id"] for line in lines], len(texts))


def semhash(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Decide with the package `semhash`; random vectors of characters stand in for its model.

    The model would be downloaded. This one is of its size: 256 dimensions, 21,000 tokens.
    """
    from model2vec import StaticModel
    from semhash import SemHash
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    tokens = ["[UNK]", *map(chr, range(33, 127)), *map(chr, HAN)]
    tokenizer = Tokenizer(models.WordLevel({t: i for i, t in enumerate(tokens)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\S"), "isolated")
    vectors = np.random.default_rng(42).standard_normal((len(tokens), 256), dtype=np.float32)
    rows = [{"id": str(i), "text": text} for i, text in enumerate(texts)]
    model = StaticModel(vectors, tokenizer)
    found = SemHash.from_records(rows, columns=["text"], model=model).self_deduplicate()
    return _kept([row["id"] for row in found.selected], len(texts))


TOOLS = {
    f.__name__: f for f in (dedup, similarity, rensa, datasketch, text_dedup, datatrove, semhash)
}


def installed_peers() -> Iterator[tuple[str, Keeps | None]]:
    """Yield the packages that decide a few texts at once, None in place of those not installed."""
    for package in (rensa, datasketch):
        name = package.__name__
        yield name, package if find_spec(name) else None


def _grams(text: str) -> set[bytes]:
    """Return the 3-grams without white space in UTF-8; the packages take no lone surrogates."""
    packed = "".join(text.split())
    grams = {packed[i : i + 3] for i in range(max(len(packed) - 2, 1))}
    return {gram.encode("utf-8", "replace") for gram in grams}


def _write(file: Path, texts: Sequence[tuple[int, str]]) -> None:
    """Write texts and their numbers as both packages read them."""
    file.parent.mkdir(exist_ok=True)
    rows = (json.dumps({"id": str(i), "text": text}) + "\n" for i, text in texts)
    file.write_text("".join(rows))


def _kept(numbers: Sequence[str], count: int) -> NDArray[np.bool_]:
    """Return which of so many texts are kept, of the numbers of those."""
    kept = np.zeros(count, dtype=np.bool_)
    kept[np.array(numbers, dtype=np.int64)] = True
    return kept


if __name__ == "__main__":
    given = [json.loads(line) for line in Path(sys.argv[2]).read_text().splitlines()]
    print(json.dumps(np.flatnonzero(TOOLS[sys.argv[1]](given)).tolist()))
