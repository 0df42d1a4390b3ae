"""Ids of guests: taken for a new one, and let go with everything else that knows the guest."""

from __future__ import annotations

from stockman_lab.pve.access.acl import forget_path
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.host import Host
from stockman_lab.pve.workers import Job


def refuse_taken(cluster: Cluster, vmid: int, what: str = "") -> None:
    """Refuse an id that a guest has already; `what` was to be done comes first in the text."""
    taken = cluster.state.guests.get(vmid)
    if taken is not None:
        kind = "VM" if taken.kind == "qemu" else "CT"
        raise die(f"{what}{kind} {vmid} already exists on node '{taken.node}'")


def reserve(cluster: Cluster, host: Host, vmid: int, kind: str) -> Guest:
    """Take an id for a new guest, which is locked until it is made."""
    refuse_taken(cluster, vmid, f"unable to create VM {vmid} - " if kind == "qemu" else "")
    guest = Guest(vmid, kind, host.name, GuestConfig(values={"lock": "create"}))
    guest.changed_at = cluster.now
    cluster.state.guests[vmid] = guest
    cluster.changed()
    return guest


def forget(cluster: Cluster, vmid: int) -> None:
    """Let an id go."""
    cluster.state.guest_firewalls.pop(vmid, None)
    if cluster.state.guests.pop(vmid, None) is not None:
        cluster.changed()


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
