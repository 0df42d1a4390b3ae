"""Calls on image stores, in the way that the Talos which runs offers."""

from __future__ import annotations

from stockman.model.errors import Unsupported
from stockman.model.names import MachineAddress
from stockman.ports.talos.images import ImageStore, StoredImage
from stockman.talos.api.calls import MACHINE
from stockman.talos.api.messages import encoded
from stockman.talos.api.power import PowerCalls
from stockman.talos.api.refusals import unknown_outcome
from stockman.talos.api.rows import Row, number, text, text_or_none
from stockman.talos.api.wire import Request

_LIST, _PULL = "machine.ImageService/List", "machine.ImageService/Pull"
_OLD_LIST, _OLD_PULL = f"{MACHINE}/ImageList", f"{MACHINE}/ImagePull"
_NAMESPACES = {ImageStore.SYSTEM: "NS_SYSTEM", ImageStore.KUBERNETES: "NS_CRI"}
PULL_SECONDS = 900.0


class ImageCalls(PowerCalls):
    """`ports.talos.images.Images` over a wire."""

    async def images(self, node: MachineAddress, store: ImageStore) -> tuple[StoredImage, ...]:
        try:
            return await self._listed(_LIST, node, {"containerd": containerd(store)})
        except Unsupported:
            return await self._listed(_OLD_LIST, node, {"namespace": _NAMESPACES[store]})

    async def pull_image(self, node: MachineAddress, reference: str, store: ImageStore) -> None:
        try:
            await self._pulled(node, reference, store)
        except Unsupported:
            fields = {"namespace": _NAMESPACES[store], "reference": reference}
            await self._change(_OLD_PULL, node, fields, seconds=PULL_SECONDS)

    async def _listed(
        self, method: str, node: MachineAddress, fields: dict[str, object]
    ) -> tuple[StoredImage, ...]:
        return tuple([found async for found in self._each(method, node, _image, fields)])

    async def _pulled(self, node: MachineAddress, reference: str, store: ImageStore) -> None:
        fields = {"containerd": containerd(store), "image_ref": reference}
        request = Request(
            method=_PULL,
            node=node,
            message=encoded(_PULL, fields),
            is_read=False,
            seconds=PULL_SECONDS,
        )
        names = [name async for name in self._answers(request, _name)]
        if not any(names):
            raise unknown_outcome(request, "it does not tell that the image was pulled")


def containerd(store: ImageStore) -> dict[str, object]:
    """The store as newer calls name it."""
    return {"driver": "CRI", "namespace": _NAMESPACES[store]}


def _name(row: Row) -> str:
    return text_or_none(row, "name")


def _image(row: Row) -> StoredImage:
    return StoredImage(
        name=text(row, "name"), digest=text_or_none(row, "digest"), size=number(row, "size")
    )
