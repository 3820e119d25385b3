"""What the page asks for, and the answers to it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from dedup_job.commands.review import Review
from dedup_job.errors import DatabaseUnreachable, DedupError, UsageError, Vanished
from dedup_job.pages.render import asset
from dedup_job.pages.review_page import (
    LARGEST,
    STATIC,
    Heading,
    ReviewPanel,
    content_part,
    empty_page,
    failure_part,
    import_command,
    panel_part,
    told,
)
from dedup_job.runs.asked_pairs import AskedPair, Label


def review_app(review: Review) -> Starlette:
    """Return the application; who may ask it is not its concern."""
    desk = _Desk(review)
    return Starlette(
        routes=[
            Route("/", _page),
            Route("/content", desk.content),
            Route("/show", desk.show),
            Route("/back", desk.back),
            Route("/next", desk.next),
            Route("/answer", desk.answer, methods=["POST"]),
            Route("/restore", desk.restore, methods=["POST"]),
            Route("/import", desk.import_, methods=["POST"]),
            Route("/export", desk.export),
            Route("/static/{name}", _static),
        ],
        exception_handlers={DedupError: desk.failure, Exception: desk.failure},
    )


class _Desk:
    """Takes the requests of the page; each tab says which pair it shows."""

    def __init__(self, review: Review) -> None:
        self._review = review

    def content(self, request: Request) -> Response:
        """Return what fills the page: a pair, else the first without an answer."""
        review = self._review
        review.refresh()
        review.check()
        key = request.query_params.get("at") or review.next_open()
        try:
            panel = self._panel(key)
        except UsageError:  # the address is of another review
            panel = self._panel(review.next_open())
        return HTMLResponse(content_part(self._heading, panel, _language(request)))

    def show(self, request: Request) -> Response:
        """Return a pair; the way back leads to the one before."""
        self._review.check()
        return self._shown(request, self._panel(request.query_params.get("at")), "HX-Push-Url")

    def back(self, request: Request) -> Response:
        """Return the pair before one."""
        self._review.check()
        key = self._review.before(request.query_params.get("pair"))
        return self._shown(request, self._panel(key))

    def next(self, request: Request) -> Response:
        """Return the next pair without an answer."""
        self._review.check()
        key = self._review.next_open(request.query_params.get("pair"))
        return self._shown(request, self._panel(key))

    async def answer(self, request: Request) -> Response:
        """Store an answer; return the next pair, and what had been decided of this one."""
        form = await self._form(request)
        key, said = _one(form, "pair"), _one(form, "label")
        if said not in [*Label]:
            raise UsageError(f"the answer is {said[:40]!r}, expected {', '.join(Label)}.")

        def work() -> Response:
            self._review.check()
            self._review.answer(key, Label(said))
            last = self._review.pair(key)
            return self._shown(request, self._panel(self._review.next_open(key), last=last))

        return await run_in_threadpool(work)

    async def restore(self, request: Request) -> Response:
        """Put documents back."""
        form = await self._form(request)

        def work() -> Response:
            self._review.check()
            done = self._review.restore(form.get("pair", []))
            remarks = "".join(f" {remark}" for remark in done.remarks)
            message = told("done", count=done.documents, target=self._review.target) + remarks
            panel = self._panel(_one(form, "at") or None, message=message)
            return self._shown(request, panel)

        return await run_in_threadpool(work)

    async def import_(self, request: Request) -> Response:
        """Store the labels of a file, which is the body."""
        text = _decoded(await self._body(request))

        def work() -> Response:
            self._review.check()
            count = self._review.import_lines(text.split("\n"))
            at = request.query_params.get("at") or None
            return self._shown(request, self._panel(at, message=told("imported", count=count)))

        return await run_in_threadpool(work)

    def export(self, _: Request) -> Response:
        """Return the labels as a file."""
        self._review.check()
        lines = "".join(f"{line}\n" for line in self._review.export())
        return Response(lines, media_type="application/jsonl")

    def failure(self, request: Request, error: Exception) -> Response:
        """Return why something was not done; the page goes on showing the pair that it shows."""
        status = next((n for kind, n in _STATUS.items() if isinstance(error, kind)), 500)
        known = isinstance(error, DedupError)
        why = f"{error}" if known else f"unexpected {type(error).__name__}: {error}"
        ends = {"Connection": "close"} if isinstance(error, _TooLarge) else {}  # else it is read
        if "hx-request" not in request.headers:
            return PlainTextResponse(f"{why}\n", status, ends)
        headers = {"HX-Retarget": "#message", "HX-Reswap": "outerHTML", **ends}
        return HTMLResponse(failure_part(why), status, headers)

    @property
    def _heading(self) -> Heading:
        return Heading(self._review.target, self._review.name, self._review.stored_in)

    async def _body(self, request: Request) -> bytes:
        """Return what was sent; of what is too large the beginning is read at most."""
        body, length = bytearray(), int(request.headers.get("content-length", 0))
        if length <= LARGEST:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST:
                    break
        if max(length, len(body)) > LARGEST:
            raise _TooLarge(
                f"more than {LARGEST >> 20} MiB at once; nothing was stored. Import a large file "
                f"in a terminal: {import_command(self._heading)}"
            )
        return bytes(body)

    async def _form(self, request: Request) -> Form:
        text = _decoded(await self._body(request))
        try:
            return parse_qs(text, keep_blank_values=True, errors="strict")
        except ValueError as e:
            raise UsageError(f"the form cannot be read ({e}).") from e

    def _panel(
        self, key: str | None, *, last: AskedPair | None = None, message: str = ""
    ) -> ReviewPanel:
        asked = None if key is None else self._review.pair(key)
        return ReviewPanel(asked, self._review.progress(), last, message)

    def _shown(
        self, request: Request, panel: ReviewPanel, address: str = "HX-Replace-Url"
    ) -> Response:
        at = f"/?at={panel.asked.key}" if panel.asked else "/"
        return HTMLResponse(panel_part(panel, _language(request)), headers={address: at})


class _TooLarge(UsageError):
    """The body of a request is larger than any that the page sends."""


_STATUS: Mapping[type[Exception], int] = {  # the first that an error is an instance of
    DatabaseUnreachable: 503,
    Vanished: 410,
    _TooLarge: 413,
    DedupError: 409,
}
Form = dict[str, list[str]]


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise UsageError(f"what was sent is not UTF-8: {e.reason} at byte {e.start}.") from e


def _one(form: Form, name: str) -> str:
    return form.get(name, [""])[0]


def _language(request: Request) -> str:
    """Return the language to begin with: the first that the browser asks for."""
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


def _page(request: Request) -> Response:
    """Return the page without anything of the target: it then asks for that with the token."""
    return HTMLResponse(empty_page(_language(request)))


def _static(request: Request) -> Response:
    """Return a file that the page loads."""
    try:
        name, kind = STATIC[request.path_params["name"]]
    except KeyError:
        raise HTTPException(404) from None
    return Response(asset(name), media_type=kind)
