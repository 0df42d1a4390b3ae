"""A Talos machine at work: its state together with the land around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos import events, timings
from stockman_lab.talos.disk import TalosDisk
from stockman_lab.talos.state import MachineState, Service, Stage

if TYPE_CHECKING:
    from stockman_lab.guest.view import GuestView
    from stockman_lab.talos.apid import Apid
    from stockman_lab.talos.config.effective_record import Effective
    from stockman_lab.talos.fleet import Fleet


class Machine:
    """One machine: looks things up, tells, notes, and plans what comes next."""

    def __init__(self, land: Fleet, state: MachineState) -> None:
        self.land = land
        self.state = state
        self._effective: Effective | None = None
        self._effective_of: tuple[bytes, str] = (b"", "")
        self._disk: TalosDisk | None = None
        """What `disk` was last, which it is while the land shows the same one."""
        self._followers = 0
        self.was_followed = False
        """Whether somebody was told of the sequence that is under way, or of the last one."""
        self.collections: dict[str, object] = {}
        """By type, the resources that somebody looked at; those who show them make them."""
        self.apid: Apid | None = None
        """What was shown last of its API; `api` tells whether that still holds."""

    @property
    def followers(self) -> int:
        """How many callers are told now what happens on it."""
        return self._followers

    @followers.setter
    def followers(self, count: int) -> None:
        self.was_followed = self.was_followed or count > self._followers
        self._followers = count

    @property
    def key(self) -> str:
        return self.state.key

    @property
    def now(self) -> float:
        return self.land.now

    @property
    def clock(self) -> float:
        """The moment that its own clock shows."""
        fault = self.fault_lasts(Point.CLOCK, {})
        return self.now + (fault.seconds if fault is not None else 0.0)

    # -- what it is ----------------------------------------------------------------------------

    @property
    def version(self) -> str:
        return self.state.version

    @property
    def minor(self) -> str:
        """`1.13` of `v1.13.9`."""
        return ".".join(self.state.version.removeprefix("v").split(".")[:2])

    def at_least(self, minor: str) -> bool:
        """Whether it is of a minor or of a newer one."""
        return _number(self.minor) >= _number(minor)

    @property
    def config(self) -> Effective | None:
        """What its configuration says. None: it has none."""
        text, version = self.state.config, self.state.version
        if not text:
            return None
        known = self._effective_of
        if known[0] is not text or known[1] != version:
            from stockman_lab.talos.config.reading import effective

            self._effective = effective(text, self.minor)
            self._effective_of = (text, version)
        return self._effective

    def take_config(self, text: bytes) -> None:
        """Have another configuration from now on, or none."""
        self.state.config = text
        self.land.regroup(self)

    @property
    def is_controlplane(self) -> bool:
        config = self.config
        return config is not None and config.is_controlplane

    @property
    def mode(self) -> str:
        """Of its platform: `metal`, or `cloud` where the image is installed already."""
        return "metal" if self.state.platform == "metal" else "cloud"

    @property
    def hostname(self) -> str:
        return self.state.network.hostname

    @property
    def addresses(self) -> list[str]:
        """Its addresses without prefix, the shared one too while it holds it."""
        return [
            address.address.partition("/")[0]
            for address in self.state.network.addresses
            if address.link != "lo"
        ]

    @property
    def address(self) -> str:
        """The address that others know it by. Empty: it has none."""
        for address in self.state.network.addresses:
            if address.link != "lo" and address.scope == "global" and not address.is_vip:
                return address.address.partition("/")[0]
        return ""

    @property
    def view(self) -> GuestView:
        """The virtual machine around it, as it is now."""
        return self.land.view(self)

    @property
    def disk(self) -> TalosDisk | None:
        """The disk that Talos is on. None: it runs in memory, and is not installed."""
        slot = self.state.system_disk
        disk = self.land.disk(self, slot) if slot else None
        if disk is None:
            return None
        if self._disk is None or self._disk.view is not disk:
            self._disk = TalosDisk(disk)
        return self._disk

    @property
    def is_on(self) -> bool:
        """Whether its network answers."""
        return self.is_reachable

    @property
    def is_reachable(self) -> bool:
        """Whether others can talk to it."""
        network = self.state.network
        if not self.state.is_on or network.is_astray or not self.address:
            return False
        for link in network.links:
            if link.nic >= 0 and link.is_up:
                return self.fault_lasts(Point.NETWORK, {}) is None
        return False

    @property
    def api(self) -> Apid | None:
        """Its API as others reach it. None: nobody answers."""
        if not self.state.api:
            return None
        from stockman_lab.talos.apid import apid_of

        return apid_of(self)

    def service(self, name: str) -> Service | None:
        return self.state.services.get(name)

    def runs(self, name: str) -> bool:
        """Whether a service runs and is not known to be ill."""
        service = self.state.services.get(name)
        return service is not None and service.is_running and service.is_healthy is not False

    def go_dark(self) -> None:
        """Nothing of it runs any more."""
        state = self.state
        if state.is_on:
            state.off_at = self.now
        state.stage, state.api, state.installing, state.trial = Stage.OFF, "", False, None
        state.sequence, state.services, state.kubernetes.node_ready = None, {}, False

    # -- what it says --------------------------------------------------------------------------

    def tell(self, kind: str, content: Mapping[str, object], actor: str = "") -> None:
        """Tell those who follow it; `kind` is the name of a message, `TaskEvent`."""
        events.tell(self.state, self.now, f"machine.{kind}", content, actor)

    def note(self, text: str) -> None:
        """A line of machined in the log of the kernel."""
        events.note(self.state, self.now, text)

    def log(self, service: str, text: str) -> None:
        """A line in the log of a service."""
        events.log(self.state, self.now, service, text)

    # -- what comes next -----------------------------------------------------------------------

    def after(
        self, seconds: float, name: str, *, patient: bool = False, **arguments: object
    ) -> None:
        """Plan something; it does not happen if the machine loses its power before."""
        details = {"machine": self.key, "boot": self.state.boot, **arguments}
        self.land.around.timeline.after(seconds, name, details, patient=patient)

    def seconds(self, step: str) -> float:
        """How long a step takes this time."""
        factor = self.state.timings.get(step, self.state.timings.get("*", 1.0))
        return timings.throw(step, self.land.around.dice) * factor

    def step_fault(self, step: str, **facts: object) -> Fault | None:
        """A fault that strikes a step of the machine."""
        return self.fault(Point.TALOS_STEP, {"step": step, **facts})

    def delayed(self, step: str, timing: str) -> float | None:
        """How long a step takes, faults included. None: it fails, or never ends."""
        fault = self.step_fault(step)
        if fault is None:
            return self.seconds(timing)
        if fault.effect is Effect.FAIL:
            self.note(fault.message or f"{step} failed")
            return None
        if fault.effect is Effect.HANG:
            return None
        return self.seconds(timing) + fault.seconds

    # -- faults --------------------------------------------------------------------------------

    @property
    def facts(self) -> dict[str, object]:
        """What every fault of a machine can be matched by."""
        state = self.state
        return {
            "cluster": state.cluster,
            "vmid": state.vmid,
            "name": state.name,
            "machine": state.network.hostname or state.name,
            "address": self.address,
            "version": state.version,
        }

    def fault(self, point: Point, facts: Mapping[str, object]) -> Fault | None:
        """A fault that strikes here and now."""
        faults = self.land.around.faults
        return faults.due(point, self.now, {**self.facts, **facts}) if faults.listed else None

    def fault_lasts(self, point: Point, facts: Mapping[str, object]) -> Fault | None:
        """A fault that lasts and is not used up by looking."""
        faults = self.land.around.faults
        return faults.holds(point, self.now, {**self.facts, **facts}) if faults.listed else None


def _number(minor: str) -> tuple[int, ...]:
    return tuple(int(text) for text in minor.split("."))
