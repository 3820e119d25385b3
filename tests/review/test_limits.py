"""A body that is too large is refused before it is read; a text that is gone is said in words."""

from __future__ import annotations

import socket

import pytest

from dedup_job.demo import make_corpus
from dedup_job.pages.review_page import LARGEST
from tests.review.conftest import served
from tests.review.test_answers import first
from tests.running import run_here

ENDLESS = 1 << 40


def send(page, path, framing, parts):
    """Send parts of a body until the server hangs up; return what it answers and what it took."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{page.ticket.port}\r\n"
        f"X-Dedup-Token: {page.ticket.token}\r\nHX-Request: true\r\n{framing}\r\n\r\n"
    )
    taken = 0
    with socket.create_connection(("127.0.0.1", page.ticket.port), timeout=60) as own:
        own.sendall(head.encode())
        try:
            for part in parts:
                own.sendall(part)
                taken += len(part)
        except (BrokenPipeError, ConnectionResetError):
            pass
        answered = b""
        try:
            while part := own.recv(65536):
                answered += part
        except ConnectionResetError:
            pass
    return answered.decode(), taken


def chunks(size):
    """Yield a body of chunks without an end."""
    while True:
        yield f"{size:x}\r\n".encode() + b"x" * size + b"\r\n"


def test_a_body_that_says_it_is_large_is_refused_unread(page):
    text, _ = send(page, "/answer", f"Content-Length: {ENDLESS}", [])
    assert text.startswith("HTTP/1.1 413 ")
    assert "connection: close" in text.lower()
    assert "more than 1 MiB at once; nothing was stored" in text
    assert page.ask("/content")[0] == 200


@pytest.mark.parametrize("size", [7, 60_000, 3 * LARGEST])
def test_a_body_in_chunks_is_refused_once_it_is_large(page, size):
    text, taken = send(page, "/answer", "Transfer-Encoding: chunked", chunks(size))
    assert text.startswith("HTTP/1.1 413 ")
    assert taken < 20 * LARGEST  # what lies in buffers on the way


def test_a_body_of_just_that_size_is_taken(page):
    assert page.ask("/answer", body="x" * LARGEST)[0] == 409  # it is no label
    text, _ = send(page, "/answer", f"Content-Length: {LARGEST + 1}", [])
    assert text.startswith("HTTP/1.1 413 ")


def test_a_document_that_vanished_below_the_page_is_said_to_be_gone(database):
    database.source.insert_many(make_corpus(200, seed=3))
    run_here(database)
    with served(database) as page:
        key = first(page, "duplicate")
        for name in ("target", "target.ledger", "source"):
            database[name].delete_many({})
        assert "The text is gone" in page.ask(f"/content?at={key}")[1]
        for path in (f"/back?pair={key}", "/next"):
            assert page.ask(path)[0] == 200
        assert page.ask("/answer", {"pair": key, "label": "different"})[0] == 200
