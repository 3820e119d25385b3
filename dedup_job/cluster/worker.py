"""A task of the cluster: one page becomes a batch."""

from __future__ import annotations

import pickle
import platform
from dataclasses import replace
from functools import cache

import ray

from dedup_job.cleaning import Cleaner
from dedup_job.cluster.errors import portable
from dedup_job.columns import Batch
from dedup_job.commands.opened import form_of
from dedup_job.commands.run import package_versions
from dedup_job.errors import UsageError
from dedup_job.job.preparing import Preparation
from dedup_job.messages import Message
from dedup_job.runs.stages import Stopwatch


def prepare(given: list[ray.ObjectRef[bytes]], page: bytes) -> bytes | Exception:
    """Return batch and work of a page; or the error of it.

    given: reference to settings and package versions of the command; in a list, so that Ray does
    not fetch them for each page.
    """
    try:
        watch = Stopwatch()
        batch = _portable(_preparation(given[0]).prepare(pickle.loads(page), watch))
        return pickle.dumps((batch, watch.work))
    except Exception as e:  # noqa: BLE001  # raised again by the command
        return portable(e)


@cache
def _preparation(given: ray.ObjectRef[bytes]) -> Preparation:
    settings, versions = pickle.loads(ray.get(given))
    for name, version in package_versions().items():
        if versions[name] != version:
            raise UsageError(
                "{node} has {package} {version}, this machine {own}: a run on a cluster needs "
                "the same versions everywhere. Install them there.",
                node=platform.node(),
                package=name,
                version=version,
                own=versions[name],
            )
    models = settings.models()
    form = form_of(settings, models)
    return Preparation(
        Cleaner(settings.cleaning),
        models.fingerprinter,
        form.kept.fits,
        settings.source.max_chars,
        form.ranks,
    )


def _portable(batch: Batch) -> Batch:
    """Return a batch without its parsed texts, which are in the core's memory."""
    prints = batch.fingerprints
    if prints.sketches is None:
        return batch
    bare = replace(prints, sketches=replace(prints.sketches, read=None))
    return replace(batch, fingerprints=bare)
