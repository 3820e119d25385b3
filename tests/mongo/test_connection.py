"""What is wrong with the files of TLS that a connection string names, in words."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from dedup_job.errors import UsageError
from tests.running import refusal

PASSWORD = "secret-of-the-key"
NAMES = ("run", "--source", "d.a", "--target", "d.b")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Return a certificate with its key, which has a password."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(words: str) -> None:
        subprocess.run(["openssl", *words.split()], check=True, capture_output=True, cwd=folder)

    openssl("req -x509 -newkey rsa:2048 -nodes -keyout plain -out made -days 2 -subj /CN=job")
    openssl(f"rsa -aes256 -in plain -out key -passout pass:{PASSWORD}")
    whole = folder / "client.pem"
    whole.write_bytes((folder / "made").read_bytes() + (folder / "key").read_bytes())
    return whole


def uri(options: str) -> str:
    """Return the URI of a server that nobody asks."""
    return f"mongodb://127.0.0.1:1/?tls=true&{options}"


def test_a_file_that_holds_no_certificate_is_named_by_its_option(tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    error = refusal(*NAMES, DEDUP_URI=uri(f"tlsCAFile={file}"))
    assert isinstance(error, UsageError)
    assert "a certificate or key that the connection string names cannot be used" in str(error)
    assert "tlsCAFile" in str(error)
    assert "None" not in str(error)


def test_a_password_that_does_not_open_the_key_is_told_and_not_repeated(client):
    wrong = f"tlsCertificateKeyFile={client}&tlsCertificateKeyFilePassword=not-{PASSWORD}"
    error = refusal(*NAMES, DEDUP_URI=uri(wrong))
    assert isinstance(error, UsageError)
    assert "does not open with tlsCertificateKeyFilePassword" in str(error)
    assert PASSWORD not in str(error)
