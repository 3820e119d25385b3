"""Who may ask: clients that know the token, on this machine, from this page alone."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
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
    """What lets a request in: the port that is asked and a token that nobody can guess."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Host headers of requests that are meant for this page."""
        return tuple(f"{name}:{self.port}" for name in _NAMES)

    @property
    def cookie_name(self) -> str:
        """The name of the cookie: browsers keep one jar for all ports of a host."""
        return f"dedup-review-{self.port}"

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
            await PlainTextResponse(_REFUSED, 403, _HEADERS)(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.append("Set-Cookie", self._cookie())
            await send(message)

        await self._app(scope, receive, sent)

    def _is_welcome(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self._ticket.hosts:
            return False  # a name that someone let point to this machine
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return False
        opened = (
            scope["method"] == "GET" and headers.get("sec-fetch-mode", "navigate") == "navigate"
        )
        site = headers.get("sec-fetch-site", "same-origin")
        if site not in ("same-origin", "none") and not opened:
            return False  # a page of another site asks; a link that is followed opens this one
        tokens = QueryParams(scope["query_string"]).getlist("token")
        return all(map(self._ticket.is_token, tokens or self._cookies(headers)))

    def _cookies(self, headers: Headers) -> list[str]:
        """Return the token of the cookie, an empty one where there is none."""
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return [""]
        found = cookies.get(self._ticket.cookie_name)
        return ["" if found is None else found.value]

    def _cookie(self) -> str:
        name, token = self._ticket.cookie_name, self._ticket.token
        return f"{name}={token}; HttpOnly; SameSite=Strict; Path=/"
