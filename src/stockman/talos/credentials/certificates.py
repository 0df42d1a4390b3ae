"""Client certificates: issuing, lifetimes, and which ones must be renewed."""

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
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.roles import TalosRole, organizations
from stockman.talos.secrets.bundle import SecretsBundle

RENEWAL_MARGIN = timedelta(days=30)
"""How long before its end a client certificate is renewed."""


class CertificateState(Enum):
    """Validity of a certificate."""

    EARLY = "not yet valid"
    VALID = "valid"
    DUE = "due"
    ENDED = "expired"


@record
class CertificateLifetime:
    """One certificate and its remaining validity."""

    name: str
    """Its location: `certs.os` of the bundle, `talosconfig demo`."""
    subject: str
    ends: datetime
    days_left: int
    """Whole days; negative after it has expired."""
    state: CertificateState


def lifetime(
    name: str, certificate: CertificateFacts, now: datetime, *, due: timedelta = RENEWAL_MARGIN
) -> CertificateLifetime:
    """Return the lifetime of a certificate; it is due when less than `due` is left."""
    remaining = certificate.period.end - now
    return CertificateLifetime(
        name=name,
        subject=_subject(certificate),
        ends=certificate.period.end,
        days_left=remaining // timedelta(days=1),
        state=_certificate_state(certificate, now, due),
    )


def _certificate_state(
    certificate: CertificateFacts, now: datetime, due: timedelta
) -> CertificateState:
    if now < certificate.period.start:
        return CertificateState.EARLY
    if now > certificate.period.end:
        return CertificateState.ENDED
    return CertificateState.DUE if certificate.period.end - now < due else CertificateState.VALID


def _subject(certificate: CertificateFacts) -> str:
    names = [f"O={name}" for name in certificate.organizations]
    if certificate.common_name:
        names.append(f"CN={certificate.common_name}")
    return ", ".join(names)


_SHORT_LIVED = 3
"""Certificates valid for less than three renewal margins are renewed in their last third."""


@record
class CertificateRequirements:
    """Requirements for a client certificate."""

    authority: str
    """PEM text of the authority."""
    organizations: tuple[str, ...]
    common_name: str = ""


def client_certificate_state(certificate: CertificateFacts, now: datetime) -> CertificateState:
    """Return the validity of a client certificate."""
    period = certificate.period
    due = min(RENEWAL_MARGIN, (period.end - period.start) / _SHORT_LIVED)
    return lifetime("", certificate, now, due=due).state


def is_usable(
    crt: str, key: Secret | None, required: CertificateRequirements, now: datetime
) -> bool:
    """Whether a certificate and its key meet the requirements and need no renewal."""
    try:
        if (
            key is None
            or not key_matches_certificate(crt, key)
            or not is_issued_by(crt, required.authority)
        ):
            return False
        certificate = read_certificate_facts(crt)
    except NotPem:
        return False
    same = sorted(certificate.organizations) == sorted(required.organizations)
    same = same and certificate.common_name == required.common_name
    return same and client_certificate_state(certificate, now) in (
        CertificateState.VALID,
        CertificateState.EARLY,
    )


CLIENT_LIFETIME = timedelta(days=365)
"""Default lifetime of a client certificate."""
KUBERNETES_ADMIN = "admin"
KUBERNETES_ADMINS = "system:masters"


@record
class ClientIssuer:
    """Issues client certificates of a cluster at one point in time."""

    bundle: SecretsBundle
    talos: Version
    """The version that the cluster runs; it determines the known roles."""
    now: datetime
    random_bytes: RandomBytes

    def talos_client(
        self, roles: Iterable[TalosRole], lifetime: timedelta = CLIENT_LIFETIME
    ) -> CertificateAndKey:
        """Issue a client certificate for the Talos API; the roles are its organizations.

        Raises Refused without a role, or with a role that this Talos does not know.
        """
        leaf = CertificateRequest(
            period=ValidityPeriod.backdated(self.now, lifetime),
            purposes=(Purpose.CLIENT,),
            organizations=organizations(roles, self.talos),
        )
        return issue_certificate(self.bundle.certs.os, leaf, self.random_bytes)

    def kubernetes_admin(self, lifetime: timedelta = CLIENT_LIFETIME) -> CertificateAndKey:
        """Issue a client certificate of a Kubernetes administrator, like Talos does."""
        leaf = CertificateRequest(
            period=ValidityPeriod.backdated(self.now, lifetime),
            purposes=(Purpose.CLIENT,),
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
            key_encipherment=True,
        )
        return issue_certificate(self.bundle.certs.k8s, leaf, self.random_bytes)
