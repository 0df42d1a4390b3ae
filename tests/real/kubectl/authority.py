"""Who certifies servers and administrators of both clusters: the same authority for both."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from ipaddress import IPv4Address
from pathlib import Path

from stockman.adapters.system import SystemEntropy
from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    create_authority,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.crypto.private_keys import Algorithm

ENTROPY = SystemEntropy()
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """A certificate authority in a directory."""

    place: Path

    @cached_property
    def itself(self) -> CertificateAndKey:
        return create_authority("kubernetes", Algorithm.ECDSA, _period(), ENTROPY.random_bytes)

    def server(self) -> CertificateAndKey:
        """What a server on loopback shows."""
        return self._leaf(Purpose.SERVER, "kube-apiserver")

    def admin(self) -> CertificateAndKey:
        """What somebody shows who may do everything."""
        return self._leaf(Purpose.CLIENT, "admin", "system:masters")

    def _leaf(self, purpose: Purpose, name: str, *groups: str) -> CertificateAndKey:
        leaf = CertificateRequest(
            period=_period(),
            purposes=(purpose,),
            organizations=groups,
            common_name=name,
            key_encipherment=True,
            dns_names=("localhost",),
            addresses=(IPv4Address("127.0.0.1"),),
        )
        return issue_certificate(self.itself, leaf, ENTROPY.random_bytes)

    def written(self, name: str, pair: CertificateAndKey) -> tuple[Path, Path]:
        """Files with a certificate and its key."""
        certificate, key = self.place / f"{name}.crt", self.place / f"{name}.key"
        certificate.write_text(pair.crt, "ascii")
        key.touch(mode=0o600)
        key.write_text(pair.key.reveal(), "ascii")
        return certificate, key

    def kubeconfig(self, address: str) -> str:
        """Of the administrator of a server."""
        admin = self.admin()
        user = {
            "client-certificate-data": _encoded(admin.crt),
            "client-key-data": _encoded(admin.key.reveal()),
        }
        server = {
            "server": f"https://{address}",
            "certificate-authority-data": _encoded(self.itself.crt),
        }
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "one", "cluster": server}],
                "users": [{"name": "one", "user": user}],
                "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
                "current-context": "one",
            }
        )


def _period() -> ValidityPeriod:
    now = datetime.now(UTC)  # noqa: TID251  # the programs verify certificates by it
    return ValidityPeriod.lasting(now - _DAY, 2 * _DAY)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
