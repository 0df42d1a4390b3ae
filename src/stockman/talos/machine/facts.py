"""Everything that one machine's configuration is made from."""

from __future__ import annotations

import base64
from typing import NamedTuple

from stockman.crypto.certificates import CertificateAndKey
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.bundle import SecretsBundle
from stockman.talos.images import Image

Document = dict[str, object]
"""One document of a configuration; confidential leaves are `Secret`s."""


class Machine(NamedTuple):
    """A node with all that its configuration needs."""

    desired: Desired
    cluster: Cluster
    node: Node
    bundle: SecretsBundle
    image: Image

    @property
    def contract(self) -> Version:
        """The style of the configuration; not the version that runs."""
        return self.cluster.talos.contract

    def styled(self, major: int, minor: int) -> bool:
        """Whether the contract is this line or a newer one."""
        return self.contract.line >= (major, minor)

    @property
    def is_controller(self) -> bool:
        return self.node.is_controller

    @property
    def endpoint(self) -> str:
        """Where machines find the Kubernetes API."""
        return f"https://{self.cluster.kubernetes.api_addr}:6443"

    @property
    def kubernetes(self) -> str:
        """Kubernetes as image tags write it."""
        return self.cluster.kubernetes.version.tagged

    def enabled(self, *components: str) -> bool:
        """Whether one of these components is switched on."""
        known = self.desired.components
        return any(name in known and known[name].enabled is True for name in components)


def encoded(pair: CertificateAndKey, *, with_key: bool) -> Document:
    """A certificate and, for controllers, its key as the v1alpha1 document holds them."""
    key: object = Secret(_base64(pair.key.reveal())) if with_key else ""
    return {"crt": _base64(pair.crt), "key": key}


def encoded_key(pem: Secret) -> Secret:
    """A key as the v1alpha1 document holds it."""
    return Secret(_base64(pem.reveal()))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")
