"""Who may ask: clients that know the token, on this machine, from this page alone."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """What lets a request in: the port that is asked and a token that nobody can guess.

    The token travels in a header of its own, which no page of another site can send: a browser asks
    first, and is refused. A cookie would reach every other port of this machine as well.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The address of the page; browsers send nobody what stands behind the #."""
        return f"http://{HOST}:{self.port}/#token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Host headers of requests that are meant for this page."""
        return tuple(f"{name}:{self.port}" for name in _NAMES)

    def is_token(self, given: str) -> bool:
        """Tell whether this is the token, in a time that says nothing of where it differs."""
        return secrets.compare_digest(given.encode(), self.token.encode())


class Admission:
    """Passes on the requests that hold the ticket, and refuses all others."""

    def __init__(self, app: ASGIApp, ticket: Ticket) -> None:
        self._app, self._ticket = app, ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not self._is_welcome(scope):
            answer = PlainTextResponse(_REFUSED, 403, {**_HEADERS, "Connection": "close"})
            await answer(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
            await send(message)

        await self._app(scope, receive, sent)

    def _is_welcome(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        hosts, tokens = headers.getlist("host"), headers.getlist(TOKEN_HEADER)
        if len(hosts) != 1 or hosts[0] not in self._ticket.hosts:
            return False  # a name that someone let point to this machine
        # the same for everyone: the empty page, which then asks with the token. A browser adds no
        # header of ours to an address that is opened, nor to what a page links to
        path: str = scope["path"]
        open_to_all = scope["method"] == "GET" and (path == "/" or path.startswith("/static/"))
        return open_to_all or (len(tokens) == 1 and self._ticket.is_token(tokens[0]))
