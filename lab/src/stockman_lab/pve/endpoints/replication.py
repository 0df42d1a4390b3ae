"""`/cluster/replication` and `/nodes/NODE/replication`: copies of guests on other hosts."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.storages import replication

_FILE = "file-replication_cfg"
_NODE_JOB = "/nodes/{node}/replication/{id}"


@endpoint("GET", "/cluster/replication")
def jobs(call: Call) -> object:
    found = sorted(replication.jobs(call.cluster).items())
    return [replication.job_row(job) for name, job in found if _may_see(call, name)]


@endpoint("POST", "/cluster/replication")
def create(call: Call) -> object:
    name, target = call.text("id"), call.text("target")
    vmid, number = replication.split_id(name)
    name = f"{vmid}-{number}"
    _check_change(call, vmid)
    state = call.cluster.state
    guest = state.guests.get(vmid)
    if guest is None:
        raise die(f"Guest '{vmid}' does not exist.")
    if target not in state.hosts:
        raise die(f"Target '{target}' does not exist.")
    source = call.text("source", guest.node)
    if source != guest.node:
        raise die(f"Source '{source}' does not match current node of guest '{vmid}' ({guest.node})")
    if target == source:
        raise die("Source and target must not be identical")
    if not replication.replicable_volumes(call.cluster, guest):
        raise die("No replicatable volumes found")
    call.cluster.require_quorum(_FILE)
    existing = replication.jobs(call.cluster)
    if name in existing:
        raise die(f"replication job '{name}' already exists")
    for other in existing.values():
        if replication.split_id(other.id)[0] == vmid and other.options["target"] == target:
            where = f"local/{target}"
            raise die(f"replication job for guest '{vmid}' to target '{where}' already exists")
    texts = {key: call.text(key) for key in replication.OPTIONS if call.has(key)}
    texts |= {"target": target, "source": source}
    state.replication[name] = replication.new_job(call.cluster, name, texts)
    call.cluster.changed()
    return None


@endpoint("GET", "/cluster/replication/{id}")
def read(call: Call) -> object:
    job = _job(call)
    call.check(f"/vms/{replication.split_id(job.id)[0]}", "VM.Audit")
    return replication.job_row(job) | {"digest": replication.config_digest(call.cluster)}


@endpoint("PUT", "/cluster/replication/{id}")
def update(call: Call) -> object:
    vmid, _ = replication.split_id(call.text("id"))
    _check_change(call, vmid)
    call.cluster.require_quorum(_FILE)
    text = call.text("digest")
    if text and text != replication.config_digest(call.cluster):
        raise die("detected modified configuration - file changed by other user? Try again.")
    job = replication.jobs(call.cluster).get(call.text("id"))
    if job is None:
        raise die(f"no such job '{call.text('id')}'")
    delete = split_list(call.text("delete"))
    for key in delete:
        if key == "target":
            raise die("unable to delete required option 'target'")
        if key not in replication.OPTIONS:
            raise die(f"no such option '{key}'")
    job.options |= {key: call.text(key) for key in replication.OPTIONS if call.has(key)}
    for key in delete:
        job.options.pop(key, None)
    call.cluster.changed()
    return None


@endpoint("DELETE", "/cluster/replication/{id}")
def delete(call: Call) -> object:
    """Remove a job: at once by force, else after it has cleaned up."""
    name = call.text("id")
    vmid, _ = replication.split_id(name)
    _check_change(call, vmid)
    call.cluster.require_quorum(_FILE)
    found = replication.jobs(call.cluster)
    if call.flag("force"):
        if call.flag("keep"):
            raise bad_parameters({"keep": "conflicts with parameter 'force'"})
        found.pop(name, None)
    elif name not in found:
        raise die(f"no such job '{name}'")
    else:
        how = "local" if call.flag("keep") else "full"
        replication.mark_removed(call.cluster, found[name], how)
    call.cluster.changed()
    return None


@endpoint("GET", "/nodes/{node}/replication")
def statuses(call: Call) -> object:
    number = call.number("guest")
    return [
        row
        for row in _status_rows(call)
        if (not number or row["guest"] == number) and _may_see(call, str(row["id"]))
    ]


@endpoint("GET", f"{_NODE_JOB}/status")
def status(call: Call) -> object:
    for row in _status_rows(call):
        if row["id"] == call.text("id"):
            call.check(f"/vms/{row['guest']}", "VM.Audit")
            return row
    raise die(f"no such replication job '{call.text('id')}'")


@endpoint("POST", f"{_NODE_JOB}/schedule_now")
def schedule_now(call: Call) -> object:
    vmid, _ = replication.split_id(call.text("id"))
    _check_change(call, vmid)
    replication.run_soon(call.cluster, _job(call))
    return None


def _job(call: Call) -> Section:
    job = replication.jobs(call.cluster).get(call.text("id"))
    if job is None:
        raise die(f"no such replication job '{call.text('id')}'")
    return job


def _may_see(call: Call, job: str) -> bool:
    return call.may(f"/vms/{replication.split_id(job)[0]}", "VM.Audit")


def _check_change(call: Call, vmid: int) -> None:
    if call.cluster.is_nine:
        call.check(f"/vms/{vmid}", "VM.Replicate")
    else:
        call.check("/storage", "Datastore.Allocate")


def _status_rows(call: Call) -> Iterator[dict[str, object]]:
    for name, job in sorted(replication.jobs(call.cluster).items()):
        guest = call.cluster.state.guests.get(replication.split_id(name)[0])
        if guest is not None and guest.node == call.node.name:
            yield replication.status_row(call.cluster, job, guest)
