"""Objects in processes of the cluster, called by name, and watched while they work."""

from __future__ import annotations

import pickle
import platform
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import RayError

from dedup_job.cluster.errors import portable

START_SECONDS = 300.0  # native code may have to be compiled first
_LOOK_SECONDS, _SILENT_SECONDS = 5.0, 20.0
PREPARE, DECIDE, WRITE, _ALIVE = "prepare", "decide", "write", "alive"
_THREADS = {PREPARE: 2, DECIDE: 1, WRITE: 1, _ALIVE: 1}  # each takes its calls in turn

Bytes = NDArray[np.uint8]


class Lost(Exception):
    """The process is gone, or it does not answer."""


def packed(value: Any) -> Bytes:
    """Return a value as bytes, in an array, which the object store does not copy."""
    return np.frombuffer(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), dtype=np.uint8)


def unpacked(data: Bytes) -> Any:
    """Return the value; its arrays are copies, since native code writes into some."""
    return pickle.loads(data.data)


class _Served:
    """An object in a process of its own."""

    def __init__(self, made_by: list[Any]) -> None:
        """Make it; made_by: a reference to its class and arguments, which no log shows."""
        kind, arguments = unpacked(ray.get(made_by[0]))
        self._object: Any = None
        try:
            self._object = kind(*arguments)
        except Exception as e:  # noqa: BLE001  # the first call raises it
            self._broken = portable(e)

    def call(self, method: str, arguments: Bytes) -> Bytes:
        """Call a method; return whether it ended well, and its result or its error."""
        if self._object is None:
            return packed((False, self._broken))
        try:
            return packed((True, getattr(self._object, method)(*unpacked(arguments))))
        except Exception as e:  # noqa: BLE001  # raised again by who called
            return packed((False, portable(e)))

    def node(self) -> str:
        """Return the name of the machine, as a sign of life."""
        return platform.node()


class Process:
    """An object in a process of its own, seen from the driver."""

    def __init__(self, kind: type, *arguments: Any, cpus: float, memory: int = 0) -> None:
        """cpus, memory in bytes: what the machine has to have left for it."""
        made_by = [ray.put(packed((kind, arguments)))]
        named = type(kind.__name__, (_Served,), {})  # as Ray and `ps` show it
        actor: Any = ray.remote(concurrency_groups=_THREADS)(named)
        self._actor = actor.options(
            num_cpus=cpus, memory=memory, max_restarts=0, scheduling_strategy="SPREAD"
        ).remote(made_by)
        self._node = self._actor.node.options(concurrency_group=_ALIVE).remote()
        self.is_lost = False

    def wait(self, seconds: float = START_SECONDS) -> str:
        """Wait until it is there; return the name of its machine. Raises Lost."""
        ready, _ = ray.wait([self._node], timeout=seconds)
        if not ready:
            self.end()
            raise Lost
        try:
            return str(ray.get(self._node))
        except RayError as e:
            self.end()
            raise Lost from e

    @property
    def is_there(self) -> bool:
        """Whether it has begun."""
        return not self.is_lost and bool(ray.wait([self._node], timeout=0)[0])

    def send(self, method: str, *arguments: Any, group: str = DECIDE) -> Any:
        """Begin a call; of one group each is done after the one before."""
        return self._actor.call.options(concurrency_group=group).remote(method, packed(arguments))

    def answer(self, sent: Any) -> Any:
        """Wait for the end of a call; return its result or raise its error. Raises Lost."""
        try:
            while not ray.wait([sent], timeout=_LOOK_SECONDS)[0]:
                alive = self._actor.node.options(concurrency_group=_ALIVE).remote()
                ray.get(alive, timeout=_SILENT_SECONDS)
            ended_well, value = unpacked(ray.get(sent))
        except RayError as e:  # also where it does not answer in time
            self.end()
            raise Lost from e
        if ended_well:
            return value
        raise value

    def ask(self, method: str, *arguments: Any, group: str = DECIDE) -> Any:
        """Call a method and wait for its end. Raises Lost."""
        return self.answer(self.send(method, *arguments, group=group))

    def end(self) -> None:
        """End the process, which is lost if it was not so before."""
        self.is_lost = True
        ray.kill(self._actor)
