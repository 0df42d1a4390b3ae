"""Container images in the store of a machine."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record


class ImageStore(Enum):
    """Whose images they are."""

    SYSTEM = "system"
    """Of Talos itself: installers, kubelet, etcd."""
    KUBERNETES = "kubernetes"


@record
class StoredImage:
    """An image in a store."""

    name: str
    digest: str
    size: int
    """Bytes."""


class Images(Protocol):
    """The image stores of a machine."""

    async def images(self, node: MachineAddress, store: ImageStore) -> tuple[StoredImage, ...]:
        """All images of a store."""
        ...

    async def pull_image(self, node: MachineAddress, reference: str, store: ImageStore) -> None:
        """Have the machine fetch an image; returns when it has it."""
        ...
