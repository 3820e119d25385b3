"""The errors a user can meet, each with the exit code of the process.

DedupError (1)
 ├─ UsageError (2)              an option, a name or a configuration is wrong
 │   └─ ConfigurationError (2)  every problem of the configuration at once
 ├─ DatabaseUnreachable (5)     try again later, with the same command
 ├─ StateMismatch (6)           the target does not fit this run
 │   ├─ LeaseLost (6)           another run took over, or may have
 │   └─ RunAborted (6)        the run's result looks like a mistake
 ├─ LeaseHeld (11)              another run is at work
 └─ Interrupted (128 + signal)  stopped after a checkpoint
"""

from collections.abc import Sequence
from typing import Any

from dedup_job.messages import Message, counted, joined


class DedupError(Exception):
    """Base of all errors that the user sees as a sentence, without a traceback."""

    code = 1

    def __init__(self, said: str = "", /, **values: object) -> None:
        """Take a sentence for the catalogue with the values of its fields, or a finished one."""
        is_whole = isinstance(said, Message) and not values
        super().__init__(said if is_whole else Message(said, **values))

    @property
    def message(self) -> Message:
        """What is wrong and what to do."""
        message: Message = self.args[0]
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it without its constructor, so that another process can raise it."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class UsageError(DedupError):
    """What was asked for cannot be done as asked."""

    code = 2


class ConfigurationError(UsageError):
    """The configuration has problems; all of them are listed."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        number = counted(len(problems), "problem")
        head = Message("the configuration has {problems}:", problems=number)
        super().__init__(joined([head, *problems], "\n  - "))


class DatabaseUnreachable(DedupError):
    """The server does not answer; the same command may work later."""

    code = 5


class StateMismatch(DedupError):
    """The target holds the result of other settings, another source or another tool."""

    code = 6


class LeaseLost(StateMismatch):
    """Another run took the lease over, or may have; this one wrote nothing more."""


class RunAborted(StateMismatch):
    """A limit was passed that no sane collection reaches; the batch in hand was not written."""

    def __init__(self, found: str, limit: str, setting: str, example: str) -> None:
        section, _, name = setting.partition(".")
        values = {"found": found, "limit": limit, "example": example}
        values |= {"variable": f"DEDUP_{section.upper()}__{name.upper()}"}
        values |= {"name": name, "section": section}
        super().__init__(
            Message(
                "{found}, the limit is {limit}. The run stopped; this batch was not written.\n"
                "  {example}\n"
                "Look at it with --dry-run and at the ledger. If that is right, raise the limit "
                "with {variable} or {name} in section [{section}] of a --config file; the same "
                "command then goes on.",
                **values,
            )
        )
        self.of_a_file = Message(
            "{found}, the limit is {limit}. Nothing was written.\n  {example}\nIf that is right, "
            "raise the limit with {variable} or {name} in section [{section}] of a --config file.",
            **values,
        )


class LeaseHeld(DedupError):
    """Another run holds the lease of this target."""

    code = 11


class Interrupted(DedupError):
    """A signal ended the run after a checkpoint."""

    def __init__(self, message: str, signum: int) -> None:
        super().__init__(message)
        self.code = 128 + signum  # as shells report it
