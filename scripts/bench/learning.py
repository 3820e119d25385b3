#!/usr/bin/env python3
"""What `dedup learn` makes of 200 labels of a bank with a policy of its own: names do not matter.

    python -m scripts.bench.learning TEXTS.jsonl [--seeds N] [--famous]

TEXTS: problems with names such as 小明, as JSON lines with `text` or `original_text`. Of each one
pair is made: with other names, labelled S; or with another number or another question, half of them
with other names as well, labelled D. Half of 400 pairs is learnt, the other half is judged.
--famous: names of writers instead, which the guard knows.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dedup_job.cleaning import Cleaner
from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.judgment import Judge
from dedup_job.judgment.guards import GUARDS
from dedup_job.judgment.learning import Labels, learn
from dedup_job.judgment.model import Model, load_model, model_of
from dedup_job.runs.share import Share

_NAMES = "小明 小红 小华 小强 小刚 小丽 小亮 小英 小军 小芳 小东 小兰 小玲 小林"
_FAMOUS = "鲁迅 巴金 老舍 茅盾 冰心 杜甫 李白 苏轼 白居易 李清照 陆游 屈原 曹操 孔子"
_ASKED = "周长/面积 面积/周长 还剩/用去 平均每/一共每 一共/还差 最多/至少 体积/表面积 速度/路程"
NAMES, FAMOUS, ASKED = (words.split() for words in (_NAMES, _FAMOUS, _ASKED))
PAIRS, NOW = 400, 0.95

Pair = tuple[str, str, bool]


def renamed(text: str, chance: random.Random) -> str:
    """Return a text with other names."""
    used = [name for name in NAMES if name in text]
    others = chance.sample([name for name in NAMES if name not in used], len(used))
    return re.sub("|".join(used), lambda found: others[used.index(found[0])], text)


def another(text: str, chance: random.Random) -> str | None:
    """Return another problem: another number or another question."""
    numbers = [*re.finditer(r"\d+", text)]
    asked = [one.split("/") for one in ASKED if one.split("/")[0] in text]
    if asked and chance.random() < 0.6:
        former, new = chance.choice(asked)
        return new.join(text.rsplit(former, 1))
    if not numbers:
        return None
    one = chance.choice(numbers)
    return f"{text[: one.start()]}{int(one[0]) + chance.randint(1, 9)}{text[one.end() :]}"


def made(texts: list[str], chance: random.Random) -> list[Pair]:
    """Return pairs, as many of each label."""
    named = [text for text in texts if any(name in text for name in NAMES)]
    chance.shuffle(named)
    same = [(text, renamed(text, chance), True) for text in named[: PAIRS // 2]]
    others = [(text, another(text, chance)) for text in named[PAIRS // 2 :]]
    different = [
        (text, renamed(other, chance) if chance.random() < 0.5 else other, False)
        for text, other in others
        if other is not None
    ]
    pairs = [*same, *different[: PAIRS // 2]]
    chance.shuffle(pairs)
    return pairs


def labels_of(judge: Judge, pairs: list[Pair]) -> Labels:
    """Return what the judge says of pairs."""
    one, other = (Cleaner().clean_all([pair[side] for pair in pairs]) for side in (0, 1))
    rows = np.arange(len(pairs))
    groups = [xxhash.xxh3_64_intdigest(text.encode()) >> 1 for text in one]
    same = np.array([pair[2] for pair in pairs])
    return Labels(*judge.features(one, rows, other, rows), same, np.array(groups, dtype=np.int64))


def said(model: Model, labels: Labels) -> NDArray[np.float64]:
    """Return the probabilities of a model, 0 where a guard keeps a pair apart."""
    found = model.trees.evaluate(np.ascontiguousarray(labels.features).ravel())[1]
    off = sum(1 << k for k, guard in enumerate(GUARDS) if guard.name in model.guards_off)
    return np.where(labels.kept_apart(off), 0, np.where(labels.equals, 1, found))


def main() -> None:
    """Make pairs, learn, print what is joined of the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--famous", action="store_true")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.texts.read_text("utf-8").splitlines()]
    texts = sorted({row.get("text") or row["original_text"] for row in rows})
    judge = Judge(load_lexicon(lambda _: None), NOW)
    known = dict(zip(NAMES, FAMOUS, strict=True)) if given.famous else {}
    for seed in range(given.seeds):
        pairs = made(texts, random.Random(seed))
        for name, other in known.items():
            pairs = [(a.replace(name, other), b.replace(name, other), s) for a, b, s in pairs]
        labels = labels_of(judge, pairs)
        learnt = np.arange(len(pairs)) < len(pairs) // 2
        found = learn(labels.where(learnt), NOW, [])
        rest = labels.where(~learnt)
        print(f"seed {seed}: off {found.off}, refused {found.refused}")
        own = model_of(json.dumps(found.document), "learnt")
        for name, model, dial in (
            ("shipped", load_model(None), NOW),
            ("learnt", own, found.confidence),
        ):
            joined = said(model, rest) >= dial
            for what, rows_ in (("S", rest.same), ("D", ~rest.same)):
                share = Share(int(joined[rows_].sum()), int(rows_.sum()))
                low, high = share.interval
                print(
                    f"  {name} at {dial:g}: {what} {share.part} of {share.whole} "
                    f"({low:.0%}-{high:.0%})"
                )


if __name__ == "__main__":
    main()
