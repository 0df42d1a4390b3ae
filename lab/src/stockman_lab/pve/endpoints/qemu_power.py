"""`/nodes/NODE/qemu/VMID/status`: on, off, and how it is doing."""

from __future__ import annotations

from stockman_lab.pve import ha_manager
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.ha_manager import HaStart, HaStop
from stockman_lab.pve.qemu import power_works
from stockman_lab.pve.qemu.rows import status_row
from stockman_lab.pve.qemu.settings import only_for_root

_FOR_ROOT = (
    *("stateuri", "skiplock", "migratedfrom", "migration_type", "migration_network"),
    *("targetstorage", "force-cpu", "with-conntrack-state", "nets-host-mtu"),
)


@endpoint("GET", "/nodes/{node}/qemu/{vmid}/status/current")
def current(call: Call) -> object:
    return status_row(call.cluster, call.guest())


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/status/start")
def start(call: Call) -> object:
    only_for_root(call, *_FOR_ROOT)
    if call.has("targetstorage") and not call.has("migratedfrom"):
        raise bad_parameters({"targetstorage": "targetstorage can only by used with migratedfrom."})
    call.cluster.require_quorum()
    guest = call.guest()
    if _is_managed(call):
        return call.start("hastart", str(guest.vmid), HaStart.name, _arguments(call))
    return call.start("qmstart", str(guest.vmid), power_works.Start.name, _arguments(call))


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/status/stop")
def stop(call: Call) -> object:
    only_for_root(call, "skiplock", "keepActive", "migratedfrom")
    guest = call.guest()
    if _is_managed(call):
        if call.flag("overrule-shutdown"):
            raise bad_parameters({"overrule-shutdown": "Not applicable for HA resources."})
        return _ha_stop(call, 0)
    return call.start("qmstop", str(guest.vmid), power_works.Stop.name, _arguments(call))


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/status/shutdown")
def shutdown(call: Call) -> object:
    only_for_root(call, "skiplock", "keepActive")
    guest = call.guest()
    if guest.paused and not call.flag("forceStop"):
        raise die("VM is paused - cannot shutdown")
    if _is_managed(call):
        return _ha_stop(call, call.number("timeout", 60))
    arguments = _arguments(call) | {"is_paused": guest.paused}
    return call.start("qmshutdown", str(guest.vmid), power_works.Shutdown.name, arguments)


@endpoint("POST", "/nodes/{node}/qemu/{vmid}/status/reboot")
def reboot(call: Call) -> object:
    guest = call.guest()
    if guest.paused:
        raise die("VM is paused - cannot shutdown")
    _require_running(guest)
    return call.start("qmreboot", str(guest.vmid), power_works.Reboot.name, _arguments(call))


def _require_running(guest: Guest) -> None:
    if not guest.is_running:
        raise die(f"VM {guest.vmid} not running")


def _is_managed(call: Call) -> bool:
    return ha_manager.is_managed(call.cluster, call.guest())


def _ha_stop(call: Call, timeout: int) -> str:
    arguments = {"vmid": call.vmid, "timeout": timeout}
    return call.start("hastop", str(call.vmid), HaStop.name, arguments)


def _arguments(call: Call) -> dict[str, object]:
    names = ("timeout", "forceStop", "skiplock", "overrule-shutdown")
    return {"vmid": call.vmid} | {name: call.params[name] for name in names if call.has(name)}
