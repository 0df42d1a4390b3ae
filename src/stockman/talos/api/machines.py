"""Calls on machines."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from stockman.model.errors import Denied, StockmanError, Unsupported
from stockman.model.names import MachineAddress, SchematicId
from stockman.model.version import Version
from stockman.ports.talos.machines import (
    ClockReading,
    Diagnostic,
    Extension,
    MachineStatus,
    Neighbour,
    Service,
    TalosVersion,
    TimeSync,
    UnmetCondition,
)
from stockman.ports.talos.maintenance import Stranger
from stockman.talos.api.calls import MACHINE
from stockman.talos.api.files import FileCalls
from stockman.talos.api.resources import Kind
from stockman.talos.api.rows import (
    OddAnswer,
    Row,
    part,
    parts,
    seconds,
    text,
    text_or_none,
    texts,
    told_yes,
    yes,
)

_SYSTEM = Kind(namespace="hardware", type="SystemInformations.hardware.talos.dev")
_STATUS = Kind(namespace="runtime", type="MachineStatuses.runtime.talos.dev")
_EXTENSIONS = Kind(namespace="runtime", type="ExtensionStatuses.runtime.talos.dev")
_DIAGNOSTICS = Kind(namespace="runtime", type="Diagnostics.runtime.talos.dev")
_BOOT_IDS = Kind(namespace="runtime", type="BootIDs.runtime.talos.dev")
_TIME = Kind(namespace="runtime", type="TimeStatuses.v1alpha1.talos.dev")
_MEMBERS = Kind(namespace="cluster", type="Members.cluster.talos.dev")
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_SCHEMATIC = "schematic"
_NO_EXTENSIONS = frozenset({_SCHEMATIC, "modules.dep"})
"""Entries among the extensions that are none."""


class MachineCalls(FileCalls):
    """`ports.talos.machines.Machines` over a wire."""

    async def version(self, node: MachineAddress) -> TalosVersion:
        return await self._version(node)

    async def machine_status(self, node: MachineAddress) -> MachineStatus:
        return await self._machine_status(node)

    async def system_uuid(self, node: MachineAddress) -> UUID:
        return await self._system_uuid(node)

    async def services(self, node: MachineAddress) -> tuple[Service, ...]:
        return await self._read(f"{MACHINE}/ServiceList", node, _services)

    async def restart_service(self, node: MachineAddress, service: str) -> None:
        await self._change(f"{MACHINE}/ServiceRestart", node, {"id": service})

    async def boot_id(self, node: MachineAddress) -> str:
        try:
            found = (await self.read_file(node, _BOOT_ID)).decode("ascii", "replace").strip()
        except Denied as denied:
            return await self._readable_boot_id(node, denied)
        if not found:
            raise self._odd(f"{MACHINE}/Read", node, f"{_BOOT_ID} is empty")
        return found

    async def extensions(self, node: MachineAddress) -> tuple[Extension, ...]:
        found = await self._resources(node, _EXTENSIONS, _extension)
        return tuple(one for one in found if one.name not in _NO_EXTENSIONS)

    async def schematic(self, node: MachineAddress) -> SchematicId | None:
        found = await self._resources(node, _EXTENSIONS, _extension)
        named = {one.version for one in found if one.name == _SCHEMATIC}
        if len(named) > 1:
            raise self._odd("State/List", node, "several schematics are named")
        return SchematicId(named.pop()) if named else None

    async def clock_reading(self, node: MachineAddress) -> ClockReading:
        return await self._read("time.TimeService/Time", node, _clock)

    async def time_sync(self, node: MachineAddress) -> TimeSync:
        return await self._resource(node, _TIME, "node", _sync)

    async def diagnostics(self, node: MachineAddress) -> tuple[Diagnostic, ...]:
        return await self._resources(node, _DIAGNOSTICS, _diagnostic)

    async def neighbours(self, node: MachineAddress) -> tuple[Neighbour, ...]:
        return await self._resources(node, _MEMBERS, _neighbour)

    async def _version(self, at: MachineAddress | Stranger) -> TalosVersion:
        return await self._read(f"{MACHINE}/Version", at, _version)

    async def _machine_status(self, at: MachineAddress | Stranger) -> MachineStatus:
        return await self._resource(at, _STATUS, "machine", _status)

    async def _system_uuid(self, at: MachineAddress | Stranger) -> UUID:
        return await self._resource(at, _SYSTEM, "systeminformation", _uuid)

    async def _readable_boot_id(self, node: MachineAddress, denied: StockmanError) -> str:
        try:
            return await self._resource(node, _BOOT_IDS, "boot-id", lambda row: text(row, "bootID"))
        except Unsupported:
            raise denied from None


def _version(row: Row) -> TalosVersion:
    version, platform = part(row, "version"), part(row, "platform")
    tag = text(version, "tag")
    try:
        Version.parse(tag)
    except ValueError:
        raise OddAnswer(f"{tag!r} is no version") from None
    return TalosVersion(
        tag=tag,
        platform=text(platform, "name"),
        mode=text(platform, "mode"),
        architecture=text_or_none(version, "arch"),
    )


def _status(row: Row) -> MachineStatus:
    status = part(row, "status")
    found = MachineStatus(
        stage=text(row, "stage"),
        ready=told_yes(status, "ready"),
        unmet=tuple(
            UnmetCondition(name=text(one, "name"), reason=text_or_none(one, "reason"))
            for one in parts(status, "unmetConditions")
        ),
    )
    if found.ready and found.unmet:
        raise OddAnswer("it is ready, and yet conditions are not met")
    return found


def _uuid(row: Row) -> UUID:
    found = text(row, "uuid")
    try:
        return UUID(found)
    except ValueError:
        raise OddAnswer(f"{found!r} is no UUID") from None


def _services(row: Row) -> tuple[Service, ...]:
    return tuple(_service(one) for one in parts(row, "services"))


def _service(row: Row) -> Service:
    health = part(row, "health")
    events = parts(part(row, "events"), "events")
    return Service(
        id=text(row, "id"),
        state=text(row, "state"),
        healthy=None if yes(health, "unknown") else yes(health, "healthy"),
        message=text_or_none(health, "last_message"),
        last_event=text_or_none(events[-1], "msg") if events else "",
    )


def _extension(name: str, row: Row) -> Extension:
    del name
    about = part(row, "metadata")
    return Extension(name=text(about, "name"), version=text_or_none(about, "version"))


def _clock(row: Row) -> ClockReading:
    return ClockReading(
        server=text_or_none(row, "server"),
        local=_moment(seconds(row, "localtime")),
        remote=_moment(seconds(row, "remotetime")),
    )


def _moment(found: float) -> datetime:
    try:
        return datetime.fromtimestamp(found, UTC)
    except (OverflowError, OSError, ValueError):
        raise OddAnswer("no clock shows that time") from None


def _sync(row: Row) -> TimeSync:
    return TimeSync(synced=told_yes(row, "synced"), disabled=yes(row, "syncDisabled"))


def _diagnostic(name: str, row: Row) -> Diagnostic:
    return Diagnostic(id=name, message=text(row, "message"), details=texts(row, "details"))


def _neighbour(name: str, row: Row) -> Neighbour:
    return Neighbour(
        hostname=text_or_none(row, "hostname") or name,
        role=text(row, "machineType"),
        addresses=texts(row, "addresses"),
        operating_system=text_or_none(row, "operatingSystem"),
    )
