"""Calls about machines: state, power, network and disks."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from stockman.model.errors import Denied, NotFound, StockmanError, Unsupported
from stockman.model.names import Mac, MachineAddress, SchematicId
from stockman.model.version import Version
from stockman.talos.api.calls import (
    MACHINE,
    AnyMachine,
    ApiCalls,
    InvalidAnswer,
    ResourceKind,
    Row,
    build_request,
    get_flag,
    get_number,
    get_optional_text,
    get_required_flag,
    get_row,
    get_rows,
    get_seconds,
    get_text,
    get_texts,
    invalid_answer,
)
from stockman.talos.api.errors import talos_problem
from stockman.talos.records.machines import (
    ClockReading,
    DiscoveredMember,
    Disk,
    Extension,
    Link,
    LinkAddress,
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
"""Entries in the list of extensions that are not extensions."""


class MachineCalls(ApiCalls):
    """Version, state, services and extensions of a machine."""

    async def version(self, at: AnyMachine) -> TalosVersion:
        """Return the running Talos."""
        return await self._read(f"{MACHINE}/Version", at, _version)

    async def machine_status(self, at: AnyMachine) -> MachineStatus:
        """Return stage and readiness of the machine."""
        return await self._resource(at, _STATUS, "machine", _status)

    async def is_in_maintenance(self, at: MaintenanceMachine) -> bool:
        """Whether a machine waits for its configuration; False: it has one, or is booting."""
        try:
            status = await self.machine_status(at)
        except (Denied, NotFound):
            # A configured machine requires a certificate; a booting machine has no stage yet.
            return False
        return status.stage == "maintenance"

    async def system_uuid(self, at: AnyMachine) -> UUID:
        """Return the UUID of its firmware, which is that of its VM."""
        return await self._resource(at, _SYSTEM, "systeminformation", _uuid)

    async def services(self, node: MachineAddress) -> tuple[Service, ...]:
        """Return all services, by name."""
        return await self._read(f"{MACHINE}/ServiceList", node, _services)

    async def boot_id(self, node: MachineAddress) -> str:
        """Return the ID of the current boot; before Talos 1.14 only administrators may read it."""
        try:
            content = await self.read_file(node, _BOOT_ID)
        except Denied as denied:
            return await self._boot_id_resource(node, denied)
        boot_id = content.decode("ascii", "replace").strip()
        if not boot_id:
            raise invalid_answer(f"{MACHINE}/Read", node, f"{_BOOT_ID} is empty")
        return boot_id

    async def extensions(self, node: MachineAddress) -> tuple[Extension, ...]:
        """Return the extensions of the booted image, without its schematic."""
        extensions = await self._resources(node, _EXTENSIONS, _extension)
        return tuple(
            extension for extension in extensions if extension.name not in _IGNORED_EXTENSIONS
        )

    async def schematic(self, node: MachineAddress) -> SchematicId | None:
        """Return the schematic of the image. None: it is not from an image factory."""
        extensions = await self._resources(node, _EXTENSIONS, _extension)
        ids = {extension.version for extension in extensions if extension.name == _SCHEMATIC}
        if len(ids) > 1:
            raise invalid_answer("State/List", node, "it lists several schematics")
        return SchematicId(ids.pop()) if ids else None

    async def clock_reading(self, node: MachineAddress) -> ClockReading:
        """Return the clocks of the machine and of its time server."""
        return await self._read("time.TimeService/Time", node, _clock_reading)

    async def time_sync(self, node: MachineAddress) -> TimeSync:
        """Return whether the clock is synchronized."""
        return await self._resource(node, _TIME, "node", _time_sync)

    async def neighbours(self, node: MachineAddress) -> tuple[DiscoveredMember, ...]:
        """Return all discovered members of the cluster, including the machine itself."""
        return await self._resources(node, _MEMBERS, _cluster_member)

    async def _boot_id_resource(self, node: MachineAddress, denied: StockmanError) -> str:
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
        raise InvalidAnswer(f"{tag!r} is not a version") from None
    return TalosVersion(
        tag=tag,
        platform=get_text(platform, "name"),
        mode=get_text(platform, "mode"),
        architecture=get_optional_text(version, "arch"),
    )


def _status(row: Row) -> MachineStatus:
    status = get_row(row, "status")
    machine = MachineStatus(
        stage=get_text(row, "stage"),
        ready=get_required_flag(status, "ready"),
        unmet=tuple(
            UnmetCondition(name=get_text(item, "name"), reason=get_optional_text(item, "reason"))
            for item in get_rows(status, "unmetConditions")
        ),
    )
    if machine.ready and machine.unmet:
        raise InvalidAnswer("it is ready, but conditions are not met")
    return machine


def _uuid(row: Row) -> UUID:
    text = get_text(row, "uuid")
    try:
        return UUID(text)
    except ValueError:
        raise InvalidAnswer(f"{text!r} is not a UUID") from None


def _services(row: Row) -> tuple[Service, ...]:
    return tuple(_service(service) for service in get_rows(row, "services"))


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
    metadata = get_row(row, "metadata")
    version = get_optional_text(metadata, "version")
    return Extension(name=get_text(metadata, "name"), version=version)


def _clock_reading(row: Row) -> ClockReading:
    return ClockReading(
        server=get_optional_text(row, "server"),
        local=_parse_time(get_seconds(row, "localtime")),
        remote=_parse_time(get_seconds(row, "remotetime")),
    )


def _parse_time(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise InvalidAnswer(f"{seconds} is not a valid time") from None


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
    """Sequences that stop a machine; each returns the ID of its actor immediately."""

    async def reboot(self, node: MachineAddress, mode: RebootMode = RebootMode.DEFAULT) -> str:
        """Reboot; raises Unsupported if this Talos does not know the mode."""
        if mode is RebootMode.FORCE:
            await self._require_force(node)
        return self._actor(_REBOOT, node, await self._change(_REBOOT, node, {"mode": mode.name}))

    async def shut_down(self, node: MachineAddress, *, force: bool = False) -> str:
        """Shut down; without `force` the node is drained first."""
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
        """Boot the previously installed system."""
        await self._change(f"{MACHINE}/Rollback", node)

    async def _require_force(self, node: MachineAddress) -> None:
        """Raise Unsupported for a Talos that would silently use another mode."""
        version = await self.version(node)
        if version.parsed.line < _FORCE_SINCE.line:
            why = f"Talos {version.tag} has no forced reboot; {_FORCE_SINCE} added it"
            shown = build_request(_REBOOT, node).shown
            raise Unsupported(talos_problem("talos.no-such-call", shown, why))

    def _actor(self, method: str, node: MachineAddress, row: Row) -> str:
        try:
            return get_text(row, "actor_id")
        except InvalidAnswer as error:
            raise invalid_answer(method, node, str(error)) from None


_HOSTNAME = ResourceKind(namespace="network", type="HostnameStatuses.net.talos.dev")
_ADDRESSES = ResourceKind(namespace="network", type="AddressStatuses.net.talos.dev")
_LINKS = ResourceKind(namespace="network", type="LinkStatuses.net.talos.dev")
_DISKS = ResourceKind(namespace="runtime", type="Disks.block.talos.dev")
_SYSTEM_DISK = ResourceKind(namespace="runtime", type="SystemDisks.block.talos.dev")


class NetworkCalls(ApiCalls):
    """The network of a machine."""

    async def hostname(self, node: MachineAddress) -> str:
        """Return the hostname of the machine."""
        return await self._resource(
            node, _HOSTNAME, "hostname", lambda row: get_text(row, "hostname")
        )

    async def addresses(self, node: MachineAddress) -> tuple[LinkAddress, ...]:
        """Return all addresses, including a virtual IP that the machine holds."""
        return await self._resources(node, _ADDRESSES, _address)

    async def links(self, at: AnyMachine) -> tuple[Link, ...]:
        """Return all links, by name."""
        return await self._resources(at, _LINKS, _link)


class DiskCalls(ApiCalls):
    """The disks of a machine."""

    async def disks(self, at: AnyMachine) -> tuple[Disk, ...]:
        """Return all disks and drives, by path."""
        return await self._resources(at, _DISKS, _disk)

    async def system_disk(self, node: MachineAddress) -> str | None:
        """Return the disk of the installation, `/dev/sda`. None: Talos runs in memory."""
        try:
            return await self._resource(
                node, _SYSTEM_DISK, "system-disk", lambda row: get_text(row, "devPath")
            )
        except NotFound:
            return None


def _address(name: str, row: Row) -> LinkAddress:
    del name
    return LinkAddress(address=get_text(row, "address"), link=get_text(row, "linkName"))


def _link(name: str, row: Row) -> Link:
    return Link(
        name=name,
        kind=get_optional_text(row, "kind"),
        type=get_text(row, "type"),
        mac=Mac(_own_mac(row).lower()),
        mtu=get_number(row, "mtu"),
        state=get_text(row, "operationalState"),
        has_carrier=get_required_flag(row, "linkState"),
        bus_path=get_optional_text(row, "busPath"),
        driver=get_optional_text(row, "driver"),
        vlan=get_number(get_row(row, "vlan"), "vlanID") if row.get("vlan") else None,
    )


def _own_mac(row: Row) -> str:
    """Return the permanent address of a card; all cards of a bond show the same other address."""
    shown, own = get_optional_text(row, "hardwareAddr"), get_optional_text(row, "permanentAddr")
    is_card = not get_optional_text(row, "kind")
    return own if is_card and own.strip("0:") else shown


def _disk(name: str, row: Row) -> Disk:
    del name
    return Disk(
        path=get_text(row, "dev_path"),
        size=get_number(row, "size"),
        model=get_optional_text(row, "model"),
        serial=get_optional_text(row, "serial"),
        wwid=get_optional_text(row, "wwid"),
        transport=get_optional_text(row, "transport"),
        read_only=get_flag(row, "readonly"),
        is_cdrom=get_flag(row, "cdrom"),
    )
