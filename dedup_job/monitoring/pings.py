"""Pings: a monitor learns that a run begins, and how it ended, as healthchecks.io understands it.

Such a URL is a secret: anyone who has the URL can fake a success. Only its scheme and its host are
shown, and nothing of it is stored. No text and no `_id` of a document is sent.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import threading
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit

from dedup_job import __version__
from dedup_job.errors import UsageError
from dedup_job.files import read_text
from dedup_job.messages import Message
from dedup_job.monitoring.ending import End

VARIABLE, OPTION = "DEDUP_PING", "--ping-file"
MOST_SECONDS = 5.0
_SENT = (
    *("run", "status", "source", "target", "started", "finished", "limit", "counts", "rates"),
    *("known", "expected", "seconds", "docs_per_second", "versions"),
)
log = logging.getLogger("dedup")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an error: the body is for the host that the user named."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none."""


class Pings:
    """Tells a URL of the first and the last moment of a run; a failure is a warning."""

    def __init__(self, url: SplitResult) -> None:
        self._url = url
        self.shown = f"{url.scheme}://{url.hostname}"
        self._opener = urllib.request.build_opener(_NoRedirect)

    def started(self) -> None:
        """Send `/start`."""
        self._send("start", {"version": __version__})

    def ended(self, end: End) -> None:
        """Send the exit code, and the figures of the report."""
        row = end.report.as_json() if end.report else {}
        body = {"status": end.status, "exit_code": end.exit_code, "error": end.error or None}
        body |= {"seconds": end.seconds, **{name: row[name] for name in _SENT if name in row}}
        self._send(str(end.exit_code), body)

    def _send(self, last: str, body: dict[str, Any]) -> None:
        """Send a request from a thread that is left behind after 5 s, wherever it hangs."""
        why: list[str] = [Message("no answer within {seconds:g} s", seconds=MOST_SECONDS)]
        data = json.dumps(body, ensure_ascii=False).encode()

        def send() -> None:
            why[0] = self._problem(last, data)

        thread = threading.Thread(target=send, name="ping", daemon=True)
        thread.start()
        thread.join(MOST_SECONDS)
        if why[0]:
            log.warning("%s", _failed(self.shown, why[0]))

    def _problem(self, last: str, data: bytes) -> str:
        """Send a request; return why it failed, "" where it did not."""
        url = self._url._replace(path=f"{self._url.path.rstrip('/')}/{last}").geturl()
        headers = {"Content-Type": "application/json", "User-Agent": f"dedup/{__version__}"}
        request = urllib.request.Request(url, data, headers, method="POST")
        try:
            with self._opener.open(request, timeout=MOST_SECONDS) as answer:
                answer.read(1)
        except HTTPError as e:
            with e:
                return Message("the answer is {code}", code=e.code)
        except (OSError, http.client.HTTPException, ValueError) as e:
            reason = e.reason if isinstance(e, URLError) else e  # its text may name the URL
            return (isinstance(reason, OSError) and reason.strerror) or type(reason).__name__
        return ""


def _failed(address: str, why: str) -> Message:
    return Message(
        "the ping to {address} failed: {why}. The run is as it was.", address=address, why=why
    )


def pings(file: Path | None, *, dry_run: bool) -> Pings | None:
    """Return pings to the URL of a file or of the environment; None without one, or on a dry run.

    Raises UsageError for a URL that cannot be meant, without repeating it.
    """
    if file is not None and ":/" in str(file):
        raise UsageError(
            Message(
                "{option} is a URL, which other users of this machine could read. Put it into the "
                "environment ({variable}) or into a file, and name the file.",
                option=OPTION,
                variable=VARIABLE,
            )
        )
    where, text = VARIABLE, os.environ.get(VARIABLE, "")
    if file is not None:
        where, text = f"{OPTION} {file}", read_text(file)
    if file is None and not text:
        return None
    url = _parsed(text.strip(), where)
    return None if dry_run else Pings(url)


def _parsed(text: str, where: str) -> SplitResult:
    try:
        url = urlsplit(text)
        plain = text.isascii() and text.isprintable() and " " not in text and url.port != 0
    except ValueError:
        plain = False
    if not plain or url.scheme not in ("http", "https") or not url.hostname:
        raise UsageError(
            Message("{where} holds no URL: expected one line, https://host/path.", where=where)
        )
    if url.username is not None:
        raise UsageError(
            Message(
                "{where} holds a URL with a user name, which a ping does not send.", where=where
            )
        )
    return url
