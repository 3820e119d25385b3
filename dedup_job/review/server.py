"""The page on a port of this machine: what it asks for, and the answers, until it is ended.

Each tab says which pair it shows.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from dedup_job.commands.review import Review
from dedup_job.errors import DatabaseUnreachable, DedupError, UsageError
from dedup_job.messages import Message
from dedup_job.pages.render import (
    STATIC,
    asset,
    content_part,
    empty_page,
    failure_part,
    panel_part,
)
from dedup_job.review.admission import HOST, Admission, Ticket
from dedup_job.runs.asked_pairs import AskedPair, Label

_LINGER = 2  # seconds for requests under way when it is ended


def bound(port: int) -> socket.socket:
    """Return a socket bound to a port of this machine alone, 0 for any that is free."""
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        own.bind((HOST, port))
        own.listen()
    except OSError as e:
        own.close()
        taken = Message(
            "port {port} is in use. Name another --port, or 0 for any that is free.", port=port
        )
        other = Message(
            "port {port} cannot be opened: {why}. Name another --port.", port=port, why=e.strerror
        )
        raise UsageError(taken if e.errno == errno.EADDRINUSE else other) from e
    return own


def serve(review: Review, own: socket.socket, ready: Callable[[str], None], language: str) -> None:
    """Serve the page until a signal comes; `ready` is given its address, with the token.

    language: that was asked for, "" for none.
    """
    ticket = Ticket(own.getsockname()[1])
    ready(ticket.address)
    page_server(review, ticket, language).run(sockets=[own])


def page_server(review: Review, ticket: Ticket, language: str = "") -> uvicorn.Server:
    """Return what serves the page to those who hold the ticket."""
    config = uvicorn.Config(
        Admission(review_app(review, language), ticket),
        log_config=None,
        access_log=False,  # a line would hold the token
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_LINGER,
    )
    return uvicorn.Server(config)


def review_app(review: Review, language: str) -> Starlette:
    """Return the application; who may ask it is not its concern. language: that was asked for."""
    desk = _Desk(review)

    def page(_: Request) -> Response:  # without anything of the target: it asks with the token
        return HTMLResponse(empty_page(language))

    return Starlette(
        routes=[
            Route("/", page),
            Route("/content", desk.content),
            *(Route(path, desk.show) for path in ("/back", "/next")),
            Route("/answer", desk.taken, methods=["POST"]),
            Route("/static/{name}", _static),
        ],
        exception_handlers={DedupError: _failure, Exception: _failure},
    )


class _Desk:
    def __init__(self, review: Review) -> None:
        self._review = review

    def content(self, request: Request) -> Response:
        """Return what fills the page: a pair, else the first without an answer."""
        review = self._review
        review.refresh()
        key = request.query_params.get("at") or review.next_open()
        try:
            panel = self._panel(key)
        except UsageError:  # the address is of another review
            panel = self._panel(review.next_open())
        return HTMLResponse(content_part(review.target, review.name, review.stored_in, panel))

    def show(self, request: Request) -> Response:
        """Return the pair before one, or the next without an answer."""
        review, at = self._review, request.query_params.get("pair")
        return self._shown(
            review.before(at) if request.url.path == "/back" else review.next_open(at)
        )

    async def taken(self, request: Request) -> Response:
        """Store an answer; return the next pair, and the decision on this one."""
        return await run_in_threadpool(self._answer, await request.body())

    def _answer(self, body: bytes) -> Response:
        try:
            form = parse_qs(body.decode("utf-8-sig"), keep_blank_values=True, errors="strict")
        except ValueError as e:
            raise UsageError(f"the form cannot be read ({e}).") from e
        key, said = (form.get(name, [""])[0] for name in ("pair", "label"))
        if said not in [*Label]:
            raise UsageError(f"the answer is {said[:40]!r}, expected {', '.join(Label)}.")
        self._review.answer(key, Label(said))
        last = self._review.pair(key)
        return self._shown(self._review.next_open(key), last=last)

    def _panel(self, key: str | None, last: AskedPair | None = None) -> str:
        asked = None if key is None else self._review.pair(key)
        return panel_part(self._review.target, asked, self._review.progress(), last)

    def _shown(self, key: str | None, last: AskedPair | None = None) -> Response:
        panel = self._panel(key, last)
        return HTMLResponse(panel, headers={"HX-Replace-Url": f"/?at={key}" if key else "/"})


def _failure(request: Request, error: Exception) -> Response:
    known = isinstance(error, DedupError)
    status = 503 if isinstance(error, DatabaseUnreachable) else 409 if known else 500
    why = f"{error}" if known else f"unexpected {type(error).__name__}: {error}"
    if "hx-request" not in request.headers:
        return PlainTextResponse(f"{why}\n", status)
    headers = {"HX-Retarget": "#message", "HX-Reswap": "outerHTML"}
    return HTMLResponse(failure_part(why), status, headers)


def _static(request: Request) -> Response:
    try:
        name, kind = STATIC[request.path_params["name"]]
    except KeyError:
        raise HTTPException(404) from None
    return Response(asset(name), media_type=kind)
