"""`/nodes/NODE/qemu/VMID/migrate`: whether and how a machine goes to another host."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_ids import replication_jobs
from stockman_lab.pve.ha_manager import HaMigrate, is_managed
from stockman_lab.pve.host import Host
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.migrating import (
    Migrate,
    bound_to_host,
    check_storages,
    held_while_running,
    is_live,
    is_mapped_on,
    local_disks,
    mapped_resources,
    parse_storage_map,
)
from stockman_lab.pve.qemu.power import shelf_of
from stockman_lab.pve.qemu.settings import only_for_root


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/migrate")
def precondition(call: Call) -> object:
    """What stands in the way of a migration, host by host."""
    call.cluster.require_quorum()
    guest = call.guest()
    call.cluster.refuse_locked(guest)
    values = guest.config.values
    mapped, mappings = mapped_resources(values), call.cluster.state.mappings
    allowed, refused = [], {}
    for name in call.cluster.state.hosts:
        if name == guest.node:
            continue
        missing = _missing(call, guest, name)
        if missing:
            refused[name] = missing
        else:
            allowed.append(name)
    found: dict[str, object] = {
        "running": int(guest.is_running),
        "allowed_nodes": allowed,
        "not_allowed_nodes": refused,
        "local_disks": _local_disks(call, guest),
        "local_resources": sorted({*bound_to_host(values), *_held_by_mappings(call, guest)}),
        "mapped-resources": sorted(mapped),
        "mapped-resource-info": {
            key: {"name": name} | ({"live-migration": 1} if is_live(mappings, kind, name) else {})
            for key, (kind, name) in mapped.items()
        },
    }
    if call.cluster.is_nine:
        found["has-dbus-vmstate"] = 1
    if is_managed(call.cluster, guest):
        found["dependent-ha-resources"] = []
    return found


def _held_by_mappings(call: Call, guest: Guest) -> list[str]:
    """Mapped devices that are told as local: those of USB always, of PCI while it runs."""
    found = held_while_running(guest.config.values, call.cluster.state.mappings)
    return [key for key in found if guest.is_running or key.startswith("usb")]


def _missing(call: Call, guest: Guest, host: str) -> dict[str, list[str]]:
    missing: dict[str, list[str]] = {}
    storages = {
        storage_of(drive.volume) for drive in drives_of(guest.config.values) if drive.volume
    }
    gone = [name for name in sorted(storages) if not _is_there(call, name, host)]
    if gone:
        missing["unavailable_storages"] = gone
    mapped = mapped_resources(guest.config.values)
    devices = [
        key
        for key, (kind, name) in mapped.items()
        if not is_mapped_on(call.cluster.state.mappings, kind, name, host)
    ]
    if devices:
        missing["unavailable-resources"] = devices
    return missing


def _is_there(call: Call, storage: str, host: str) -> bool:
    found = call.cluster.state.storages.get(storage)
    return found is not None and found.is_enabled and found.is_on(host)


def _local_disks(call: Call, guest: Guest) -> list[dict[str, object]]:
    return [
        {
            "volid": disk.volid,
            "size": disk.size,
            "cdrom": int(disk.is_cdrom),
            "is_unused": int(disk.is_unused),
            "drivename": disk.key,
        }
        for disk in local_disks(shelf_of(call.cluster, guest), guest)
    ]


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/migrate")
def migrate(call: Call) -> object:
    """Let a worker bring a machine to another host."""
    name = call.text("target")
    if name == call.node.name:
        raise bad_parameters({"target": "target is local node."})
    call.cluster.require_quorum()
    target = call.cluster.state.hosts.get(name)
    if target is None:
        raise die(f"no such cluster node '{name}'")
    only_for_root(call, "force", "migration_type", "migration_network")
    guest = call.guest()
    call.cluster.refuse_locked(guest)
    if guest.is_running:
        _check_running(call, guest, name)
    _check_storages(call, guest, target)
    if is_managed(call.cluster, guest):
        arguments = {"vmid": guest.vmid, "target": name}
        return call.start("hamigrate", str(guest.vmid), HaMigrate.name, arguments)
    names = ("vmid", "target", "online", "with-local-disks", "targetstorage", "force")
    arguments = {one: call.params[one] for one in names if call.has(one)}
    return call.start("qmigrate", str(guest.vmid), Migrate.name, arguments)


def _check_running(call: Call, guest: Guest, target: str) -> None:
    if not call.flag("online"):
        raise die("can't migrate running VM without --online")
    jobs = replication_jobs(call.cluster, guest.vmid)
    targets = {call.cluster.state.replication[job].options.get("target") for job in jobs}
    if jobs and target not in targets and not call.flag("force"):
        raise die(
            f"Cannot live-migrate replicated VM to node '{target}' - not a replication target."
            " Use 'force' to override."
        )


def _check_storages(call: Call, guest: Guest, target: Host) -> None:
    if not call.has("targetstorage"):
        check_storages(call.cluster, guest, target)
        return
    storage_map = parse_storage_map(call.text("targetstorage"))
    if not storage_map.identity:
        call.check(f"/vms/{guest.vmid}", "VM.Config.Disk")
    for name in (
        *storage_map.entries.values(),
        *([storage_map.default] if storage_map.default else []),
    ):
        storage = space.usable(call.cluster, name, target)
        call.check(f"/storage/{name}", "Datastore.AllocateSpace")
        if "images" not in storage.content:
            raise die(f"storage '{name}' does not support vm images")
    if storage_map.identity:
        check_storages(call.cluster, guest, target)
