"""Images that are there without anybody pushing them: installers, and public ones of clusters."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from stockman.model.tables import read_table
from stockman.model.version import Version
from stockman_lab.factory.assets import Order, facts_of, order
from stockman_lab.factory.names import Asset, AssetKind
from stockman_lab.factory.offer import newest_stable
from stockman_lab.factory.state import FactoryState
from stockman_lab.images.container import ContainerImage, container_image, digest_of, index_of
from stockman_lab.images.facts import ImageFacts, facts_area, facts_in

ARCHITECTURES = ("amd64", "arm64")
_INSTALLER = re.compile(
    r"(?:(?P<platform>[a-zA-Z0-9-]+)-)?installer(?P<secure>-secureboot)?/(?P<schematic>[^/]+)"
)
_OF_TALOS = frozenset({"siderolabs/installer", "siderolabs/imager", "siderolabs/talos"})
_LAST_UPSTREAM = (1, 13)
_OF_KUBERNETES = frozenset(
    {
        *("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"),
        "siderolabs/kubelet",
    }
)
_PUBLIC = _OF_KUBERNETES | {
    *("pause", "coredns/coredns", "etcd-development/etcd", "etcd"),
    *("siderolabs/flannel", "flannel-io/flannel", "siderolabs/install-cni"),
}
_VERSION = re.compile(r"v?\d+\.\d+(\.\d+)?([-+.][0-9A-Za-z.-]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """An image under one tag."""

    images: tuple[ContainerImage, ...]

    @property
    def index(self) -> bytes:
        return index_of(self.images)

    @property
    def digest(self) -> str:
        return digest_of(self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Twist:
    """How a tag is not what it was."""

    build: str = ""
    """Another one makes another digest of the same version."""
    architectures: tuple[str, ...] = ARCHITECTURES


PLAIN = Twist()


def installer_in(repository: str) -> re.Match[str] | None:
    """The parts of a repository with installers of the factory. None: it is another one."""
    return _INSTALLER.fullmatch(repository)


def published(
    factory: FactoryState, repository: str, tag: str, twist: Twist = PLAIN
) -> Published | None:
    """The image under a tag. None: there is none. `FactoryRefusal`: why it cannot be made."""
    found = installer_in(repository)
    if found is not None:
        wanted = newest_stable(factory) if tag == "latest" else tag
        return _installers(factory, found, wanted, twist) if wanted.startswith("v") else None
    if repository in _OF_TALOS:
        return _of_talos(factory, repository, tag, twist)
    if repository in _PUBLIC and _VERSION.fullmatch(tag):
        facts = ImageFacts(platform="container", version=tag, virtual_size=0)
        return _built(facts, repository.rpartition("/")[2], twist)
    return None


def known_tags(factory: FactoryState, repository: str) -> list[str] | None:
    """Tags that can be listed. None: no such repository, or the factory's, which lists none."""
    if repository in _OF_TALOS:
        return [version for version in factory.versions if _is_upstream(repository, version)]
    if repository in _OF_KUBERNETES:
        return [
            f"v{row['line']}.{patch}"
            for row in read_table("kubernetes")["rows"]
            for patch in range(int(row["newest"].rpartition(".")[2]) + 1)
        ]
    return [] if repository in _PUBLIC else None


def made_tags(factory: FactoryState, repository: str) -> list[str]:
    """Tags whose images can be found again by their digests."""
    if installer_in(repository) or repository in _OF_TALOS:
        return list(factory.versions)
    return []


def _installers(
    factory: FactoryState, found: re.Match[str], version: str, twist: Twist
) -> Published:
    orders = [_order(factory, found, version, architecture) for architecture in twist.architectures]
    facts = [facts_of(factory, order) for order in orders]
    return Published(images=tuple(_image(fact, "installer", twist) for fact in facts))


def _order(factory: FactoryState, found: re.Match[str], version: str, architecture: str) -> Order:
    asset = Asset(
        kind=AssetKind.INSTALLER,
        platform=found["platform"] or "metal",
        architecture=architecture,
        secure_boot=found["secure"] is not None,
    )
    return order(factory, found["schematic"], version, asset)


def _of_talos(factory: FactoryState, repository: str, tag: str, twist: Twist) -> Published | None:
    if tag not in factory.versions or not _is_upstream(repository, tag):
        return None
    facts = ImageFacts(
        platform="metal", version=tag, virtual_size=0, more={"kind": AssetKind.INSTALLER.value}
    )
    return _built(facts, repository.rpartition("/")[2], twist)


def _is_upstream(repository: str, tag: str) -> bool:
    return repository != "siderolabs/installer" or Version.parse(tag).line <= _LAST_UPSTREAM


def _built(facts: ImageFacts, title: str, twist: Twist) -> Published:
    replaces = [replace(facts, architecture=architecture) for architecture in twist.architectures]
    return Published(images=tuple(_image(replace, title, twist) for replace in replaces))


def _image(facts: ImageFacts, title: str, twist: Twist) -> ContainerImage:
    if twist.build:
        facts = replace(facts, more={**facts.more, "build": twist.build})
    return _made(facts_area(facts), title)


@lru_cache(maxsize=512)
def _made(area: bytes, title: str) -> ContainerImage:
    """The image of some facts; those are known by how they are written down."""
    facts = facts_in(area)
    if facts is None:
        raise ValueError("an area of facts without facts")
    return container_image(facts, title)
