"""Upgrades of Talos, in the way that the Talos which runs offers."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record

Tell = Callable[[str], None]
"""Told every line of an installer."""


class UpgradeApi(Enum):
    """How a Talos is upgraded."""

    LEGACY = "legacy"
    """It looks at etcd, drains, installs and boots by itself."""
    LIFECYCLE = "lifecycle"
    """It installs and no more: etcd, pods and the reboot are ours. Since Talos 1.13."""


@record
class Upgrade:
    """What is to be installed."""

    image: str
    """The installer."""
    stage: bool = False
    """Only legacy: install at the next boot."""
    powercycle: bool = False
    """Only legacy: boot through the firmware."""


@record
class Upgraded:
    """An upgrade that was taken on or carried out."""

    api: UpgradeApi
    actor: str = ""
    """Who carries it out, in events. Empty: it is done."""
    lines: tuple[str, ...] = ()
    """What the installer said."""

    @property
    def reboots(self) -> bool:
        """Whether the machine boots by itself."""
        return self.api is UpgradeApi.LEGACY


class Upgrades(Protocol):
    """Upgrades of machines."""

    async def upgrade_api(self, node: MachineAddress) -> UpgradeApi:
        """How the Talos that runs is upgraded."""
        ...

    async def upgrade(
        self, node: MachineAddress, upgrade: Upgrade, tell: Tell | None = None
    ) -> Upgraded:
        """Upgrade in the way that the Talos which runs offers; images are pulled by this too."""
        ...

    async def run_installer(
        self, node: MachineAddress, image: str, tell: Tell | None = None
    ) -> tuple[str, ...]:
        """Run an installer that was pulled, and return what it said; nothing boots.

        `Rejected` where it ended with an error, `Uncertain` where it did not tell how it ended.
        """
        ...
