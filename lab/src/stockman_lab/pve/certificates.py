"""Certificates of hosts, as lists show them."""

from __future__ import annotations

import base64
import hashlib

from stockman_lab.authority.state import Certificate
from stockman_lab.pve.cluster import Cluster


def fingerprint_of(certificate: Certificate) -> str:
    """The SHA-256 of a certificate, byte by byte."""
    lines = [line for line in certificate.pem.splitlines() if line and not line.startswith("-")]
    digest = hashlib.sha256(base64.b64decode("".join(lines))).hexdigest().upper()
    return ":".join(digest[place : place + 2] for place in range(0, len(digest), 2))


def rows_of(cluster: Cluster, host: str) -> list[dict[str, object]]:
    """The authority of a cluster, and the certificate of a host; none before anybody needs one."""
    rows = []
    if cluster.state.authority is not None:
        rows.append(_row(cluster.state.authority.certificate, "pve-root-ca.pem"))
    if host in cluster.state.certificates:
        rows.append(_row(cluster.state.certificates[host], "pve-ssl.pem"))
    return rows


def _row(certificate: Certificate, filename: str) -> dict[str, object]:
    return {
        "filename": filename,
        "fingerprint": fingerprint_of(certificate),
        "issuer": certificate.issuer,
        "subject": certificate.subject,
        "notbefore": certificate.not_before,
        "notafter": certificate.not_after,
        "pem": certificate.pem,
        "public-key-bits": 256,
        "public-key-type": "id-ecPublicKey",
        "san": list(certificate.names),
    }
