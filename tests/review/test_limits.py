"""What is too large is refused before it is read; what is gone is said in words."""

from __future__ import annotations

import logging
import socket

import pytest

from dedup_job.pages.review_page import LARGEST
from tests.review.conftest import served
from tests.review.test_answers import answer, first
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


@pytest.mark.parametrize("path", ["/answer", "/restore"])
def test_a_body_that_says_it_is_large_is_refused_unread(page, path):
    text, _ = send(page, path, f"Content-Length: {ENDLESS}", [])
    assert text.startswith("HTTP/1.1 413 ")
    assert "connection: close" in text.lower()
    assert "more than 1 MiB at once; nothing was stored" in text
    assert page.ask("/content")[0] == 200


@pytest.mark.parametrize("path", ["/answer", "/restore"])
@pytest.mark.parametrize("size", [7, 60_000, 3 * LARGEST])
def test_a_body_in_chunks_is_refused_once_it_is_large(page, path, size):
    text, taken = send(page, path, "Transfer-Encoding: chunked", chunks(size))
    assert text.startswith("HTTP/1.1 413 ")
    assert taken < 20 * LARGEST  # what lies in buffers on the way


def test_a_body_of_just_that_size_is_taken(page):
    assert page.ask("/answer", body="x" * LARGEST)[0] == 409  # it is no label
    text, _ = send(page, "/answer", f"Content-Length: {LARGEST + 1}", [])
    assert text.startswith("HTTP/1.1 413 ")


PARTS = ["target", "target.ledger", "target.state", "target.runs"]


@pytest.fixture
def own(database, caplog):
    """Return a database whose target may go, and the page of it."""
    from dedup_job.demo import make_corpus

    database.source.insert_many(make_corpus(200, seed=3))
    run_here(database)
    caplog.set_level(logging.WARNING)
    with served(database) as page:
        yield page, database
    assert "Traceback" not in caplog.text
    assert not [one for one in caplog.records if one.exc_info]


def requests(page):
    """Yield all that the page may ask for, of a pair that was dropped."""
    key = first(page, "duplicate")
    for path in ("/content", f"/show?pair={key}", f"/back?pair={key}", "/next"):
        yield path, {}
    yield "/answer", {"form": {"pair": key, "label": "different"}}
    yield "/restore", {"form": {"pair": key}}


@pytest.mark.parametrize("gone", [[part] for part in PARTS] + [[*PARTS, "source"]])
def test_a_target_that_vanished_below_the_page_is_gone_and_nothing_is_written(own, gone):
    page, database = own
    for name in gone:
        database.drop_collection(name)
    there = sorted(database.list_collection_names())
    for path, sent in requests(page):
        status, text, _ = page.ask(path, **sent)
        assert status == 410, path
        assert f"no longer in the database: {database.name}.target" in text
        assert "<form" not in text
    assert sorted(database.list_collection_names()) == there


def test_answers_that_vanished_are_told_and_a_reload_begins_anew(own):
    page, database = own
    key, _, _ = answer(page, "same")
    database.drop_collection("target.labels")
    status, text, _ = page.ask(f"/next?pair={key}")
    assert status == 410
    assert "target.labels, which held the answers" in text
    assert page.ask("/answer", {"pair": key, "label": "same"})[0] == 410
    assert "target.labels" not in database.list_collection_names()
    assert page.ask("/content")[0] == 200
    assert page.review.progress().answered == 0
    answer(page, "same", key)


def test_a_document_that_vanished_is_told_beside_the_others(own):
    page, database = own
    key = first(page, "duplicate")
    database.target.delete_many({})
    database["target.ledger"].delete_many({})
    database.source.delete_many({})
    for path, sent in requests(page):
        status, text, _ = page.ask(path, **sent)
        assert status == (409 if path == "/restore" else 200), (path, text)
        assert path != "/restore" or "decided an _id" in text
    assert "The text is gone" in page.ask(f"/show?pair={key}")[1]
