"""Servers that a run could not keep its promises on are refused before anything is written."""

import pytest

from dedup_job.errors import DatabaseUnreachable, UsageError
from dedup_job.mongo.checks import check_takes_writes
from dedup_job.mongo.connection import check_version
from tests.running import refusal


def test_a_server_that_is_too_old_is_refused_by_its_version():
    with pytest.raises(UsageError, match=r"older than MongoDB 5\.0"):
        check_version({"maxWireVersion": 9})
    check_version({"maxWireVersion": 13})


def test_a_read_only_server_is_refused():
    with pytest.raises(UsageError, match="read-only"):
        check_takes_writes({"isWritablePrimary": True, "readOnly": True})


def test_a_secondary_that_is_named_alone_is_refused_with_its_primary():
    hello = {"isWritablePrimary": False, "secondary": True, "setName": "rs", "primary": "a:1"}
    with pytest.raises(DatabaseUnreachable, match="the primary is a:1"):
        check_takes_writes({**hello, "me": "b:2"})


def test_a_file_that_holds_no_certificate_is_named_by_its_option(tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    uri = f"mongodb://127.0.0.1:1/?tls=true&tlsCAFile={file}"
    error = refusal("run", "--source", "d.a", "--target", "d.b", DEDUP_URI=uri)
    assert isinstance(error, UsageError)
    assert "tlsCAFile" in str(error)
    assert "None" not in str(error)
