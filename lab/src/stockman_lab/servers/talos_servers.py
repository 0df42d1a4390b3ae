"""The Talos API over gRPC: every machine that is up answers on its own addresses."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from stockman_lab.servers.listener import PortTaken
from stockman_lab.servers.pace import Pace, ServedPatience
from stockman_lab.servers.talos_server import Manner, TalosServer
from stockman_lab.talos.api.call import ApiFleet, ApiMachine, IncomingCall
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.registry import CallContext, Methods, all_methods
from stockman_lab.talos.api.roles import only_reads

APID_PORT = 50000

_BEGIN_SEQUENCES = frozenset(
    f"/machine.MachineService/{name}" for name in ("Reboot", "Reset", "Shutdown", "Upgrade")
)
_UNTIL_WATCHED = 0.3
"""Seconds of real time after which a client watches what it started."""

Endpoint: TypeAlias = tuple[str, int]
Placing: TypeAlias = Callable[[ApiMachine, str, int], Endpoint | None]
"""Where an address and a port of a machine are really; None: nowhere."""
Stamp: TypeAlias = tuple[int, str, tuple[str, ...]]


def on_loopback(machine: ApiMachine, address: str, port: int) -> Endpoint | None:
    """Addresses of this machine are what they are; others are not reached."""
    del machine
    return (address, port) if ipaddress.ip_address(address).is_loopback else None


@dataclass(frozen=True, slots=True)
class Keeping:
    """How the doors are kept."""

    placing: Placing = on_loopback
    seen: Callable[[str], None] | None = None
    """Told about every call."""


@dataclass
class _Open:
    """The doors of a machine, and for what they were opened."""

    stamp: Stamp
    doors: dict[Endpoint, TalosServer]


class TalosServers:
    """Opens and closes the doors of machines as these come and go."""

    def __init__(
        self,
        land: ApiFleet,
        pace: Pace,
        scratch: Path,
        keeping: Keeping | None = None,
        methods: Methods | None = None,
    ) -> None:
        self._land = land
        self._pace = pace
        self._keeping = keeping or Keeping()
        self._methods = methods
        self.patience = ServedPatience(pace)
        self._open: dict[ApiMachine, _Open] = {}
        self._apid = Manner(self._answer_call, scratch)
        pace.listeners.append(self.happened)

    def place_of(self, machine: ApiMachine, address: str, port: int = APID_PORT) -> Endpoint | None:
        """Where an address of a machine answers; None: it does not."""
        found = self._open.get(machine)
        door = None if found is None else found.doors.get((address, port))
        return None if door is None else door.place

    def happened(self) -> None:
        """Called after something in the world changed."""
        try:
            self.reconcile()
        except PortTaken as taken:
            self._tell(f"somebody else listens at {taken}")
        self.patience.wake()

    def reconcile(self, machines: Iterable[ApiMachine] | None = None) -> None:
        """Open and close what has to be; None: look at all machines.

        First all that closes: an address may go from one machine to another. `PortTaken` where
        somebody else listens; the doors of that machine stay closed, and are tried again.
        """
        looked_at = [
            (machine, _stamp(machine))
            for machine in (self._land.machines if machines is None else machines)
        ]
        changed = [(one, stamp) for one, stamp in looked_at if self._stamp_of(one) != stamp]
        staying = {machine: self._close(machine, stamp) for machine, stamp in changed}
        if machines is None and len(self._open) > len(looked_at):
            self._forget({machine for machine, _ in looked_at})
        taken: PortTaken | None = None
        for machine, stamp in changed:
            if stamp is None:
                continue
            doors = staying[machine]
            try:
                self._fill(doors, machine, stamp)
                self._open[machine] = _Open(stamp, doors)
            except PortTaken as error:
                taken = error
                for door in doors.values():
                    door.cut()
        if taken is not None:
            raise taken

    def stop(self) -> None:
        """Close everything, and break off with everybody."""
        self._pace.listeners.remove(self.happened)
        for found in self._open.values():
            for door in found.doors.values():
                door.cut()
        self._open.clear()

    def _stamp_of(self, machine: ApiMachine) -> Stamp | None:
        found = self._open.get(machine)
        return None if found is None else found.stamp

    def _fill(self, doors: dict[Endpoint, TalosServer], machine: ApiMachine, stamp: Stamp) -> None:
        for address in stamp[2]:
            self._try(doors, machine, (address, APID_PORT))

    def _try(self, doors: dict[Endpoint, TalosServer], machine: ApiMachine, at: Endpoint) -> None:
        placing = self._keeping.placing(machine, *at)
        if placing is None or at in doors:
            return
        try:
            doors[at] = TalosServer(machine, *placing, self._apid)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(*placing) from None
            raise

    def _close(
        self, machine: ApiMachine, stamp: Stamp | None = None
    ) -> dict[Endpoint, TalosServer]:
        """Close the doors of a machine but those that it keeps, which are returned.

        A machine that gets or loses an address, the shared one, goes on with its callers.
        """
        found = self._open.pop(machine, None)
        if found is None:
            return {}
        kept: tuple[str, ...] = ()
        if stamp is not None and stamp[:2] == found.stamp[:2]:
            kept = stamp[2]
        for (address, _), door in found.doors.items():
            if address not in kept:
                door.close()
        return {at: door for at, door in found.doors.items() if at[0] in kept}

    def _forget(self, api_machines: set[ApiMachine]) -> None:
        for machine in [one for one in self._open if one not in api_machines]:
            self._close(machine)

    def _around(self) -> CallContext:
        # What answers is imported for the first call: the doors open without it.
        if self._methods is None:
            self._methods = all_methods()
        return CallContext(self._land, self.patience, self._methods)

    async def _answer_call(
        self, machine: ApiMachine, incoming: IncomingCall
    ) -> AsyncGenerator[bytes, None]:
        self._pace.catch_up()
        if incoming.path in _BEGIN_SEQUENCES:
            self._pace.hold(_UNTIL_WATCHED)
        self._tell(f"{machine.hostname} {incoming.path}")
        try:
            async with aclosing(perform(self._around(), machine, incoming)) as answer:
                async for piece in answer:
                    yield piece
        finally:
            if not only_reads(incoming.path):
                self.happened()
            self._pace.go_on()

    def _tell(self, line: str) -> None:
        if self._keeping.seen is not None:
            self._keeping.seen(line)


def _stamp(machine: ApiMachine) -> Stamp | None:
    """What doors depend on; None: nobody listens."""
    api = machine.api
    if api is None:
        return None
    return api.boot, api.mode, tuple(machine.addresses)


_LOCALHOST = "127.0.0.1"


class TalosPlaces:
    """Remembers places, so that a machine that reboots is found where it was before."""

    def __init__(self, port: int = APID_PORT, usual: int = APID_PORT) -> None:
        """Of the API instead of the usual one; with 0 every address answers on any free port."""
        self._ports_are_free = port == 0
        self._shift = port - usual
        self._known: dict[Endpoint, Endpoint] = {}

    def of(self, machine: ApiMachine, address: str, port: int) -> Endpoint | None:
        """The place of an address and a port; None: it is not reached from here.

        An address that this machine does not have is a port of `127.0.0.1`.
        """
        del machine
        if not ipaddress.ip_address(address).is_loopback:
            return None
        rows = (address, port)
        if rows not in self._known:
            self._known[rows] = self._chosen(address, port)
        return self._known[rows]

    def _chosen(self, address: str, port: int) -> Endpoint:
        try:
            free = _free_port(address)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            return _LOCALHOST, _free_port(_LOCALHOST)
        return address, free if self._ports_are_free else port + self._shift


def _free_port(address: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])
