"""`/nodes/NODE/qemu`: the list of machines, making one, destroying one."""

from __future__ import annotations

from stockman_lab.pve import guest_ids
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.qemu import creating, destroying
from stockman_lab.pve.qemu.rights import only_for_root
from stockman_lab.pve.qemu.rows import list_row, status_row
from stockman_lab.pve.qemu.settings import given_values, settled_values

_NO_KEYS = frozenset(
    {
        *("node", "vmid", "archive", "bwlimit", "force", "ha-managed", "import-working-storage"),
        *("live-restore", "pool", "start", "storage", "unique"),
    }
)


@endpoint("GET", "/nodes/{node}/qemu")
def machines(call: Call) -> object:
    """Rows of machines that the caller may see."""
    return [
        _row(call, guest)
        for guest in call.cluster.guests_on(call.node.name, "qemu")
        if call.may(f"/vms/{guest.vmid}", "VM.Audit")
    ]


def _row(call: Call, guest: Guest) -> dict[str, object]:
    """A row; `full` tells what the monitor of each machine says, too."""
    if not call.flag("full"):
        return list_row(call.cluster, guest)
    row = status_row(call.cluster, guest)
    del row["ha"]
    return row


@endpoint("GET", "/nodes/{node}/qemu/{vmid}")
def index(call: Call) -> object:
    del call
    names = (
        "config", "cloudinit", "pending", "status", "unlink", "vncproxy", "termproxy", "migrate",
        "resize", "move", "rrd", "rrddata", "monitor", "agent", "snapshot", "spiceproxy",
        "sendkey", "firewall", "mtunnel", "remote_migrate",
    )  # fmt: skip
    return [{"subdir": name} for name in names]


@endpoint("POST", "/nodes/{node}/qemu")
def create(call: Call) -> object:
    """Reserve an id, and let a worker make the machine."""
    if call.has("archive"):
        raise ApiError(501, f"Method 'POST /nodes/{call.text('node')}/qemu' not implemented")
    call.cluster.require_quorum()
    pool = call.text("pool")
    if call.has("pool") and pool not in call.cluster.state.resource_pools:
        raise die(f"pool '{pool}' does not exist")
    if call.has("storage"):
        call.check(f"/storage/{call.text('storage')}", "Datastore.AllocateSpace")
    if call.flag("ha-managed"):
        call.check("/", "Sys.Console")
    if call.flag("start"):
        _check_on_guest(call, pool, "VM.PowerMgmt")
    if not _may_on_guest(call, pool, "VM.Allocate"):
        raise ApiError(403, "Permission check failed")
    settings = settled_values(call, given_values(call, _NO_KEYS), pool)
    guest_ids.reserve(call.cluster, call.node, call.vmid, "qemu")
    arguments = {
        "vmid": call.vmid,
        "settings": settings,
        "pool": pool,
        "start": call.flag("start"),
        "ha-managed": call.flag("ha-managed"),
    }
    return call.start("qmcreate", str(call.vmid), creating.Create.name, arguments)


def _may_on_guest(call: Call, pool: str, privilege: str) -> bool:
    return call.may(f"/vms/{call.vmid}", privilege) or (
        bool(pool) and call.may(f"/pool/{pool}", privilege)
    )


def _check_on_guest(call: Call, pool: str, privilege: str) -> None:
    if not _may_on_guest(call, pool, privilege):
        call.check(f"/vms/{call.vmid}", privilege)


@endpoint("DELETE", "/nodes/{node}/qemu/{vmid}")
def destroy(call: Call) -> object:
    """Let a worker destroy a machine with its disks."""
    only_for_root(call, "skiplock")
    call.cluster.require_quorum()
    guest: Guest = call.guest()
    destroying.check(call.cluster, guest, purge=call.flag("purge"))
    arguments = {
        "vmid": call.vmid,
        "purge": call.flag("purge"),
        "skiplock": call.flag("skiplock"),
        "unreferenced": call.flag("destroy-unreferenced-disks"),
    }
    return call.start("qmdestroy", str(call.vmid), destroying.Destroy.name, arguments)
