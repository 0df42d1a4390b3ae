"""The key of a client certificate is never on a disk, not even while OpenSSL reads it."""

import ssl
import tempfile
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from stockman.adapters.tls import load_client_certificate
from stockman.model.secret import Secret
from tests.adapters.loopback import Pem, authority, issued


class Watched(ssl.SSLContext):
    """Notes which files exist while a key is read."""

    directory: Path
    seen: list[str]

    def load_cert_chain(self, *arguments: Any, **options: Any) -> None:
        self.seen = [path.name for path in self.directory.rglob("*")]
        super().load_cert_chain(*arguments, **options)


def context(directory: Path) -> Watched:
    watched = Watched(ssl.PROTOCOL_TLS_CLIENT)
    watched.directory = directory
    return watched


def key_of(pem: Pem) -> Secret:
    encoded = pem.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Secret(encoded.decode(), resolved=True)


def open_files() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def test_no_file_exists_while_a_key_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pem, watched = issued(authority()), context(tmp_path)
    before = open_files()

    load_client_certificate(watched, pem.text.decode(), key_of(pem))

    assert watched.seen == []
    assert list(tmp_path.iterdir()) == []
    assert open_files() == before


def test_a_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    pem, other = issued(authority()), issued(authority())

    with pytest.raises(ssl.SSLError):
        load_client_certificate(context(tmp_path), pem.text.decode(), key_of(other))
