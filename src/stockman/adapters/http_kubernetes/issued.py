"""Credentials that a program has given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from stockman.kubernetes.rows import OddAnswer, moment, part, text_or_none
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class Issued:
    """What a program has given."""

    token: Secret | None = None
    crt: str = ""
    """PEM. Empty: none."""
    key: Secret | None = None
    expires: datetime | None = None
    """None: with the program that uses them."""


def read_issued(output: bytes) -> Issued:
    """The credentials that stand in an output; raises `OddAnswer`."""
    try:
        found = json.loads(output)
    except (ValueError, RecursionError):
        raise OddAnswer("its output is not JSON") from None
    if not isinstance(found, Mapping) or found.get("kind") != "ExecCredential":
        raise OddAnswer("its output is not an ExecCredential")
    status = part(found, "status")
    token, key = text_or_none(status, "token"), text_or_none(status, "clientKeyData")
    crt = text_or_none(status, "clientCertificateData")
    if not token and not (crt and key):
        raise OddAnswer("its output has neither a token nor a certificate")
    return Issued(
        token=Secret(token, resolved=True) if token else None,
        crt=crt,
        key=Secret(key, resolved=True) if key else None,
        expires=moment(status, "expirationTimestamp"),
    )
