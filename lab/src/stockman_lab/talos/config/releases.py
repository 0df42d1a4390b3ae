"""What each minor of Talos brings along, where a configuration does not say otherwise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Versions that are built into Talos."""

    kubernetes: str
    etcd_image: str
    core_dns: str

    @property
    def core_dns_image(self) -> str:
        return f"registry.k8s.io/coredns/coredns:{self.core_dns}"

    def image(self, program: str) -> str:
        """The image of a program of Kubernetes."""
        return f"registry.k8s.io/{program}:v{self.kubernetes}"


RELEASES = {
    "1.11": Release(
        kubernetes="1.34.1",
        etcd_image="gcr.io/etcd-development/etcd:v3.6.5",
        core_dns="v1.12.4",
    ),
    "1.12": Release(
        kubernetes="1.35.0", etcd_image="registry.k8s.io/etcd:v3.6.7", core_dns="v1.13.2"
    ),
    "1.13": Release(
        kubernetes="1.36.3", etcd_image="registry.k8s.io/etcd:v3.6.12", core_dns="v1.14.6"
    ),
    "1.14": Release(
        kubernetes="1.37.0", etcd_image="registry.k8s.io/etcd:3.7.1", core_dns="v1.14.6"
    ),
}
"""By minor: pkg/machinery/constants of v1.11.5, v1.12.1, v1.13.9 and release-1.14."""
