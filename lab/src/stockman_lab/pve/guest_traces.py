"""What is known of a guest outside of its own configuration, and goes with it."""

from __future__ import annotations

from stockman_lab.pve.access.acl import forget_path
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.workers import Job

_WORDS = {"qemu": "VM", "lxc": "CT"}


def refuse_needed(cluster: Cluster, guest: Guest) -> None:
    """Refuse to destroy a guest that high availability or replication still knows."""
    if _sid(guest) in cluster.state.ha_resources:
        raise die(
            f"unable to remove {_WORDS[guest.kind]} {guest.vmid} - used in HA resources and purge"
            " parameter not set."
        )
    for replicated in replication_jobs(cluster, guest.vmid):
        raise die(
            f"There is a replication job '{replicated}' for guest '{guest.vmid}' - Please remove"
            " that first."
        )


def replication_jobs(cluster: Cluster, vmid: int) -> list[str]:
    """Jobs that replicate a guest, by id."""
    return [job for job in cluster.state.replication if job.rpartition("-")[0] == str(vmid)]


def forget_traces(job: Job, guest: Guest) -> None:
    """Take a guest out of rights, pools and firewalls, and where that was asked for, of more."""
    state, vmid = job.cluster.state, guest.vmid
    forget_path(state.access, f"/vms/{vmid}")
    for pool in state.resource_pools.values():
        if vmid in pool.guests:
            pool.guests.remove(vmid)
    state.guest_firewalls.pop(vmid, None)
    if job.arguments.get("purge"):
        job.log(f"purging {_WORDS[guest.kind]} {vmid} from related configurations..")
        _purge(job, guest)


def _purge(job: Job, guest: Guest) -> None:
    state, vmid, sid = job.cluster.state, guest.vmid, _sid(guest)
    for replicated in replication_jobs(job.cluster, vmid):
        del state.replication[replicated]
    for section in state.backup_jobs.values():
        listed = section.options.get("vmid", "").split(",")
        if str(vmid) in listed:
            section.options["vmid"] = ",".join(one for one in listed if one != str(vmid))
    if state.ha_resources.pop(sid, None) is not None:
        for rule in state.ha_rules.values():
            members = rule.options.get("resources", "").split(",")
            rule.options["resources"] = ",".join(member for member in members if member != sid)
        job.log(f"NOTE: removed {_WORDS[guest.kind]} {vmid} from HA resource configuration.")


def _sid(guest: Guest) -> str:
    """What high availability calls a guest."""
    return f"{_WORDS[guest.kind].lower()}:{guest.vmid}"
