"""Certificates in use."""

import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from stockman_lab.authority.making import fingerprint, server_context

from lab.tests.http.serving import certificate


def test_a_server_speaks_tls_from_version_1_2_on(tmp_path: Path) -> None:
    context = server_context(certificate(), tmp_path)

    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.maximum_version is ssl.TLSVersion.MAXIMUM_SUPPORTED


def test_no_key_is_left_in_the_directory(tmp_path: Path) -> None:
    server_context(certificate(), tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_a_fingerprint_is_spelled_as_proxmox_spells_it() -> None:
    pem = certificate().pem

    expected = x509.load_pem_x509_certificate(pem.encode()).fingerprint(SHA256())
    assert fingerprint(pem) == expected.hex(":").upper()
    assert len(fingerprint(pem)) == 95
