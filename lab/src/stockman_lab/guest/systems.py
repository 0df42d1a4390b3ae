"""Which system boots from which disk: decided by what its bytes say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from stockman_lab.core.state import state

if TYPE_CHECKING:
    from stockman_lab.guest.plain import PlainGuest
    from stockman_lab.guest.system import GuestSystem
    from stockman_lab.guest.view import GuestView

_KIND = "kind"


@state
class Systems:
    """All systems that a lab knows; what is bootable and nobody's is a plain Linux."""

    platforms: dict[str, Callable[[], GuestSystem]] = field(default_factory=dict)
    """By platform of an image."""
    kinds: dict[str, Callable[[Mapping[str, object]], GuestSystem]] = field(default_factory=dict)
    """How what was saved is loaded, by kind."""

    def register(
        self,
        kind: str,
        platforms: tuple[str, ...],
        make: Callable[[], GuestSystem],
        load: Callable[[Mapping[str, object]], GuestSystem],
    ) -> None:
        """Let a system boot from images of some platforms."""
        self.kinds[kind] = load
        for platform in platforms:
            self.platforms[platform] = make

    def __call__(self, platform: str) -> GuestSystem:
        """What boots from a bootable image of a platform."""
        return self.platforms.get(platform, _plain())()

    def booting(self, view: GuestView) -> GuestSystem | None:
        """What boots in a machine. None: nothing does, its screen stays black."""
        disk = view.boot_disk
        if disk is None:
            return None
        facts = disk.facts
        if facts is not None and facts.architecture != view.architecture:
            return None
        return self(facts.platform if facts is not None else "")

    def saved(self, system: GuestSystem) -> dict[str, object]:
        """A system as JSON, with the name of its kind."""
        return {_KIND: system.kind, **system.saved()}

    def loaded(self, saved: Mapping[str, object]) -> GuestSystem | None:
        """The system that was saved. None: nothing was."""
        if not saved:
            return None
        values = {name: value for name, value in saved.items() if name != _KIND}
        kind = str(saved[_KIND])
        return self.kinds[kind](values) if kind in self.kinds else _plain().loaded(values)

    def lost_power(self, saved: Mapping[str, object], now: float) -> None:
        """Tell what ran in a machine that its power is gone."""
        system = self.loaded(saved) if saved else None
        if system is not None:
            system.lost_power(now)


def _plain() -> type[PlainGuest]:
    """Imported when the first machine boots: a lab starts without."""
    from stockman_lab.guest.plain import PlainGuest

    return PlainGuest
