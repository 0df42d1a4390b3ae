"""Whether a client certificate that is there still serves, so that none has to be made."""

from __future__ import annotations

from datetime import datetime

from stockman.crypto.certificates import Facts, belongs, facts, is_issued_by
from stockman.crypto.pem import NotPem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.lifetimes import RENEWED_BEFORE, Standing, lifetime

_SHORT_LIVED = 3
"""A certificate for less than three times the usual notice is renewed in its last third."""


@record
class Wanted:
    """What a client certificate has to be."""

    authority: str
    """PEM text of the authority."""
    organizations: tuple[str, ...]
    common_name: str = ""


def standing(certificate: Facts, now: datetime) -> Standing:
    """Whether a certificate holds, is due to be renewed, or has ended."""
    period = certificate.period
    due = min(RENEWED_BEFORE, (period.end - period.start) / _SHORT_LIVED)
    return lifetime("", certificate, now, due=due).standing


def still_serves(crt: str, key: Secret | None, wanted: Wanted, now: datetime) -> bool:
    """Whether a certificate with its key is what is wanted, and not due to be renewed."""
    try:
        if key is None or not belongs(crt, key) or not is_issued_by(crt, wanted.authority):
            return False
        found = facts(crt)
    except NotPem:
        return False
    same = sorted(found.organizations) == sorted(wanted.organizations)
    same = same and found.common_name == wanted.common_name
    return same and standing(found, now) in (Standing.VALID, Standing.EARLY)
