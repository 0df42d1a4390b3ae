"""The documents of a configuration: the v1alpha1 one, and the others by kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stockman_lab.talos.config.values import Tree, at, loaded, mapping


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


_OLD = frozenset({"machine", "cluster", "debug", "persist", "version"})


@dataclass(slots=True)
class Documents:
    """All documents of one configuration."""

    oldest: Tree | None = None
    """None: there is none."""
    kinds: dict[str, list[Tree]] = field(default_factory=dict)

    def all(self, kind: str) -> list[Tree]:
        return self.kinds.get(kind, [])

    def one(self, kind: str) -> Tree | None:
        found = self.all(kind)
        return found[0] if found else None

    def several(self, kinds: Iterable[str]) -> list[tuple[str, Tree]]:
        """Documents of some kinds in the order of those kinds."""
        return [(kind, document) for kind in kinds for document in self.all(kind)]

    @property
    def machine(self) -> Tree:
        return mapping(at(self.oldest, "machine"))

    @property
    def cluster(self) -> Tree:
        return mapping(at(self.oldest, "cluster"))


def documents(text: bytes | str) -> Documents:
    """What a text consists of; a text that is no YAML has no documents."""
    document_set = Documents()
    for tree in loaded(text):
        kind = tree.get("kind")
        if isinstance(kind, str) and kind:
            document_set.kinds.setdefault(kind, []).append(tree)
        elif document_set.oldest is None and _OLD & tree.keys():
            document_set.oldest = tree
    return document_set
