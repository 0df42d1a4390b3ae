"""`/nodes/NODE/lxc/VMID/status`: containers that start and stop."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.ha_manager import is_managed
from stockman_lab.pve.lxc import ha_requests, power
from stockman_lab.pve.lxc.rows import status_row
from stockman_lab.pve.qemu.rights import only_for_root

_STATUS = "/nodes/{node}/lxc/{vmid}/status"


@endpoint("GET", f"{_STATUS}/current")
def current(call: Call) -> object:
    return status_row(call.cluster, call.guest("lxc"))


@endpoint("POST", f"{_STATUS}/start")
def start(call: Call) -> object:
    only_for_root(call, "skiplock")
    guest = _stopped(call)
    call.cluster.require_quorum()
    if is_managed(call.cluster, guest):
        return _began(call, "hastart", ha_requests.HaStart.name)
    return _began(call, "vzstart", power.Start.name, "skiplock")


@endpoint("POST", f"{_STATUS}/stop")
def stop(call: Call) -> object:
    only_for_root(call, "skiplock")
    if is_managed(call.cluster, _running(call)):
        if call.flag("overrule-shutdown"):
            raise bad_parameters({"overrule-shutdown": "Not applicable for HA resources."})
        return _began(call, "hastop", ha_requests.HaStop.name, timeout=0)
    return _began(call, "vzstop", power.Stop.name, "skiplock", "overrule-shutdown")


@endpoint("POST", f"{_STATUS}/shutdown")
def shutdown(call: Call) -> object:
    timeout = call.number("timeout", power.Shutdown.default_timeout)
    if is_managed(call.cluster, _running(call)):
        return _began(call, "hastop", ha_requests.HaStop.name, timeout=timeout)
    return _began(call, "vzshutdown", power.Shutdown.name, "forceStop", timeout=timeout)


@endpoint("POST", f"{_STATUS}/reboot")
def reboot(call: Call) -> object:
    _running(call, "VM")  # so says the real one
    timeout = call.number("timeout", power.Reboot.default_timeout)
    return _began(call, "vzreboot", power.Reboot.name, timeout=timeout)


def _began(call: Call, task_type: str, work: str, *flags: str, **more: object) -> str:
    arguments = {"vmid": call.vmid, **more}
    arguments |= {name: 1 for name in flags if call.flag(name)}
    return call.start(task_type, str(call.vmid), work, arguments)


def _running(call: Call, word: str = "CT") -> Guest:
    guest = call.guest("lxc")
    if not guest.is_running:
        raise die(f"{word} {call.vmid} not running")
    return guest


def _stopped(call: Call) -> Guest:
    guest = call.guest("lxc")
    if guest.is_running:
        raise die(f"CT {call.vmid} already running")
    return guest
