"""Until when certificates hold, and which are due to be made anew."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import Enum

from stockman.crypto.certificates import (
    CertificateFacts,
    CertificateRequest,
    Purpose,
    RandomBytes,
    ValidityPeriod,
    is_issued_by,
    issue_certificate,
    key_matches_certificate,
    read_certificate_facts,
)
from stockman.crypto.pem import CertificateAndKey, NotPem
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.roles import TalosRole, organizations
from stockman.talos.credentials.talosconfig import Talosconfig
from stockman.talos.secrets.bundle import SecretsBundle
from stockman.talos.secrets.bundle_reader import AUTHORITIES

RENEWAL_MARGIN = timedelta(days=30)
"""How long before its end a client certificate is made anew."""


class CertificateState(Enum):
    """Whether a certificate holds."""

    EARLY = "not yet valid"
    VALID = "valid"
    DUE = "due"
    ENDED = "expired"


@record
class CertificateLifetime:
    """One certificate and how long it still holds."""

    name: str
    """Where it is: `certs.os` of the bundle, `talosconfig demo`."""
    subject: str
    ends: datetime
    days_left: int
    """Whole days; below zero once it has ended."""
    standing: CertificateState


def lifetime(
    name: str, certificate: CertificateFacts, now: datetime, *, due: timedelta = RENEWAL_MARGIN
) -> CertificateLifetime:
    """How long a certificate still holds; due when less than `due` is left."""
    left = certificate.period.end - now
    return CertificateLifetime(
        name=name,
        subject=_subject(certificate),
        ends=certificate.period.end,
        days_left=left // timedelta(days=1),
        standing=_certificate_state(certificate, now, due),
    )


def needs_renewal(pem: str, now: datetime, *, due: timedelta = RENEWAL_MARGIN) -> bool:
    """Whether a client certificate is to be made anew now: due, ended, or not one at all."""
    try:
        return _certificate_state(read_certificate_facts(pem), now, due) in (
            CertificateState.DUE,
            CertificateState.ENDED,
        )
    except NotPem:
        return True


def bundle_lifetimes(bundle: SecretsBundle, now: datetime) -> tuple[CertificateLifetime, ...]:
    """The authorities of a bundle; they are never made anew by themselves."""
    pairs = {name: getattr(bundle.certs, name) for name in AUTHORITIES}
    return tuple(
        lifetime(f"certs.{name}", read_certificate_facts(pair.crt), now)
        for name, pair in pairs.items()
    )


def talosconfig_lifetimes(
    config: Talosconfig, now: datetime, problems: Problems
) -> tuple[CertificateLifetime, ...]:
    """The client certificates of all contexts."""
    pems = {name: context.crt for name, context in config.contexts.items() if context.crt}
    return client_lifetimes("talosconfig", pems, now, problems)


def client_lifetimes(
    file: str, pems: dict[str, str], now: datetime, problems: Problems
) -> tuple[CertificateLifetime, ...]:
    """Client certificates by name; one that cannot be read is reported and left out."""
    found = []
    for name, pem in pems.items():
        try:
            found.append(lifetime(f"{file} {name}", read_certificate_facts(pem), now))
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


def _certificate_state(
    certificate: CertificateFacts, now: datetime, due: timedelta
) -> CertificateState:
    if now < certificate.period.start:
        return CertificateState.EARLY
    if now > certificate.period.end:
        return CertificateState.ENDED
    return CertificateState.DUE if certificate.period.end - now < due else CertificateState.VALID


def _subject(certificate: CertificateFacts) -> str:
    parts = [f"O={name}" for name in certificate.organizations]
    if certificate.common_name:
        parts.append(f"CN={certificate.common_name}")
    return ", ".join(parts)


_SHORT_LIVED = 3
"""A certificate for less than three times the usual notice is renewed in its last third."""


@record
class CertificateRequirements:
    """What a client certificate has to be."""

    authority: str
    """PEM text of the authority."""
    organizations: tuple[str, ...]
    common_name: str = ""


def client_certificate_state(certificate: CertificateFacts, now: datetime) -> CertificateState:
    """Whether a certificate holds, is due to be renewed, or has ended."""
    period = certificate.period
    due = min(RENEWAL_MARGIN, (period.end - period.start) / _SHORT_LIVED)
    return lifetime("", certificate, now, due=due).standing


def is_usable(crt: str, key: Secret | None, wanted: CertificateRequirements, now: datetime) -> bool:
    """Whether a certificate with its key is what is wanted, and not due to be renewed."""
    try:
        if (
            key is None
            or not key_matches_certificate(crt, key)
            or not is_issued_by(crt, wanted.authority)
        ):
            return False
        found = read_certificate_facts(crt)
    except NotPem:
        return False
    same = sorted(found.organizations) == sorted(wanted.organizations)
    same = same and found.common_name == wanted.common_name
    return same and client_certificate_state(found, now) in (
        CertificateState.VALID,
        CertificateState.EARLY,
    )


CLIENT_LIFETIME = timedelta(days=365)
"""How long a client certificate holds unless told otherwise."""
KUBERNETES_ADMIN = "admin"
KUBERNETES_ADMINS = "system:masters"

_CLOCK_SKEW = timedelta(seconds=10)
"""How far the clock of a Kubernetes server may be behind ours."""


@record
class ClientIssuer:
    """One moment in which client certificates of a cluster are made."""

    bundle: SecretsBundle
    talos: Version
    """The version that the cluster runs; it decides which roles there are."""
    now: datetime
    random_bytes: RandomBytes

    def talos_client(
        self, roles: Iterable[TalosRole], lifetime: timedelta = CLIENT_LIFETIME
    ) -> CertificateAndKey:
        """A client certificate for the Talos API; the roles are its organizations.

        `Refused` without a role, or with one that this Talos does not know.
        """
        leaf = CertificateRequest(
            period=ValidityPeriod.lasting(self.now, lifetime),
            purposes=(Purpose.CLIENT,),
            organizations=organizations(roles, self.talos),
        )
        return issue_certificate(self.bundle.certs.os, leaf, self.random_bytes)

    def kubernetes_admin(self, lifetime: timedelta = CLIENT_LIFETIME) -> CertificateAndKey:
        """A client certificate that may do everything in Kubernetes, as Talos hands it out."""
        leaf = CertificateRequest(
            period=ValidityPeriod.lasting(self.now - _CLOCK_SKEW, lifetime + _CLOCK_SKEW),
            purposes=(Purpose.CLIENT,),
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
            key_encipherment=True,
        )
        return issue_certificate(self.bundle.certs.k8s, leaf, self.random_bytes)
