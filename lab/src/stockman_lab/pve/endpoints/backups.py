"""`/cluster/backup`, `/cluster/backup-info` and `vzdump`: backup jobs and backups."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.storages.backing_up import BACK_UP, archive_of
from stockman_lab.pve.storages.backup_jobs import (
    check_backup_options,
    check_backup_privileges,
    guests_of_backup,
    job_row,
    with_schedule,
    written,
)
from stockman_lab.pve.storages.removing import check_volume_access

_FILE = "file-jobs_cfg"


@endpoint("GET", "/cluster/backup")
def jobs(call: Call) -> object:
    state = call.cluster.state
    return [job_row(call.cluster, job, with_next=True) for job in state.backup_jobs.values()]


@endpoint("POST", "/cluster/backup")
def create(call: Call) -> object:
    given = {name: written(name, value) for name, value in call.params.items()}
    check_backup_privileges(call, given)
    _check_storage(call, given.get("storage", "local"))
    _check_pool(call, given)
    options = with_schedule(given, is_new=True)
    options.setdefault("enabled", "1")
    name = options.pop("id", "") or call.cluster.around.dice.uuid()
    call.cluster.require_quorum(_FILE)
    if name in call.cluster.state.backup_jobs:
        raise die(f"Job '{name}' already exists")
    check_backup_options(options, is_complete=True)
    if "exclude" in options and "pool" not in options:
        options["all"] = "1"
    call.cluster.state.backup_jobs[name] = Section(name, "vzdump", options)
    call.cluster.changed()
    return None


@endpoint("GET", "/cluster/backup/{id}")
def read(call: Call) -> object:
    return job_row(call.cluster, _job(call))


@endpoint("PUT", "/cluster/backup/{id}")
def update(call: Call) -> object:
    name = call.text("id")
    given = {
        key: written(key, value)
        for key, value in call.params.items()
        if key not in ("id", "delete")
    }
    delete = split_list(call.text("delete"))
    check_backup_privileges(call, given | dict.fromkeys(delete, ""))
    if "storage" in given:
        _check_storage(call, given["storage"])
    _check_pool(call, given)
    changes = with_schedule(given, is_new=False)
    call.cluster.require_quorum(_FILE)
    if not changes and not delete:
        raise die("no options specified")
    check_backup_options(changes, is_complete=False)
    job = call.cluster.state.backup_jobs.get(name)
    if job is None:
        raise die("no such vzdump job")
    _check_storage(call, job.options.get("storage", "local"))
    known = Schema.of(call.cluster.state.profile).operation("POST", "/cluster/backup").parameters
    for key in delete:
        if key not in known or key in ("id", "schedule", "enabled", "starttime", "dow"):
            raise bad_parameters({"delete": f"unknown option '{key}'"})
    options = {key: value for key, value in job.options.items() if key not in delete} | changes
    options = _one_selection(options, changes)
    check_backup_options(options, is_complete=True)
    job.options = options
    call.cluster.changed()
    return None


@endpoint("DELETE", "/cluster/backup/{id}")
def delete(call: Call) -> object:
    call.cluster.require_quorum(_FILE)
    job = _job(call)
    del call.cluster.state.backup_jobs[job.id]
    call.cluster.changed()
    return None


def _job(call: Call) -> Section:
    backup_job = call.cluster.state.backup_jobs.get(call.text("id"))
    if backup_job is None:
        raise bad_parameters({"id": f"No such job '{call.text('id')}'"})
    return backup_job


def _check_storage(call: Call, storage: str) -> None:
    if not call.caller.is_root:
        call.check(f"/storage/{storage}", "Datastore.Allocate")


def _check_pool(call: Call, given: dict[str, str]) -> None:
    pool = given.get("pool")
    if not pool:
        return
    if pool not in call.cluster.state.resource_pools:
        raise die(f"pool '{pool}' does not exist")
    call.check(f"/pool/{pool}", "VM.Backup")


def _one_selection(options: dict[str, str], changes: dict[str, str]) -> dict[str, str]:
    """Options in which guests are chosen in one way: the one that was set last."""
    if "exclude" in options and "pool" not in options:
        options["all"] = "1"
    gone: tuple[str, ...] = ()
    if "vmid" in changes:
        gone = ("all", "exclude", "pool")
    elif changes.get("all", "0") != "0":
        gone = ("vmid", "pool")
    elif options.get("pool"):
        gone = ("vmid", "all", "exclude")
    return {key: value for key, value in options.items() if key not in gone}


def _may_see(call: Call, vmid: int) -> bool:
    return call.may(f"/vms/{vmid}", "VM.Audit")


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
    vmids = guests_of_backup(call.cluster, given)
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
