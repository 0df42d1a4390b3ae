"""Backups: making them, looking into them, and pruning them."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.storages.access import check_volume_access
from stockman_lab.pve.storages.backing_up import BACK_UP
from stockman_lab.pve.storages.backup_archive import archive_of
from stockman_lab.pve.storages.backup_jobs import (
    check_backup_options,
    check_backup_privileges,
    included_guests,
)
from stockman_lab.pve.storages.paths import folder_of
from stockman_lab.pve.storages.pruning import PRUNE_BACKUPS, prune_list, retention_for

_PRUNE = "/nodes/{node}/storage/{storage}/prunebackups"
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


@endpoint("GET", "/nodes/{node}/vzdump/defaults")
def defaults(call: Call) -> object:
    """What a backup is without being told."""
    name = call.text("storage", "local")
    call.check(f"/storage/{name}", "Datastore.Audit", "Datastore.AllocateSpace", any_of=True)
    storage = space.configured(call.cluster, name)
    if "backup" not in storage.content:
        raise die(f"can't use storage '{name}' for backups - wrong content type")
    found: dict[str, object] = {"storage": name}
    if storage.is_files and call.may(f"/nodes/{call.node.name}", "Sys.Audit"):
        found["dumpdir"] = folder_of(storage, "backup")
    if "prune-backups" in storage.options:
        found["prune-backups"] = storage.options["prune-backups"]
    return found


@endpoint("GET", "/nodes/{node}/vzdump/extractconfig")
def extract(call: Call) -> object:
    volume = call.text("volume")
    parsed = check_volume_access(call, volume, content="backup")
    if parsed.owner is not None:
        call.check(f"/vms/{parsed.owner}", "VM.Backup")
    return archive_of(call.cluster, call.node.name, volume).text


@endpoint("GET", _PRUNE)
def show_prune(call: Call) -> object:
    storage = space.configured(call.cluster, call.text("storage"))
    text = call.text("prune-backups") if call.has("prune-backups") else None
    keep = retention_for(storage, text)
    space.activate(call.cluster, storage.id, call.node)
    wanted = (call.vmid, call.text("type"))
    return [entry.row() for entry in prune_list(call.cluster, storage, call.node, keep, wanted)]


@endpoint("DELETE", _PRUNE)
def prune(call: Call) -> object:
    path = f"/storage/{call.text('storage')}"
    if call.has("vmid"):
        call.check(path, "Datastore.AllocateSpace")
        call.check(f"/vms/{call.vmid}", "VM.Backup")
    else:
        call.check(path, "Datastore.Allocate")
    owner = f"{call.vmid}@" if call.has("vmid") else ""
    arguments: dict[str, object] = {
        "storage": call.text("storage"),
        "vmid": call.vmid,
        "type": call.text("type"),
    }
    if call.has("prune-backups"):
        arguments["keep"] = call.text("prune-backups")
    return call.start("prunebackups", f"{owner}{call.text('storage')}", PRUNE_BACKUPS, arguments)


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
    configured = call.cluster.state.storages.get(storage)
    own = configured.options.get("prune-backups", "") if configured is not None else ""
    options = " ".join(
        f"--{name} {value}" for name, value in call.params.items() if name not in ("node", "vmid")
    )
    return {
        "vmids": mine,
        "storage": storage,
        "mode": call.text("mode", "snapshot"),
        "compress": call.text("compress", "0"),
        "keep": call.text("prune-backups", own),
        "remove": int(call.flag("remove", default=True)),
        "protected": int(call.flag("protected")),
        "notes_template": call.text("notes-template"),
        "command": f"vzdump {' '.join(str(one) for one in mine)} {options}".strip(),
    }
