"""Client certificates: who may talk to Talos and to Kubernetes, and until when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.crypto.certificates import Leaf, Period, Purpose, RandomBytes, issued
from stockman.model.record import record
from stockman.model.version import Version
from stockman.talos.bundle import SecretsBundle
from stockman.talos.roles import TalosRole, organizations

CLIENT_LIFETIME = timedelta(days=365)
"""How long a client certificate holds unless told otherwise."""
KUBERNETES_ADMIN = "admin"
KUBERNETES_ADMINS = "system:masters"

_CLOCK_SKEW = timedelta(seconds=10)
"""How far the clock of a Kubernetes server may be behind ours."""


@record
class Issuer:
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
        leaf = Leaf(
            period=Period.lasting(self.now, lifetime),
            purposes=(Purpose.CLIENT,),
            organizations=organizations(roles, self.talos),
        )
        return issued(self.bundle.certs.os, leaf, self.random_bytes)

    def kubernetes_admin(self, lifetime: timedelta = CLIENT_LIFETIME) -> CertificateAndKey:
        """A client certificate that may do everything in Kubernetes, as Talos hands it out."""
        leaf = Leaf(
            period=Period.lasting(self.now - _CLOCK_SKEW, lifetime + _CLOCK_SKEW),
            purposes=(Purpose.CLIENT,),
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
            key_encipherment=True,
        )
        return issued(self.bundle.certs.k8s, leaf, self.random_bytes)
