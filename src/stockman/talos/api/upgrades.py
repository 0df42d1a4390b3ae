"""Calls on image stores, in the way that the Talos which runs offers."""

from __future__ import annotations

from contextlib import aclosing

from stockman.model.errors import Rejected, Unsupported
from stockman.model.names import MachineAddress
from stockman.model.version import Version
from stockman.talos.api import errors
from stockman.talos.api.calls import (
    MACHINE,
    Row,
    encode_request,
    get_number,
    get_optional_text,
    get_row,
    get_text,
)
from stockman.talos.api.errors import sanitize_text, unknown_outcome_error
from stockman.talos.api.machines import PowerCalls
from stockman.talos.api.transport import TalosRequest
from stockman.talos.records.operations import (
    ImageStore,
    ProgressCallback,
    StoredImage,
    UpgradeApi,
    UpgradeRequest,
    UpgradeResult,
)

_LIST, _PULL = "machine.ImageService/List", "machine.ImageService/Pull"
_OLD_LIST, _OLD_PULL = f"{MACHINE}/ImageList", f"{MACHINE}/ImagePull"
_NAMESPACES = {ImageStore.SYSTEM: "NS_SYSTEM", ImageStore.KUBERNETES: "NS_CRI"}
PULL_SECONDS = 900.0


class ImageCalls(PowerCalls):
    """The image stores of a machine."""

    async def images(self, node: MachineAddress, store: ImageStore) -> tuple[StoredImage, ...]:
        """All images of a store."""
        try:
            return await self._listed(_LIST, node, {"containerd": _containerd_instance(store)})
        except Unsupported:
            return await self._listed(_OLD_LIST, node, {"namespace": _NAMESPACES[store]})

    async def pull_image(self, node: MachineAddress, reference: str, store: ImageStore) -> None:
        """Have the machine fetch an image; returns when it has it."""
        try:
            await self._pulled(node, reference, store)
        except Unsupported:
            fields = {"namespace": _NAMESPACES[store], "reference": reference}
            await self._change(_OLD_PULL, node, fields, seconds=PULL_SECONDS)

    async def _listed(
        self, method: str, node: MachineAddress, fields: dict[str, object]
    ) -> tuple[StoredImage, ...]:
        return tuple([found async for found in self._each(method, node, _stored_image, fields)])

    async def _pulled(self, node: MachineAddress, reference: str, store: ImageStore) -> None:
        fields = {"containerd": _containerd_instance(store), "image_ref": reference}
        request = TalosRequest(
            method=_PULL,
            node=node,
            message=encode_request(_PULL, fields),
            is_read=False,
            seconds=PULL_SECONDS,
        )
        names = [name async for name in self._answers(request, _pulled_name)]
        if not any(names):
            raise unknown_outcome_error(request, "it does not tell that the image was pulled")


def _containerd_instance(store: ImageStore) -> dict[str, object]:
    """The store as newer calls name it."""
    return {"driver": "CRI", "namespace": _NAMESPACES[store]}


def _pulled_name(row: Row) -> str:
    return get_optional_text(row, "name")


def _stored_image(row: Row) -> StoredImage:
    return StoredImage(
        name=get_text(row, "name"),
        digest=get_optional_text(row, "digest"),
        size=get_number(row, "size"),
    )


_UPGRADE, _LIFECYCLE = f"{MACHINE}/Upgrade", "machine.LifecycleService/Upgrade"
_AFTER, _BEFORE = Version.parse("1.13.0-alpha.2"), Version(2, 0, 0)
_SECONDS = 900.0
_TAIL = 5


class UpgradeCalls(ImageCalls):
    """Upgrades of machines."""

    async def upgrade_api(self, node: MachineAddress) -> UpgradeApi:
        """How the Talos that runs is upgraded."""
        version = (await self.version(node)).parsed
        return UpgradeApi.LIFECYCLE if _AFTER < version < _BEFORE else UpgradeApi.LEGACY

    async def upgrade(
        self, node: MachineAddress, upgrade: UpgradeRequest, tell: ProgressCallback | None = None
    ) -> UpgradeResult:
        """Upgrade in the way that the Talos which runs offers; images are pulled by this too."""
        if await self.upgrade_api(node) is UpgradeApi.LEGACY:
            return await self._begun(node, upgrade)
        await self.pull_image(node, upgrade.image, ImageStore.SYSTEM)
        lines = await self.run_installer(node, upgrade.image, tell)
        return UpgradeResult(api=UpgradeApi.LIFECYCLE, lines=lines)

    async def run_installer(
        self, node: MachineAddress, image: str, tell: ProgressCallback | None = None
    ) -> tuple[str, ...]:
        """Run an installer that was pulled, and return what it said; nothing boots.

        `Rejected` where it ended with an error, `Uncertain` where it did not tell how it ended.
        """
        fields = {
            "containerd": _containerd_instance(ImageStore.SYSTEM),
            "source": {"image_name": image},
        }
        request = TalosRequest(
            method=_LIFECYCLE,
            node=node,
            message=encode_request(_LIFECYCLE, fields),
            is_read=False,
            seconds=_SECONDS,
        )
        lines: list[str] = []
        ended: int | None = None
        async with aclosing(self._answers(request, _progress)) as told:
            async for code, line in told:
                ended = code if ended is None else ended
                if line:
                    lines.append(line)
                    if tell is not None:
                        tell(line)
        if ended is None:
            raise unknown_outcome_error(request, "the installer did not tell how it ended")
        if ended:
            raise Rejected(errors.installer_problem(request, ended, tuple(lines[-_TAIL:])))
        return tuple(lines)

    async def _begun(self, node: MachineAddress, upgrade: UpgradeRequest) -> UpgradeResult:
        fields = {
            "image": upgrade.image,
            "stage": upgrade.stage,
            "reboot_mode": "POWERCYCLE" if upgrade.powercycle else "DEFAULT",
        }
        row = await self._change(_UPGRADE, node, fields, seconds=_SECONDS)
        return UpgradeResult(api=UpgradeApi.LEGACY, actor=self._actor(_UPGRADE, node, row))


def _progress(row: Row) -> tuple[int | None, str]:
    """The exit code, where it is told, and a line."""
    progress = get_row(row, "progress")
    code = get_number(progress, "exit_code") if "exit_code" in progress else None
    return code, sanitize_text(get_optional_text(progress, "message"))
