"""Only clients that hold the token, on this machine, from the page itself, are answered."""

from __future__ import annotations

import socket

import pytest

from dedup_job.errors import UsageError
from dedup_job.review.admission import Ticket
from dedup_job.review.server import bound


def test_the_address_with_the_token_opens_the_page_and_sets_a_cookie_for_it_alone(page):
    status, text, headers = page.ask(f"/?token={page.ticket.token}", cookie=False)
    assert status == 200
    assert "data-pair" in text
    assert page.ticket.token not in text
    kept = headers["Set-Cookie"]
    assert kept.startswith(f"{page.ticket.cookie_name}={page.ticket.token};")
    assert {"HttpOnly", "SameSite=Strict"} <= {part.strip() for part in kept.split(";")}
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    ["/", "/?token=", "/?token=wrong", "/?token=%C3%A4", "/static/page.css", "/export", "/none"],
)
def test_without_the_token_nothing_is_told(page, path):
    status, text, headers = page.ask(path, cookie=False)
    assert (status, text) == (403, "refused: open the address that `dedup review` printed.\n")
    assert "Set-Cookie" not in headers


def test_a_wrong_token_is_refused_beside_the_right_cookie_and_beside_the_right_token(page):
    assert page.ask("/?token=wrong")[0] == 403
    assert page.ask(f"/?token={page.ticket.token}&token=wrong")[0] == 403


def test_a_cookie_with_another_token_is_refused(page):
    for cookie in (f"{page.ticket.cookie_name}=x", "=;;\x7f", "dedup-review-1=1"):
        assert page.ask("/", cookie=False, Cookie=cookie)[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", ""])
def test_another_host_header_is_refused(page, host):
    assert page.ask("/", Host=host)[0] == 403


def test_localhost_is_this_machine_too(page):
    assert page.ask("/", Host=f"localhost:{page.ticket.port}")[0] == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", "file://"])
def test_a_foreign_origin_is_refused_and_stores_nothing(page, reviewed, origin):
    form = {"pair": page.review.next_open(), "opinion": "same"}
    assert page.ask("/answer", form, Origin=origin)[0] == 403
    assert page.ask("/", Origin=origin)[0] == 403
    assert reviewed["target.labels"].count_documents({}) == 0
    assert page.ask("/answer", form, Origin=page.origin)[0] == 200
    assert reviewed["target.labels"].count_documents({}) == 1


def test_a_page_of_another_site_may_lead_here_but_asks_in_vain(page):
    cross = {"Sec_Fetch_Site": "cross-site"}
    assert page.ask("/", Sec_Fetch_Mode="navigate", **cross)[0] == 200
    assert page.ask("/export", Sec_Fetch_Mode="no-cors", **cross)[0] == 403
    assert page.ask("/answer", {}, Sec_Fetch_Mode="navigate", **cross)[0] == 403


def test_the_port_is_open_to_this_machine_alone():
    with bound(0) as own:
        assert own.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_names_the_process_that_holds_it():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} is in use by .* \(process \d+\)"):
            bound(port)


def test_a_token_is_long_new_each_time_and_not_shown():
    one, other = Ticket(1), Ticket(1)
    assert one.token != other.token
    assert len(one.token) >= 43
    assert one.token not in repr(one)
