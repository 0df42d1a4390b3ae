"""Machine configurations: read, and brought to a machine."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret


class ApplyMode(Enum):
    """How a configuration is taken over."""

    REBOOT = "reboot"
    """With a reboot; Talos 1.14 does not do it any more."""
    AUTO = "auto"
    """Talos chooses; up to 1.13 it may reboot."""
    NO_REBOOT = "no-reboot"
    """At once; up to 1.13 `Rejected` where that is not possible."""
    STAGED = "staged"
    """At the next boot."""
    TRY = "try"
    """At once, and back after a while."""


@record
class Application:
    """A configuration that is to be applied."""

    text: Secret
    """All documents."""
    mode: ApplyMode
    dry_run: bool = False
    try_seconds: float = 60.0
    """After which `try` goes back."""


@record
class Applied:
    """What became, or would become, of a configuration."""

    mode: ApplyMode | None
    """What was done in the end. None: a machine in maintenance does not tell before Talos 1.13."""
    details: Secret
    """In words; of a dry run with the differences, in which secrets may stand."""
    warnings: tuple[str, ...] = ()

    @property
    def reboots(self) -> bool:
        """Whether the machine boots again by itself."""
        return self.mode is ApplyMode.REBOOT


class Configurations(Protocol):
    """Configurations of machines."""

    async def machine_configuration(self, node: MachineAddress) -> Secret:
        """The configuration in use, with all its documents, as it was applied."""
        ...

    async def apply_configuration(self, node: MachineAddress, application: Application) -> Applied:
        """Apply a configuration. `Rejected` with Talos' own words where it does not take it."""
        ...
