"""Backups: making them, looking into them, and pruning them."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.storages.access import check_volume_access
from stockman_lab.pve.storages.backing_up import BACK_UP
from stockman_lab.pve.storages.backup_archive import archive_of
from stockman_lab.pve.storages.backup_jobs import (
    check_backup_options,
    check_backup_privileges,
    included_guests,
)

_NOTHING = "OK"


@endpoint("POST", "/nodes/{node}/vzdump")
def back_up(call: Call) -> object:
    """Back up guests of a host; those of others are left to their hosts."""
    given = {name: str(value) for name, value in call.params.items() if name != "node"}
    if call.flag("stdout"):
        raise bad_parameters({"stdout": "option is only allowed on the command line interface."})
    check_backup_privileges(call, given)
    storage = given.get("storage", "local")
    if "prune-backups" in given and not call.caller.is_root:
        call.check(f"/storage/{storage}", "Datastore.Allocate")
    check_backup_options(given, is_complete=True)
    vmids = included_guests(call.cluster, given)
    here = [vmid for vmid in vmids if _is_here(call, vmid)]
    if call.flag("stop"):
        call.check(f"/nodes/{call.node.name}", "Sys.Modify")
        if not here:
            return _NOTHING
    if not here and not call.flag("all"):
        return _NOTHING
    call.check(f"/storage/{storage}", "Datastore.AllocateSpace")
    return call.start("vzdump", str(here[0]) if len(here) == 1 else "", BACK_UP,
                      _arguments(call, storage, here))  # fmt: skip


@endpoint("GET", "/nodes/{node}/vzdump/extractconfig")
def extract(call: Call) -> object:
    volume = call.text("volume")
    parsed = check_volume_access(call, volume, content="backup")
    if parsed.owner is not None:
        call.check(f"/vms/{parsed.owner}", "VM.Backup")
    return archive_of(call.cluster, call.node.name, volume).text


def _is_here(call: Call, vmid: int) -> bool:
    """Whether a guest is on this host, or nowhere: then the task says so."""
    guest = call.cluster.state.guests.get(vmid)
    return guest is None or guest.node == call.node.name


def _arguments(call: Call, storage: str, here: list[int]) -> dict[str, object]:
    mine = []
    for vmid in here:
        path = f"/vms/{vmid}"
        if call.flag("all") and not call.may(path, "VM.Backup"):
            continue
        if vmid in call.cluster.state.guests:
            call.check(path, "VM.Backup")
        mine.append(vmid)
    options = " ".join(
        f"--{name} {value}" for name, value in call.params.items() if name not in ("node", "vmid")
    )
    return {
        "vmids": mine,
        "storage": storage,
        "mode": call.text("mode", "snapshot"),
        "compress": call.text("compress", "0"),
        "protected": int(call.flag("protected")),
        "notes_template": call.text("notes-template"),
        "command": f"vzdump {' '.join(str(one) for one in mine)} {options}".strip(),
    }
