"""The child process of a run on a cluster: it hands pages to Ray and batches back."""

import logging
import os
import pickle
import platform
import socket
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import ray
from ray.exceptions import RayError

from dedup_job.cluster import cannot_go_on, portable
from dedup_job.columns import Batch
from dedup_job.commands.opened import form_of, preparation
from dedup_job.commands.run import package_versions
from dedup_job.job import Preprocessor
from dedup_job.messages import DatabaseUnreachable, DedupError, UsageError
from dedup_job.runs.run import Stopwatch

_LOCAL, _MOST = "local:", 256
_REACH_SECONDS = 10.0
_TRIES = 5  # to have a page prepared whose worker was lost


def main() -> NoReturn:
    """Serve the pipe whose file descriptor is the first argument; end the process."""
    with suppress(EOFError, OSError):
        serve(Connection(int(sys.argv[1])))
    ray.shutdown()
    sys.stderr.flush()
    os._exit(0)


def serve(pipe: Connection) -> None:
    """Connect to the cluster, then answer pages, until the command says None or is gone."""
    number, (address, given) = pipe.recv()
    try:
        connect(address)
        cores = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    except Exception as e:  # noqa: BLE001  # raised again by the command
        known = isinstance(e, DedupError)
        pipe.send((number, portable(e) if known else cannot_go_on(_shortened(e))))
        return
    pipe.send((number, cores))
    lock, settings = threading.Lock(), [ray.put(given)]
    task: Any = ray.remote(num_cpus=1, max_retries=_TRIES, scheduling_strategy="SPREAD")(prepare)
    while (asked := pipe.recv()) is not None:
        number, page = asked
        done: Future[Any] = task.remote(settings, page).future()
        done.add_done_callback(partial(_answer, pipe, lock, number))


def _answer(pipe: Connection, lock: threading.Lock, number: int, done: Future[Any]) -> None:
    value: Any
    try:
        value = done.result()
    except RayError as e:
        value = cannot_go_on(_shortened(e))
    with lock, suppress(OSError):  # the command is gone, which `serve` hears
        pipe.send((number, value))


def _shortened(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def connect(address: str) -> None:
    """Connect to a cluster. Raises DatabaseUnreachable or UsageError."""
    told: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # who runs dedup is nobody's business
    try:
        if address.startswith(_LOCAL):
            ray.init(address="local", num_cpus=_count(address), include_dashboard=False, **told)
        else:
            _reach(address)
            ray.init(address=address, **told)
    except (ConnectionError, TimeoutError) as e:
        raise DatabaseUnreachable(
            "no cluster answers at {address!r}. `ray status` on a machine of the cluster tells "
            "whether it runs. One with tokens wants RAY_AUTH_MODE=token and its token here, "
            "too. local:2 starts one here.",
            address=address,
        ) from e
    except RuntimeError as e:  # other versions of Ray or Python
        raise UsageError(
            "the cluster at {address!r}: {why}", address=address, why=_shortened(e)
        ) from e


def _reach(address: str) -> None:
    """Raise ConnectionError or TimeoutError soon where nothing listens; Ray waits for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        if address != "auto":
            raise UsageError(
                "--cluster {address!r}: expected HOST:PORT, auto or local:N", address=address
            )
        return
    try:
        socket.create_connection((host, int(port)), _REACH_SECONDS).close()
    except (OSError, OverflowError) as e:
        raise ConnectionError(str(e)) from e


def _count(address: str) -> int:
    text = address.removeprefix(_LOCAL)
    if not text.isdecimal() or not 1 <= int(text) <= _MOST:
        raise UsageError(
            "--cluster {address!r}: expected local:N with N from 1 to {most}",
            address=address,
            most=_MOST,
        )
    return int(text)


def prepare(given: list[ray.ObjectRef[bytes]], page: bytes) -> bytes | Exception:
    """Return batch and work of a page, or the error; given: its list keeps Ray from fetching it."""
    try:
        watch = Stopwatch()
        batch = _portable(_preparation(given[0]).prepare(pickle.loads(page), watch))
        return pickle.dumps((batch, watch.work))
    except Exception as e:  # noqa: BLE001  # raised again by the command
        return portable(e)


@cache
def _preparation(given: ray.ObjectRef[bytes]) -> Preprocessor:
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
    return preparation(settings, models, form_of(settings, models))


def _portable(batch: Batch) -> Batch:
    """Return a batch without its parsed texts, which are in the core's memory."""
    prints = batch.fingerprints
    if prints.sketches is None:
        return batch
    bare = replace(prints, sketches=replace(prints.sketches, read=None))
    return replace(batch, fingerprints=bare)
