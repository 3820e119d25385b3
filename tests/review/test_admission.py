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


def test_the_token_stands_where_browsers_send_it_to_nobody(page):
    before, _, behind = page.ticket.address.partition("#")
    assert before == f"{page.origin}/"
    assert behind == f"token={page.ticket.token}"


@pytest.mark.parametrize(
    "path",
    ["/content", "/content?at=", "/back", "/next", "/none", "/static"],
)
@pytest.mark.parametrize("given", [{}, {"X_Dedup_Token": ""}, {"X_Dedup_Token": "wr\xf6ng"}])
def test_without_the_token_nothing_is_told(page, path, given):
    status, text, _ = page.ask(path, token=False, **given)
    assert (status, text) == (403, "refused: open the address that `dedup review` printed.\n")


@pytest.mark.parametrize("path", ["/answer", "/", "/static/page.css"])
def test_without_the_token_nothing_is_taken(page, path):
    assert page.ask(path, {"pair": page.review.next_open(), "label": "same"}, token=False)[0] == 403


def test_the_token_counts_in_its_header_alone_and_once(page):
    token = page.ticket.token
    for name in ("token", "X-Dedup-Token", f"dedup-review-{page.ticket.port}"):
        assert page.ask(f"/content?{name}={token}", token=False)[0] == 403
        assert page.ask("/content", token=False, Cookie=f"{name}={token}")[0] == 403
    assert page.ask("/content", x_dedup_token=token)[0] == 403


def test_another_site_is_not_told_that_it_may_send_the_header(page):
    connection = http.client.HTTPConnection("127.0.0.1", page.ticket.port, timeout=60)
    ask = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-dedup-token",
    }
    connection.request("OPTIONS", "/answer", headers={"Origin": "http://127.0.0.1:1", **ask})
    answer = connection.getresponse()
    assert answer.status == 403
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    connection.close()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", ""])
def test_another_host_header_is_refused(page, host):
    assert page.ask("/", Host=host)[0] == 403
    assert page.ask("/content", Host=host)[0] == 403


def test_localhost_is_this_machine_too(page):
    assert page.ask("/content", Host=f"localhost:{page.ticket.port}")[0] == 200


def test_the_port_is_open_to_this_machine_alone():
    with bound(0) as own:
        assert own.getsockname()[0] == "127.0.0.1"


def test_a_token_is_long_new_each_time_and_not_shown():
    one, other = Ticket(1), Ticket(1)
    assert one.token != other.token
    assert len(one.token) >= 43
    assert one.token not in repr(one)
