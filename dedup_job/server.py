"""The web server of `dedup review`: one page, its requests, and who may send them.

Each request of a tab names the pair that the tab shows.
"""

import errno
import os
import secrets
import socket
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from dedup_job.commands.review import Review
from dedup_job.messages import DatabaseUnreachable, DedupError, UsageError
from dedup_job.pages import STATIC, asset, error_element, review_part
from dedup_job.runs.survey import AskedPair, Label

_LINGER = 2  # seconds for requests under way when it is ended


def bound(port: int) -> socket.socket:
    """Return a socket on a local port, 0 for any that is free; UsageError if it is not free."""
    try:
        return socket.create_server((HOST, port))
    except OSError as e:
        if e.errno == errno.EADDRINUSE:
            raise UsageError(
                "port {port} is in use. Name another --port, or 0 for any that is free.", port=port
            ) from e
        why = os.strerror(e.errno or 0)  # without the address that Python adds
        raise UsageError(
            "port {port} cannot be opened: {why}. Name another --port.", port=port, why=why
        ) from e


def serve(review: Review, own: socket.socket, ready: Callable[[str], None], language: str) -> None:
    """Serve the page until a signal; ready: called with the address, which holds the token."""
    ticket = Ticket(own.getsockname()[1])
    ready(ticket.address)
    page_server(review, ticket, language).run(sockets=[own])


def page_server(review: Review, ticket: "Ticket", language: str = "") -> uvicorn.Server:
    """Return the server of the page, which refuses requests without the ticket's token."""
    config = uvicorn.Config(
        _Admission(_application(review, language), ticket),
        log_config=None,
        access_log=False,  # a line would hold the token
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_LINGER,
    )
    return uvicorn.Server(config)


def _application(review: Review, language: str) -> Starlette:
    def panel(key: str | None, last: AskedPair | None = None) -> str:
        """Return the HTML of a pair (key: None at the end of the review) and of the last answer."""
        pair = None if key is None else review.pair(key)
        about = {"target": review.target, "progress": review.progress()}
        return review_part("review_panel", asked=pair, last=last, **about)

    def shown(key: str | None, last: AskedPair | None = None) -> Response:
        address = f"/?at={key}" if key else "/"
        return HTMLResponse(panel(key, last), headers={"HX-Replace-Url": address})

    def page(_: Request) -> Response:  # without content of the target, for which a token is sent
        return HTMLResponse(review_part("review", language=language))

    def content(request: Request) -> Response:
        review.refresh()
        key = request.query_params.get("at") or review.next_unanswered()
        try:
            first = panel(key)
        except UsageError:  # the address is of another review
            first = panel(review.next_unanswered())
        about = {"target": review.target, "name": review.name, "stored_in": review.stored_in}
        return HTMLResponse(review_part("content", panel=first, **about))

    def step_handler(key_of: Callable[[str | None], str | None]) -> Callable[[Request], Response]:
        return lambda request: shown(key_of(request.query_params.get("pair")))

    def answer(body: bytes) -> Response:
        try:
            form = parse_qs(body.decode("utf-8-sig"), keep_blank_values=True, errors="strict")
        except ValueError as e:
            raise UsageError(f"the form cannot be read ({e}).") from e
        key, label = (form.get(name, [""])[0] for name in ("pair", "label"))
        if label not in [*Label]:
            raise UsageError(f"the answer is {label[:40]!r}, expected {', '.join(Label)}.")
        review.answer(key, Label(label))
        return shown(review.next_unanswered(key), review.pair(key))

    async def answered(request: Request) -> Response:
        return await run_in_threadpool(answer, await request.body())

    return Starlette(
        routes=[
            Route("/", page),
            Route("/content", content),
            Route("/back", step_handler(review.previous)),
            Route("/next", step_handler(review.next_unanswered)),
            Route("/answer", answered, methods=["POST"]),
            Route("/static/{name}", _static),
        ],
        exception_handlers={DedupError: _failure, Exception: _failure},
    )


def _failure(request: Request, error: Exception) -> Response:
    is_ours = isinstance(error, DedupError)
    status = 503 if isinstance(error, DatabaseUnreachable) else 409 if is_ours else 500
    why = f"{error}" if is_ours else f"unexpected {type(error).__name__}: {error}"
    if "hx-request" not in request.headers:
        return PlainTextResponse(f"{why}\n", status)
    headers = {"HX-Retarget": "#message", "HX-Reswap": "outerHTML"}
    return HTMLResponse(error_element(why), status, headers)


def _static(request: Request) -> Response:
    try:
        file = STATIC[request.path_params["name"]]
    except KeyError:
        raise HTTPException(404) from None
    kind = "text/css" if file.endswith(".css") else "text/javascript"
    return Response(asset(file), media_type=kind)


HOST = "127.0.0.1"
TOKEN_HEADER = "X-Dedup-Token"
_NAMES = (HOST, "localhost")
_REFUSED = "refused: open the address that `dedup review` printed.\n"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Ticket:
    """The port and the secret token that a request must name to be admitted.

    The token is sent in a header of its own, which no page of another site can send: a browser asks
    first, and is refused. A cookie would be sent to every other port of this machine as well.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The address of the page; browsers send no server the part after the #."""
        return f"http://{HOST}:{self.port}/#token={self.token}"


class _Admission:
    def __init__(self, app: ASGIApp, ticket: Ticket) -> None:
        self._app, self._ticket = app, ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._is_welcome(scope):
            answer = PlainTextResponse(_REFUSED, 403, {**_HEADERS, "Connection": "close"})
            await answer(scope, receive, send)
            return

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, sent)

    def _is_welcome(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        hosts, tokens = headers.getlist("host"), headers.getlist(TOKEN_HEADER)
        if hosts not in ([f"{name}:{self._ticket.port}"] for name in _NAMES):
            return False  # a foreign name that was made to point to this machine
        # the same for everyone: the empty page, which then asks with the token. A browser adds no
        # header of ours when it opens an address or loads a file of the page
        path: str = scope["path"]
        open_to_all = scope["method"] == "GET" and (path == "/" or path.startswith("/static/"))
        if open_to_all or len(tokens) != 1:
            return open_to_all
        # in a time that is the same for every wrong token
        return secrets.compare_digest(tokens[0].encode(), self._ticket.token.encode())
