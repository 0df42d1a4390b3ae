"""Calls on machines."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from stockman.model.errors import Denied, NotFound, StockmanError, Unsupported
from stockman.model.names import MachineAddress, SchematicId
from stockman.model.version import Version
from stockman.talos.api import errors
from stockman.talos.api.calls import (
    MACHINE,
    AnyMachine,
    InvalidAnswer,
    Row,
    build_request,
    get_flag,
    get_optional_text,
    get_required_flag,
    get_row,
    get_rows,
    get_seconds,
    get_text,
    get_texts,
)
from stockman.talos.api.resources import FileCalls, ResourceKind
from stockman.talos.records.machines import (
    ClockReading,
    DiscoveredMember,
    Extension,
    MachineStatus,
    Service,
    TalosVersion,
    TimeSync,
    UnmetCondition,
)
from stockman.talos.records.operations import MaintenanceMachine, RebootMode, ResetRequest

_SYSTEM = ResourceKind(namespace="hardware", type="SystemInformations.hardware.talos.dev")
_STATUS = ResourceKind(namespace="runtime", type="MachineStatuses.runtime.talos.dev")
_EXTENSIONS = ResourceKind(namespace="runtime", type="ExtensionStatuses.runtime.talos.dev")
_BOOT_IDS = ResourceKind(namespace="runtime", type="BootIDs.runtime.talos.dev")
_TIME = ResourceKind(namespace="runtime", type="TimeStatuses.v1alpha1.talos.dev")
_MEMBERS = ResourceKind(namespace="cluster", type="Members.cluster.talos.dev")
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_SCHEMATIC = "schematic"
_IGNORED_EXTENSIONS = frozenset({_SCHEMATIC, "modules.dep"})
"""Entries among the extensions that are none."""


class MachineCalls(FileCalls):
    """What a machine is and how it is."""

    async def version(self, at: AnyMachine) -> TalosVersion:
        """Which Talos runs."""
        return await self._read(f"{MACHINE}/Version", at, _version)

    async def machine_status(self, at: AnyMachine) -> MachineStatus:
        """How far the machine is."""
        return await self._resource(at, _STATUS, "machine", _status)

    async def is_in_maintenance(self, at: MaintenanceMachine) -> bool:
        """Whether a machine waits for its configuration; False: it has one, or is still booting."""
        try:
            status = await self.machine_status(at)
        except (Denied, NotFound):
            # One with a configuration asks for a certificate; one that boots has no stage yet.
            return False
        return status.stage == "maintenance"

    async def system_uuid(self, at: AnyMachine) -> UUID:
        """The UUID that its firmware tells: that of its VM."""
        return await self._resource(at, _SYSTEM, "systeminformation", _uuid)

    async def services(self, node: MachineAddress) -> tuple[Service, ...]:
        """All services, by name."""
        return await self._read(f"{MACHINE}/ServiceList", node, _services)

    async def boot_id(self, node: MachineAddress) -> str:
        """Another one after every boot. `Denied` for others than admins before Talos 1.14."""
        try:
            found = (await self.read_file(node, _BOOT_ID)).decode("ascii", "replace").strip()
        except Denied as denied:
            return await self._readable_boot_id(node, denied)
        if not found:
            raise self._odd(f"{MACHINE}/Read", node, f"{_BOOT_ID} is empty")
        return found

    async def extensions(self, node: MachineAddress) -> tuple[Extension, ...]:
        """Extensions of the image that was booted, without its schematic."""
        found = await self._resources(node, _EXTENSIONS, _extension)
        return tuple(one for one in found if one.name not in _IGNORED_EXTENSIONS)

    async def schematic(self, node: MachineAddress) -> SchematicId | None:
        """What the image was made of. None: it does not come from an Image Factory."""
        found = await self._resources(node, _EXTENSIONS, _extension)
        named = {one.version for one in found if one.name == _SCHEMATIC}
        if len(named) > 1:
            raise self._odd("State/List", node, "several schematics are named")
        return SchematicId(named.pop()) if named else None

    async def clock_reading(self, node: MachineAddress) -> ClockReading:
        """The clocks of the machine and of its time server."""
        return await self._read("time.TimeService/Time", node, _clock_reading)

    async def time_sync(self, node: MachineAddress) -> TimeSync:
        """Whether the clock is in sync."""
        return await self._resource(node, _TIME, "node", _time_sync)

    async def neighbours(self, node: MachineAddress) -> tuple[DiscoveredMember, ...]:
        """All members of the cluster that discovery has found, the machine itself too."""
        return await self._resources(node, _MEMBERS, _cluster_member)

    async def _readable_boot_id(self, node: MachineAddress, denied: StockmanError) -> str:
        try:
            return await self._resource(
                node, _BOOT_IDS, "boot-id", lambda row: get_text(row, "bootID")
            )
        except Unsupported:
            raise denied from None


def _version(row: Row) -> TalosVersion:
    version, platform = get_row(row, "version"), get_row(row, "platform")
    tag = get_text(version, "tag")
    try:
        Version.parse(tag)
    except ValueError:
        raise InvalidAnswer(f"{tag!r} is no version") from None
    return TalosVersion(
        tag=tag,
        platform=get_text(platform, "name"),
        mode=get_text(platform, "mode"),
        architecture=get_optional_text(version, "arch"),
    )


def _status(row: Row) -> MachineStatus:
    status = get_row(row, "status")
    found = MachineStatus(
        stage=get_text(row, "stage"),
        ready=get_required_flag(status, "ready"),
        unmet=tuple(
            UnmetCondition(name=get_text(one, "name"), reason=get_optional_text(one, "reason"))
            for one in get_rows(status, "unmetConditions")
        ),
    )
    if found.ready and found.unmet:
        raise InvalidAnswer("it is ready, and yet conditions are not met")
    return found


def _uuid(row: Row) -> UUID:
    found = get_text(row, "uuid")
    try:
        return UUID(found)
    except ValueError:
        raise InvalidAnswer(f"{found!r} is no UUID") from None


def _services(row: Row) -> tuple[Service, ...]:
    return tuple(_service(one) for one in get_rows(row, "services"))


def _service(row: Row) -> Service:
    health = get_row(row, "health")
    events = get_rows(get_row(row, "events"), "events")
    return Service(
        id=get_text(row, "id"),
        state=get_text(row, "state"),
        healthy=None if get_flag(health, "unknown") else get_flag(health, "healthy"),
        message=get_optional_text(health, "last_message"),
        last_event=get_optional_text(events[-1], "msg") if events else "",
    )


def _extension(name: str, row: Row) -> Extension:
    del name
    about = get_row(row, "metadata")
    return Extension(name=get_text(about, "name"), version=get_optional_text(about, "version"))


def _clock_reading(row: Row) -> ClockReading:
    return ClockReading(
        server=get_optional_text(row, "server"),
        local=_parse_time(get_seconds(row, "localtime")),
        remote=_parse_time(get_seconds(row, "remotetime")),
    )


def _parse_time(found: float) -> datetime:
    try:
        return datetime.fromtimestamp(found, UTC)
    except (OverflowError, OSError, ValueError):
        raise InvalidAnswer("no clock shows that time") from None


def _time_sync(row: Row) -> TimeSync:
    return TimeSync(synced=get_required_flag(row, "synced"), disabled=get_flag(row, "syncDisabled"))


def _cluster_member(name: str, row: Row) -> DiscoveredMember:
    return DiscoveredMember(
        hostname=get_optional_text(row, "hostname") or name,
        role=get_text(row, "machineType"),
        addresses=get_texts(row, "addresses"),
        operating_system=get_optional_text(row, "operatingSystem"),
    )


_REBOOT = f"{MACHINE}/Reboot"
_FORCE_SINCE = Version(1, 12)


class PowerCalls(MachineCalls):
    """Sequences that take a machine down; each returns the id of its actor at once."""

    async def reboot(self, node: MachineAddress, mode: RebootMode = RebootMode.DEFAULT) -> str:
        """Boot again. `Unsupported` where this Talos does not know the mode."""
        if mode is RebootMode.FORCE:
            await self._need_force(node)
        return self._actor(_REBOOT, node, await self._change(_REBOOT, node, {"mode": mode.name}))

    async def shut_down(self, node: MachineAddress, *, force: bool = False) -> str:
        """Switch off; without `force` pods are moved away first."""
        method = f"{MACHINE}/Shutdown"
        return self._actor(method, node, await self._change(method, node, {"force": force}))

    async def reset(self, node: MachineAddress, reset: ResetRequest) -> str:
        """Wipe disks or partitions."""
        method = f"{MACHINE}/Reset"
        fields = {
            "graceful": reset.graceful,
            "reboot": reset.reboot,
            "mode": reset.mode.name,
            "system_partitions_to_wipe": [
                {"label": label, "wipe": True} for label in reset.partitions
            ],
            "user_disks_to_wipe": list(reset.user_disks),
        }
        return self._actor(method, node, await self._change(method, node, fields))

    async def roll_back(self, node: MachineAddress) -> None:
        """Boot what was installed before."""
        await self._change(f"{MACHINE}/Rollback", node)

    async def _need_force(self, node: MachineAddress) -> None:
        """A Talos that does not know the mode would boot in the usual one, and not say so."""
        version = await self.version(node)
        if version.parsed.line < _FORCE_SINCE.line:
            told = f"Talos {version.tag} has no forced reboot; it came with {_FORCE_SINCE}"
            raise Unsupported(errors.unimplemented_problem(build_request(_REBOOT, node), told))

    def _actor(self, method: str, node: MachineAddress, row: Row) -> str:
        found = row.get("actor_id")
        if not isinstance(found, str) or not found:
            raise self._odd(method, node, "actor_id is not told")
        return found
