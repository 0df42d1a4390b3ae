"""Calls about images and upgrades, in the form that the running Talos supports."""

from __future__ import annotations

from contextlib import aclosing

from stockman.model.errors import Rejected, Uncertain, Unsupported
from stockman.model.names import MachineAddress
from stockman.model.secret import clean_text
from stockman.model.version import Version
from stockman.talos.api.calls import (
    MACHINE,
    Row,
    build_change,
    get_number,
    get_optional_text,
    get_row,
    get_text,
)
from stockman.talos.api.errors import talos_problem
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
_UPGRADE, _LIFECYCLE = f"{MACHINE}/Upgrade", "machine.LifecycleService/Upgrade"
_NAMESPACES = {ImageStore.SYSTEM: "NS_SYSTEM", ImageStore.KUBERNETES: "NS_CRI"}
_LIFECYCLE_AFTER, _LIFECYCLE_BEFORE = Version.parse("1.13.0-alpha.2"), Version(2, 0, 0)
_SECONDS = 900.0
_LAST_LINES = 5


class UpgradeCalls(PowerCalls):
    """Image stores and upgrades of machines."""

    async def images(self, node: MachineAddress, store: ImageStore) -> tuple[StoredImage, ...]:
        """Return all images of a store."""
        try:
            return await self._list_images(_LIST, node, {"containerd": _containerd(store)})
        except Unsupported:
            return await self._list_images(_OLD_LIST, node, {"namespace": _NAMESPACES[store]})

    async def pull_image(self, node: MachineAddress, reference: str, store: ImageStore) -> None:
        """Let the machine pull an image; returns when the image is complete."""
        fields = {"containerd": _containerd(store), "image_ref": reference}
        request = build_change(_PULL, node, fields, _SECONDS)
        try:
            names = [name async for name in self._answers(request, _image_name)]
        except Unsupported:
            fields = {"namespace": _NAMESPACES[store], "reference": reference}
            await self._change(_OLD_PULL, node, fields, seconds=_SECONDS)
            return
        if not any(names):
            raise _unknown_outcome(request, "it does not report that the image was pulled")

    async def _list_images(
        self, method: str, node: MachineAddress, fields: dict[str, object]
    ) -> tuple[StoredImage, ...]:
        return tuple([image async for image in self._each(method, node, _stored_image, fields)])

    async def upgrade_api(self, node: MachineAddress) -> UpgradeApi:
        """Return which API upgrades the running Talos."""
        version = (await self.version(node)).parsed
        is_new = _LIFECYCLE_AFTER < version < _LIFECYCLE_BEFORE
        return UpgradeApi.LIFECYCLE if is_new else UpgradeApi.LEGACY

    async def upgrade(
        self,
        node: MachineAddress,
        upgrade: UpgradeRequest,
        report: ProgressCallback | None = None,
    ) -> UpgradeResult:
        """Upgrade by the API of the running Talos; images are pulled as well."""
        if await self.upgrade_api(node) is UpgradeApi.LEGACY:
            fields = {
                "image": upgrade.image,
                "stage": upgrade.stage,
                "reboot_mode": "POWERCYCLE" if upgrade.powercycle else "DEFAULT",
            }
            row = await self._change(_UPGRADE, node, fields, seconds=_SECONDS)
            return UpgradeResult(api=UpgradeApi.LEGACY, actor=self._actor(_UPGRADE, node, row))
        await self.pull_image(node, upgrade.image, ImageStore.SYSTEM)
        lines = await self.run_installer(node, upgrade.image, report)
        return UpgradeResult(api=UpgradeApi.LIFECYCLE, lines=lines)

    async def run_installer(
        self, node: MachineAddress, image: str, report: ProgressCallback | None = None
    ) -> tuple[str, ...]:
        """Run an installer that was pulled, and return its output; the machine does not reboot.

        Raises Rejected if it fails, and Uncertain if its exit code is unknown.
        """
        fields = {"containerd": _containerd(ImageStore.SYSTEM), "source": {"image_name": image}}
        request = build_change(_LIFECYCLE, node, fields, _SECONDS)
        lines: list[str] = []
        exit_code: int | None = None
        async with aclosing(self._answers(request, _progress)) as progress:
            async for code, line in progress:
                exit_code = code if exit_code is None else exit_code
                if line:
                    lines.append(line)
                    if report is not None:
                        report(line)
        if exit_code is None:
            raise _unknown_outcome(request, "the installer did not report its exit code")
        if exit_code:
            output = "; ".join(lines[-_LAST_LINES:]) or "no output"
            why = f"exit code {exit_code}: {output}"
            raise Rejected(talos_problem("talos.installer", request.shown, why))
        return tuple(lines)


def _containerd(store: ImageStore) -> dict[str, object]:
    """Return the store in the form of newer calls."""
    return {"driver": "CRI", "namespace": _NAMESPACES[store]}


def _image_name(row: Row) -> str:
    return get_optional_text(row, "name")


def _stored_image(row: Row) -> StoredImage:
    return StoredImage(
        name=get_text(row, "name"),
        digest=get_optional_text(row, "digest"),
        size=get_number(row, "size"),
    )


def _progress(row: Row) -> tuple[int | None, str]:
    """Return the exit code, if it is known, and a line of output."""
    progress = get_row(row, "progress")
    code = get_number(progress, "exit_code") if "exit_code" in progress else None
    return code, clean_text(get_optional_text(progress, "message"))


def _unknown_outcome(request: TalosRequest, why: str) -> Uncertain:
    return Uncertain(talos_problem("talos.unknown-outcome", request.shown, why))
