"""`/nodes/NODE/lxc/VMID/config` and what is pending."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.guest_config.container_update import check_container_update
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.views import pending_container_rows, shown_container
from stockman_lab.pve.lxc.settings import settled_change, update
from stockman_lab.pve.qemu.file_lock import when_unlocked
from stockman_lab.pve.qemu.settings import given_values

_RESTRICTED = "env"


@endpoint("GET", "/nodes/{node}/lxc/{vmid}/config")
def config(call: Call) -> object:
    """The configuration; the environment only for who may change it."""
    current, snapshot = call.flag("current"), call.text("snapshot")
    shown = shown_container(call.guest("lxc").config, current=current, snapshot=snapshot)
    if not _sees_all(call):
        shown.pop(_RESTRICTED, None)
    return shown


@endpoint("GET", "/nodes/{node}/lxc/{vmid}/pending")
def pending(call: Call) -> object:
    rows = pending_container_rows(call.guest("lxc").config)
    return [row for row in rows if row["key"] != _RESTRICTED or _sees_all(call)]


@endpoint("PUT", "/nodes/{node}/lxc/{vmid}/config")
def change(call: Call) -> object:
    """Change the configuration as soon as nobody else does."""
    call.cluster.require_quorum()
    return when_unlocked(call, lambda: _change(call), "lxc")


def _change(call: Call) -> object:
    guest = call.guest("lxc")
    guest_config: GuestConfig = guest.config
    given = given_values(call, ("node", "vmid", "digest"))
    check_container_update(guest_config, call.text("digest"))
    update(call.cluster, guest, settled_change(call, guest_config, given))
    return None


def _sees_all(call: Call) -> bool:
    return call.may(f"/vms/{call.vmid}", "VM.Config.Options")
