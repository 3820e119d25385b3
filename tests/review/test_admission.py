"""Only clients that hold the token, on this machine, from the page itself, are answered."""

import http.client

import pytest

from dedup_job.server import Ticket, bound


def test_the_page_opens_for_all_and_holds_nothing_of_the_target_or_the_token(page, reviewed):
    status, text, headers = page.ask("/", token=False)
    assert status == 200
    for secret in (page.ticket.token, reviewed.name, "anna", "data-pair"):
        assert secret not in text
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert page.ask("/static/page.css", token=False)[0] == 200


@pytest.mark.parametrize("sent", [{}, {"X_Dedup_Token": ""}, {"X_Dedup_Token": "wr\xf6ng"}])
def test_without_the_token_no_request_is_answered(page, sent):
    for path in ("/content", "/content?at=", "/back", "/next", "/none", "/static"):
        status, text, _ = page.ask(path, token=False, **sent)
        assert (status, text) == (403, "refused: open the address that `dedup review` printed.\n")
    form = {"pair": page.review.next_unanswered(), "label": "same"}
    for path in ("/answer", "/", "/static/page.css"):
        assert page.ask(path, form, token=False, **sent)[0] == 403


def test_another_site_may_not_send_the_header(page):
    """A browser asks first (OPTIONS), and the answer allows nothing."""
    connection = http.client.HTTPConnection("127.0.0.1", page.ticket.port, timeout=60)
    headers = {"Method": "POST", "Headers": "x-dedup-token"}
    sent = {f"Access-Control-Request-{name}": value for name, value in headers.items()}
    connection.request("OPTIONS", "/answer", headers={"Origin": "http://127.0.0.1:1", **sent})
    answer = connection.getresponse()
    assert answer.status == 403
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    connection.close()


def test_the_token_counts_in_its_header_alone_and_once(page):
    token = page.ticket.token
    for name in ("token", "X-Dedup-Token", f"dedup-review-{page.ticket.port}"):
        assert page.ask(f"/content?{name}={token}", token=False)[0] == 403
        assert page.ask("/content", token=False, Cookie=f"{name}={token}")[0] == 403
    assert page.ask("/content", x_dedup_token=token)[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", ""])
def test_another_host_header_is_refused(page, host):
    assert page.ask("/", Host=host)[0] == 403
    assert page.ask("/content", Host=host)[0] == 403
    assert page.ask("/content", Host=f"localhost:{page.ticket.port}")[0] == 200


def test_the_port_is_local_and_the_token_is_long_new_and_behind_the_hash_alone(page):
    with bound(0) as own:
        assert own.getsockname()[0] == "127.0.0.1"
    ticket, token = page.ticket, page.ticket.token
    assert len(token) >= 43
    assert token != Ticket(1).token
    assert token not in repr(ticket)
    assert ticket.address == f"{page.origin}/#token={token}"
