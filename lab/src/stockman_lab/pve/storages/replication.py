"""Replication jobs: what is copied from host to host, and how far each of them is.

Jobs run by the clock: what they did is worked out when somebody looks.
"""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.core.timeline import Arguments
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.formats.config_file import digest
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.storages.backing_up import backup_disks
from stockman_lab.pve.storages.calendar import next_event

OPTIONS = ("comment", "disable", "rate", "remove_job", "schedule", "source")
USUAL_SCHEDULE = "*/15"
_MADE, _GONE, _ASKED = "_made_at", "_gone_at", "_asked_at"
_NUMBERS = ("disable", "rate")
TURN = "pve.replication.turn"
"""The scheduler comes by: only then does what waits for it happen, so time has to get there."""
_MINUTE = 60
_LATEST_STEPS = 400


def split_id(job: str) -> tuple[int, int]:
    """Guest and number of a job."""
    guest, _, number = job.partition("-")
    return int(guest), int(number)


def jobs(cluster: Cluster) -> dict[str, Section]:
    """Jobs that are still there: removed ones go when the scheduler comes by."""
    replication = cluster.state.replication
    for name, job in list(replication.items()):
        if float(job.options.get(_GONE, "inf")) <= cluster.now:
            del replication[name]
            cluster.changed()
    return replication


def new_job(cluster: Cluster, name: str, given: Mapping[str, str]) -> Section:
    """A job that begins now."""
    return Section(name, "local", {**given, _MADE: str(cluster.now)})


def mark_removed(cluster: Cluster, job: Section, how: str) -> None:
    """Let a job clean up and vanish the next time that jobs are run: once a minute."""
    job.options["remove_job"] = how
    job.options[_GONE] = str(_next_turn(cluster) + 1)


def run_soon(cluster: Cluster, job: Section) -> None:
    """Let a job run the next time, whatever its schedule says."""
    job.options[_ASKED] = str(_next_turn(cluster))


def turn(cluster: Cluster, arguments: Arguments) -> None:
    """Let removed jobs go."""
    del arguments
    jobs(cluster)


def _next_turn(cluster: Cluster) -> float:
    moment = (cluster.now // _MINUTE + 1) * _MINUTE
    later = moment + 1 - cluster.now
    cluster.around.timeline.after(later, TURN, {"cluster": cluster.name})
    return moment


def config_digest(cluster: Cluster) -> str:
    """What tells two states of the configuration apart."""
    text = ""
    for name, job in sorted(jobs(cluster).items()):
        lines = (f"\t{key} {value}\n" for key, value in sorted(_own(job).items()))
        text += f"local: {name}\n{''.join(lines)}\n"
    return digest(text)


def _own(job: Section) -> dict[str, str]:
    return {key: value for key, value in job.options.items() if not key.startswith("_")}


def job_row(job: Section) -> dict[str, object]:
    """A job as the configuration shows it."""
    guest, number = split_id(job.id)
    row: dict[str, object] = {"id": job.id, "type": "local", "guest": guest, "jobnum": number}
    for key, value in _own(job).items():
        row[key] = _number(value) if key in _NUMBERS else value
    return row


def _number(value: str) -> int | float:
    return int(value) if value.isdigit() else float(value)


def status_row(cluster: Cluster, job: Section, guest: Guest) -> dict[str, object]:
    """A job with what it did last and will do next."""
    row = job_row(job) | {"vmtype": guest.kind, "fail_count": 0}
    target = cluster.state.hosts.get(job.options["target"])
    is_disabled = job.options.get("disable", "0") == "1"
    last = 0 if is_disabled else last_run(job, cluster.now)
    if last:
        row |= {"last_sync": last, "last_try": last, "duration": 3.5}
    if target is None or not target.has_power:
        why = "command '/usr/bin/ssh' failed: exit code 255"
        row |= {"error": why, "fail_count": 1}
    upcoming = next_event(job.options.get("schedule", USUAL_SCHEDULE), float(last or cluster.now))
    row["next_sync"] = 1 if "remove_job" in job.options else upcoming or 0
    return row


def last_run(job: Section, now: float) -> int:
    """When a job ran last; 0: not yet."""
    schedule = job.options.get("schedule", USUAL_SCHEDULE)
    made = float(job.options.get(_MADE, "0"))
    asked = float(job.options.get(_ASKED, "inf"))
    found = int(asked) if asked <= now else 0
    upcoming = next_event(schedule, made)
    if upcoming is None or upcoming > now:
        return found
    step = _MINUTE
    for _ in range(_LATEST_STEPS):
        moment = next_event(schedule, now - step)
        if moment is not None and moment <= now:
            return max(found, _latest(schedule, moment, now))
        step *= 2
        if now - step < made:
            return max(found, _latest(schedule, upcoming, now))
    return found


def _latest(schedule: str, first: int, now: float) -> int:
    """The last moment of a schedule up to now, from one of them on."""
    for _ in range(_LATEST_STEPS):
        following = next_event(schedule, first)
        if following is None or following > now:
            return first
        first = following
    return first


def replicable_volumes(cluster: Cluster, guest: Guest) -> list[str]:
    """Volumes of a guest that can be replicated: only ZFS knows how."""
    volids: list[str] = []
    for disk in backup_disks(guest):
        storage = cluster.state.storages.get(disk.volid.partition(":")[0])
        if storage is None or storage.type != "zfspool":
            continue
        options = guest.config.values[disk.key].split(",")
        volume = space.find(cluster, guest.node, disk.volid)
        owned = volume is not None and volume.vmid == guest.vmid
        if owned and "replicate=0" not in options:
            volids.append(disk.volid)
    return volids
