"""The page on a port of this machine, until it is ended."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

import uvicorn

from dedup_job.commands.review import Review
from dedup_job.errors import UsageError
from dedup_job.messages import Message
from dedup_job.review.admission import HOST, Admission, Ticket
from dedup_job.review.answers import review_app

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
