"""Calls that upgrade Talos."""

from __future__ import annotations

from contextlib import aclosing

from stockman.model.errors import Rejected
from stockman.model.names import MachineAddress
from stockman.model.version import Version
from stockman.ports.talos.images import ImageStore
from stockman.ports.talos.upgrades import Tell, Upgrade, UpgradeApi, Upgraded
from stockman.talos.api import problems
from stockman.talos.api.calls import MACHINE
from stockman.talos.api.images import ImageCalls, containerd
from stockman.talos.api.messages import encoded
from stockman.talos.api.refusals import clean, unknown_outcome
from stockman.talos.api.rows import Row, number, part, text_or_none
from stockman.talos.api.wire import Request

_UPGRADE, _LIFECYCLE = f"{MACHINE}/Upgrade", "machine.LifecycleService/Upgrade"
_AFTER, _BEFORE = Version.parse("1.13.0-alpha.2"), Version(2, 0, 0)
_SECONDS = 900.0
_TAIL = 5


class UpgradeCalls(ImageCalls):
    """`ports.talos.upgrades.Upgrades` over a wire."""

    async def upgrade_api(self, node: MachineAddress) -> UpgradeApi:
        version = (await self.version(node)).parsed
        return UpgradeApi.LIFECYCLE if _AFTER < version < _BEFORE else UpgradeApi.LEGACY

    async def upgrade(
        self, node: MachineAddress, upgrade: Upgrade, tell: Tell | None = None
    ) -> Upgraded:
        if await self.upgrade_api(node) is UpgradeApi.LEGACY:
            return await self._begun(node, upgrade)
        await self.pull_image(node, upgrade.image, ImageStore.SYSTEM)
        lines = await self.run_installer(node, upgrade.image, tell)
        return Upgraded(api=UpgradeApi.LIFECYCLE, lines=lines)

    async def run_installer(
        self, node: MachineAddress, image: str, tell: Tell | None = None
    ) -> tuple[str, ...]:
        fields = {"containerd": containerd(ImageStore.SYSTEM), "source": {"image_name": image}}
        request = Request(
            method=_LIFECYCLE,
            node=node,
            message=encoded(_LIFECYCLE, fields),
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
            raise unknown_outcome(request, "the installer did not tell how it ended")
        if ended:
            raise Rejected(problems.installer_failed(request, ended, tuple(lines[-_TAIL:])))
        return tuple(lines)

    async def _begun(self, node: MachineAddress, upgrade: Upgrade) -> Upgraded:
        fields = {
            "image": upgrade.image,
            "stage": upgrade.stage,
            "reboot_mode": "POWERCYCLE" if upgrade.powercycle else "DEFAULT",
        }
        row = await self._change(_UPGRADE, node, fields, seconds=_SECONDS)
        return Upgraded(api=UpgradeApi.LEGACY, actor=self._actor(_UPGRADE, node, row))


def _progress(row: Row) -> tuple[int | None, str]:
    """The exit code, where it is told, and a line."""
    progress = part(row, "progress")
    code = number(progress, "exit_code") if "exit_code" in progress else None
    return code, clean(text_or_none(progress, "message"))
