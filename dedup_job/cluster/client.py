"""The child process of a run on a cluster: sends pages to Ray, and batches back to the command."""

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

from dedup_job.cluster import cannot_go_on
from dedup_job.commands.run import package_versions
from dedup_job.commands.session import form_of, preprocessor_of
from dedup_job.job import Preprocessor
from dedup_job.messages import DatabaseUnreachable, DedupError, UsageError
from dedup_job.runs.run_record import Stopwatch

_LOCAL, _MOST = "local:", 256
_REACH_SECONDS = 10.0
_TRIES = 5  # of a page whose worker was lost


def main() -> NoReturn:
    """Serve the pipe whose file descriptor is the first argument, then exit."""
    with suppress(EOFError, OSError):
        serve(Connection(int(sys.argv[1])))
    ray.shutdown()
    sys.stderr.flush()
    os._exit(0)


def serve(pipe: Connection) -> None:
    """Connect to the cluster, then answer each page with its batch, until None is received."""
    number, (address, settings) = pipe.recv()
    try:
        connect(address)
        cores = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    except Exception as e:  # noqa: BLE001  # raised again by the command
        pipe.send((number, e if isinstance(e, DedupError) else cannot_go_on(_shortened(e))))
        return
    pipe.send((number, cores))
    lock, references = threading.Lock(), [ray.put(settings)]  # in a list Ray does not fetch it
    task: Any = ray.remote(num_cpus=1, max_retries=_TRIES, scheduling_strategy="SPREAD")(prepare)
    while (request := pipe.recv()) is not None:
        number, page = request
        batch: Future[Any] = task.remote(references, page).future()
        batch.add_done_callback(partial(_answer, pipe, lock, number))


def _answer(pipe: Connection, lock: threading.Lock, number: int, batch: Future[Any]) -> None:
    value: Any
    try:
        value = batch.result()
    except RayError as e:
        value = cannot_go_on(_shortened(e))
    with lock, suppress(OSError):  # the command ended; `serve` ends at its next `recv`
        pipe.send((number, value))


def _shortened(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def connect(address: str) -> None:
    """Connect to a cluster; DatabaseUnreachable if none answers, UsageError if versions differ."""
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report each use
    try:
        if address.startswith(_LOCAL):
            ray.init(address="local", num_cpus=_count(address), include_dashboard=False, **options)
        else:
            _reach(address)
            ray.init(address=address, **options)
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
    """Raise ConnectionError or TimeoutError if nothing listens; Ray would wait for minutes."""
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


def prepare(settings: list[ray.ObjectRef[bytes]], page: bytes) -> bytes | Exception:
    """Return the pickled batch and work of a page, or the error; settings: one reference."""
    try:
        watch = Stopwatch()
        batch = _preprocessor(settings[0]).prepare(pickle.loads(page), watch)
        # a slice has no parsed texts, which are in the core's memory
        batch = replace(batch, fingerprints=batch.fingerprints[:])
        return pickle.dumps((batch, watch.seconds))
    except Exception as e:  # noqa: BLE001  # raised again by the command
        return e if isinstance(e, DedupError) else DedupError(f"{type(e).__name__}: {e}")


@cache
def _preprocessor(reference: ray.ObjectRef[bytes]) -> Preprocessor:
    settings, versions = pickle.loads(ray.get(reference))
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
    return preprocessor_of(settings, models, form_of(settings, models))
