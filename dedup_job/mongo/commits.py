"""Writes that belong together with what the state says of them: all or nothing, and once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pymongo import WriteConcern
from pymongo.client_session import ClientSession
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern

from dedup_job.errors import StateMismatch
from dedup_job.mongo.connection import Client
from dedup_job.mongo.patience import Patience
from dedup_job.mongo.state import AlreadyWritten, State

Writes = Callable[[ClientSession | None], None]


class Commits:
    """Commits of one holder of the lease, counted by the state's generation.

    An attempt whose answer was lost is not guessed about: the state tells whether it took effect.
    """

    def __init__(
        self, client: Client, session: ClientSession, state: State, patience: Patience
    ) -> None:
        self._session = session
        self._state = state
        self._patience = patience
        self.are_whole = _has_transactions(client)  # so no intent is needed
        self.generation = 0  # of the state before the next commit

    def commit(self, writes: Writes, values: Mapping[str, Any], intent: Mapping[str, Any]) -> None:
        """Do the writes and set values in the state; repeated until the outcome is known.

        A standalone server has no transactions: there the state holds `intent` meanwhile, by which
        the next holder of the lease takes back what is half done. `writes` may be called again
        then, and must do no harm.
        Raises LeaseLost if another run took over; then nothing is written.
        """
        attempt = self._together if self.are_whole else self._in_order
        try:
            with suppress(AlreadyWritten):
                self._patience(lambda: attempt(writes, values, intent))
        except (PyMongoError, StateMismatch):
            self._state.confirm()  # after a long sleep the lease may be the reason
            raise
        self.generation += 1

    def _together(self, writes: Writes, values: Mapping[str, Any], _: Mapping[str, Any]) -> None:
        """Commit in one transaction, unless an earlier attempt did.

        The state is changed last, since that bars it for the lease's renewal until the commit.
        """
        session = self._session
        session.start_transaction(ReadConcern("majority"), WriteConcern("majority", j=True))
        try:
            self._state.verify(session, self.generation)
            writes(session)
            self._state.update(values, session, changed=True, generation=self.generation)
            session.commit_transaction()
        except Exception:  # a second Ctrl-C does not wait for a slow server: it aborts by itself
            if session.in_transaction:
                session.abort_transaction()
            raise

    def _in_order(
        self, writes: Writes, values: Mapping[str, Any], intent: Mapping[str, Any]
    ) -> None:
        """Intent first, then the writes, then the values."""
        before = self.generation
        self._state.update(intent, generation=before)
        writes(None)
        none = dict.fromkeys(intent)
        self._state.update({**none, **values}, changed=True, generation=before)


def _has_transactions(client: Client) -> bool:
    hello = client.admin.command("hello")
    return "setName" in hello or hello.get("msg") == "isdbgrid"
