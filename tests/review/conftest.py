"""A target with near duplicates and pairs that were kept apart, and its page on a port."""

import http.client
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest

from dedup_job.commands.review import Review, open_review
from dedup_job.demo import make_corpus
from tests.conftest import fresh_database
from tests.running import run_here, settings_of

pytest.importorskip("uvicorn")

from dedup_job.server import TOKEN_HEADER, Ticket, bound, page_server


@dataclass
class Page:
    """A served page, with requests as of a browser or of an attacker."""

    review: Review
    ticket: Ticket
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.ticket.port}"

    def ask(self, path, form=None, *, token=True, body=None, **headers):
        """Send a request with the page's token; return status, text and headers."""
        sent = {TOKEN_HEADER: self.ticket.token} if token else {}
        sent |= {key.replace("_", "-"): value for key, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.ticket.port, timeout=60)
        try:
            if form is None and body is None:
                connection.request("GET", path, headers=sent)
            else:
                sent = {"HX-Request": "true", **sent}
                content = urlencode(form or {}, doseq=True) if body is None else body.encode()
                connection.request("POST", path, content, sent)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            connection.close()


@contextmanager
def served(database, name="anna"):
    """Serve the page of the target of this database."""
    opened = open_review(settings_of(database), f"{database.name}.target", name, (40, 0))
    with bound(0) as own, opened as review:
        ticket = Ticket(own.getsockname()[1])
        server = page_server(review, ticket)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
        thread.start()
        try:
            yield Page(review, ticket)
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def reviewed(replica_set):
    """Return a database with a source and a target made of it."""
    for database in fresh_database(replica_set):
        database.source.insert_many(make_corpus(2000, seed=3))
        run_here(database)
        yield database


@pytest.fixture(scope="module")
def shared_page(reviewed):
    with served(reviewed) as found:
        yield found


@pytest.fixture
def page(shared_page, reviewed):
    """Return the page, with nothing answered."""
    reviewed["target.labels"].delete_many({})
    shared_page.review.refresh()
    return shared_page
