"""Until when certificates hold, and which are due to be made anew."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum

from stockman.crypto.certificates import Facts, facts
from stockman.crypto.pem import NotPem
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.talos.bundle import SecretsBundle
from stockman.talos.bundle_parts import AUTHORITIES
from stockman.talos.talosconfig import Talosconfig

RENEWED_BEFORE = timedelta(days=30)
"""How long before its end a client certificate is made anew."""


class Standing(Enum):
    """Whether a certificate holds."""

    EARLY = "not yet valid"
    VALID = "valid"
    DUE = "due"
    ENDED = "expired"


@record
class Lifetime:
    """One certificate and how long it still holds."""

    name: str
    """Where it is: `certs.os` of the bundle, `talosconfig demo`."""
    subject: str
    ends: datetime
    days_left: int
    """Whole days; below zero once it has ended."""
    standing: Standing


def lifetime(
    name: str, certificate: Facts, now: datetime, *, due: timedelta = RENEWED_BEFORE
) -> Lifetime:
    """How long a certificate still holds; due when less than `due` is left."""
    left = certificate.period.end - now
    return Lifetime(
        name=name,
        subject=_subject(certificate),
        ends=certificate.period.end,
        days_left=left // timedelta(days=1),
        standing=_standing(certificate, now, due),
    )


def needs_renewal(pem: str, now: datetime, *, due: timedelta = RENEWED_BEFORE) -> bool:
    """Whether a client certificate is to be made anew now: due, ended, or not one at all."""
    try:
        return _standing(facts(pem), now, due) in (Standing.DUE, Standing.ENDED)
    except NotPem:
        return True


def bundle_lifetimes(bundle: SecretsBundle, now: datetime) -> tuple[Lifetime, ...]:
    """The authorities of a bundle; they are never made anew by themselves."""
    pairs = {name: getattr(bundle.certs, name) for name in AUTHORITIES}
    return tuple(lifetime(f"certs.{name}", facts(pair.crt), now) for name, pair in pairs.items())


def talosconfig_lifetimes(
    config: Talosconfig, now: datetime, problems: Problems
) -> tuple[Lifetime, ...]:
    """The client certificates of all contexts."""
    pems = {name: context.crt for name, context in config.contexts.items() if context.crt}
    return client_lifetimes("talosconfig", pems, now, problems)


def client_lifetimes(
    file: str, pems: dict[str, str], now: datetime, problems: Problems
) -> tuple[Lifetime, ...]:
    """Client certificates by name; one that cannot be read is reported and left out."""
    found = []
    for name, pem in pems.items():
        try:
            found.append(lifetime(f"{file} {name}", facts(pem), now))
        except NotPem as error:
            problems.add(
                Problem(
                    code="certificate.unreadable",
                    what=f"the certificate of {name} cannot be read",
                    where=file,
                    why=str(error),
                    fix=f"make the {file} anew",
                )
            )
    return tuple(found)


def _standing(certificate: Facts, now: datetime, due: timedelta) -> Standing:
    if now < certificate.period.start:
        return Standing.EARLY
    if now > certificate.period.end:
        return Standing.ENDED
    return Standing.DUE if certificate.period.end - now < due else Standing.VALID


def _subject(certificate: Facts) -> str:
    parts = [f"O={name}" for name in certificate.organizations]
    if certificate.common_name:
        parts.append(f"CN={certificate.common_name}")
    return ", ".join(parts)
