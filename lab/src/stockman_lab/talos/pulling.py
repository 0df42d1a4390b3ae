"""Container images of a machine: pulled from the registry, kept on its disk."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.state import StoredImage

if TYPE_CHECKING:
    from stockman_lab.talos.disk import TalosDisk
    from stockman_lab.talos.machine import Machine


_SIZES = {
    "kubelet": 112_000_000,
    "etcd": 23_000_000,
    "kube-apiserver": 27_000_000,
    "kube-controller-manager": 22_000_000,
    "kube-scheduler": 17_000_000,
    "kube-proxy": 25_000_000,
    "coredns": 22_000_000,
    "pause": 300_000,
    "installer": 190_000_000,
    "metal-installer": 190_000_000,
    "nocloud-installer": 190_000_000,
}
"""Bytes, roughly."""


class PullFailed(Exception):
    """Why there is no image, in the words of containerd."""

    def __init__(self, text: str, seconds: float = 0.0) -> None:
        super().__init__(text)
        self.seconds = seconds
        """How long registries let the machine wait for that."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """An image that came, and how long registries let the machine wait for it."""

    image: StoredImage
    seconds: float


def pull(machine: Machine, reference: str, namespace: str) -> Pulled:
    """Fetch an image into a namespace, `system` or `k8s.io`; raises `PullFailed`."""
    from stockman_lab.registry import pulling

    found = pulling.pull(
        machine.land.registry,
        reference,
        client=machine.hostname or machine.state.name,
        architecture=machine.state.architecture,
    )
    if isinstance(found, pulling.PullFailed):
        raise PullFailed(found.text, found.seconds)
    stored_image = StoredImage(
        name=found.name,
        digest=found.digest,
        size=believable_size(found.name),
        created_at=machine.now,
        platform=found.platform,
        schematic=found.schematic,
        version=found.version,
    )
    machine.state.images.setdefault(namespace, {})[stored_image.name] = stored_image
    keep(machine)
    return Pulled(stored_image, found.seconds)


def believable_size(reference: str) -> int:
    """How large an image of that name is where it is real; the lab's own are a few bytes."""
    name = reference.partition("@")[0].rpartition(":")[0]
    part = next((text for text in name.split("/") if text in _SIZES), name.rpartition("/")[2])
    spread = int.from_bytes(hashlib.sha256(reference.encode()).digest()[:3], "big")
    return _SIZES.get(part, 20_000_000) + spread % 1_000_000


def keep(machine: Machine) -> None:
    """Write the store to EPHEMERAL, where there is one."""
    disk = machine.disk
    if disk is not None:
        disk.images.clear()
        disk.images.update(
            {
                namespace: {name: asdict(image) for name, image in images.items()}
                for namespace, images in machine.state.images.items()
            }
        )


def stored_images(disk: TalosDisk) -> dict[str, dict[str, StoredImage]]:
    """What is in the store on a disk."""
    return {
        namespace: {name: StoredImage(**image) for name, image in images.items()}
        for namespace, images in disk.images.items()
    }
