"""What the page asks for, and the answers to it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from dedup_job.commands.asked_pairs import AskedPair
from dedup_job.commands.review import Review
from dedup_job.errors import DatabaseUnreachable, DedupError, UsageError
from dedup_job.pages.render import asset
from dedup_job.pages.review_page import (
    STATIC,
    Heading,
    ReviewRoom,
    failure_part,
    review_page,
    room_part,
    told,
)
from dedup_job.report.opinion import Opinion

_LARGEST = 64 << 20  # bytes of a form: a file of labels


def review_app(review: Review) -> Starlette:
    """Return the application; who may ask it is not its concern."""
    desk = _Desk(review)
    return Starlette(
        routes=[
            Route("/", desk.page),
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

    def page(self, request: Request) -> Response:
        """Return the page at a pair, else at the first without an answer."""
        review = self._review
        review.refresh()
        key = request.query_params.get("at") or review.next_open()
        heading = Heading(review.target, review.name, review.stored_in)
        try:
            room = self._room(key)
        except UsageError:  # the address is of another review
            room = self._room(review.next_open())
        return HTMLResponse(review_page(heading, room, _language(request)))

    def back(self, request: Request) -> Response:
        """Return the pair before one."""
        key = self._review.before(request.query_params.get("pair"))
        return self._shown(request, self._room(key))

    def next(self, request: Request) -> Response:
        """Return the next pair without an answer."""
        key = self._review.next_open(request.query_params.get("pair"))
        return self._shown(request, self._room(key))

    async def answer(self, request: Request) -> Response:
        """Store an answer; return the next pair, and what had been decided of this one."""
        form = await _form(request)
        key, said = _one(form, "pair"), _one(form, "opinion")
        if said not in [*Opinion]:
            raise UsageError(f"the answer is {said[:40]!r}, expected {', '.join(Opinion)}.")

        def work() -> Response:
            self._review.answer(key, Opinion(said))
            last = self._review.pair(key)
            return self._shown(request, self._room(self._review.next_open(key), last=last))

        return await run_in_threadpool(work)

    async def restore(self, request: Request) -> Response:
        """Put documents back."""
        form = await _form(request)

        def work() -> Response:
            done = self._review.restore(form.get("pair", []))
            remarks = "".join(f" {remark}" for remark in done.remarks)
            message = told("done", count=done.documents, target=self._review.target) + remarks
            room = self._room(_one(form, "at") or None, message=message)
            return self._shown(request, room)

        return await run_in_threadpool(work)

    async def import_(self, request: Request) -> Response:
        """Store the labels of a file."""
        form = await _form(request)

        def work() -> Response:
            count = self._review.import_lines(_one(form, "lines").splitlines())
            room = self._room(_one(form, "at") or None, message=told("imported", count=count))
            return self._shown(request, room)

        return await run_in_threadpool(work)

    def export(self, _: Request) -> Response:
        """Return the labels as a file."""

        def lines() -> Iterator[str]:
            for line in self._review.export():
                yield line + "\n"

        headers = {"Content-Disposition": 'attachment; filename="labels.jsonl"'}
        return StreamingResponse(lines(), media_type="application/jsonl", headers=headers)

    def failure(self, request: Request, error: Exception) -> Response:
        """Return why something was not done; the page goes on showing the pair that it shows."""
        status = 409
        if isinstance(error, DatabaseUnreachable):
            status = 503
        elif not isinstance(error, DedupError):
            status = 500
        known = isinstance(error, DedupError)
        why = f"{error}" if known else f"unexpected {type(error).__name__}: {error}"
        if "hx-request" not in request.headers:
            return PlainTextResponse(f"{why}\n", status)
        headers = {"HX-Retarget": "#message", "HX-Reswap": "outerHTML"}
        return HTMLResponse(failure_part(why), status, headers)

    def _room(
        self, key: str | None, *, last: AskedPair | None = None, message: str = ""
    ) -> ReviewRoom:
        asked = None if key is None else self._review.pair(key)
        return ReviewRoom(asked, self._review.standing(), last, message)

    def _shown(self, request: Request, room: ReviewRoom) -> Response:
        at = f"/?at={room.asked.key}" if room.asked else "/"
        return HTMLResponse(room_part(room, _language(request)), headers={"HX-Replace-Url": at})


Form = dict[str, list[str]]


async def _form(request: Request) -> Form:
    """Return the fields of a form; its size has a limit."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST:
            raise UsageError(f"more than {_LARGEST >> 20} MiB at once. Import it in parts.")
    try:
        return parse_qs(body.decode(), keep_blank_values=True, errors="strict")
    except ValueError as e:
        raise UsageError(f"the form cannot be read ({e}).") from e


def _one(form: Form, name: str) -> str:
    return form.get(name, [""])[0]


def _language(request: Request) -> str:
    """Return the language to begin with: the first that the browser asks for."""
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


def _static(request: Request) -> Response:
    """Return a file that the page loads."""
    try:
        name, kind = STATIC[request.path_params["name"]]
    except KeyError:
        raise HTTPException(404) from None
    return Response(asset(name), media_type=kind)
