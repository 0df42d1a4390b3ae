"""Which backups are kept and which go: retention by number, hour, day, week, month and year."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storages.archives import archive_info
from stockman_lab.pve.workers import Job, Work, register

PRUNE_BACKUPS = "storage.prune-backups"
_SPANS: dict[str, Callable[[datetime], object]] = {
    "keep-last": lambda moment: moment,
    "keep-hourly": lambda moment: (moment.year, moment.month, moment.day, moment.hour),
    "keep-daily": lambda moment: moment.date(),
    "keep-weekly": lambda moment: moment.isocalendar()[:2],
    "keep-monthly": lambda moment: (moment.year, moment.month),
    "keep-yearly": lambda moment: moment.year,
}
"""What two backups have in common of which only one is kept, in the order of the options."""


@dataclass(slots=True)
class PruneEntry:
    """A backup, and what becomes of it."""

    volid: str
    type: str
    vmid: int
    created_at: float
    is_usual: bool
    mark: str = ""
    """`keep`, `remove`, `protected` or `renamed`. Empty: not decided yet."""

    def row(self) -> dict[str, object]:
        row: dict[str, object] = {
            "volid": self.volid,
            "type": self.type,
            "ctime": int(self.created_at),
            "mark": self.mark,
        }
        return row | {"vmid": self.vmid} if self.vmid else row


def retention(text: str) -> dict[str, int]:
    """Options of a retention: `keep-last=3,keep-daily=7`."""
    pairs = (part.split("=", 1) for part in text.split(",") if "=" in part)
    return {name: 1 if value in ("on", "yes", "true") else int(value) for name, value in pairs}


def retention_for(storage: Storage, given: str | None) -> dict[str, int]:
    """The retention that is asked for, or that of the storage."""
    if "backup" not in storage.content:
        raise die(f"storage '{storage.id}' does not support backups")
    if given is not None:
        return retention(given)
    if "prune-backups" not in storage.options:
        raise die(f"no prune-backups options configured for storage '{storage.id}'")
    return retention(storage.options["prune-backups"])


def prune_list(
    cluster: Cluster,
    storage: Storage,
    host: Host,
    keep: Mapping[str, int],
    wanted: tuple[int, str] = (0, ""),
) -> list[PruneEntry]:
    """Backups with what becomes of each; `wanted` is a guest and a type, or 0 and nothing."""
    vmid, kind = wanted
    entries: list[PruneEntry] = []
    groups: dict[tuple[str, int], list[PruneEntry]] = {}
    for volume in space.volumes_on(cluster, storage, host.name):
        info = archive_info(volume.name)
        owner = info.vmid or volume.vmid
        if volume.content != "backup" or (vmid and owner != vmid) or kind not in ("", info.type):
            continue
        moment = volume.created_at if info.created_at is None else info.created_at
        entry = PruneEntry(volume.id, info.type, owner, moment, info.is_usual)
        if not info.is_usual:
            entry.mark = "renamed"
        else:
            groups.setdefault((info.type, owner), []).append(entry)
        if volume.protected:
            entry.mark = "protected"
        entries.append(entry)
    for group in groups.values():
        _decide(group, keep)
    return entries


def prune(
    cluster: Cluster, storage: Storage, host: Host, entries: list[PruneEntry]
) -> list[PruneEntry]:
    """Remove what is not to be kept; returns what was removed."""
    gone = [entry for entry in entries if entry.mark == "remove"]
    for entry in gone:
        volume = space.find(cluster, host.name, entry.volid)
        if volume is not None:
            space.free(cluster, volume)
    return gone


def _decide(group: list[PruneEntry], keep: Mapping[str, int]) -> None:
    spans = {name: keep[name] for name in _SPANS if keep.get(name, 0) > 0}
    if keep.get("keep-all") or not spans:
        for entry in group:
            entry.mark = entry.mark or "keep"
        return
    newest_first = sorted(group, key=lambda one: -one.created_at)
    for name, count in spans.items():
        _keep(newest_first, count, _SPANS[name])
    for entry in newest_first:
        entry.mark = entry.mark or "remove"


def _keep(entries: list[PruneEntry], count: int, span: Callable[[datetime], object]) -> None:
    def span_of(entry: PruneEntry) -> object:
        return span(datetime.fromtimestamp(entry.created_at, UTC))

    covered = {span_of(one) for one in entries if one.mark == "keep"}
    fresh: set[object] = set()
    for entry in entries:
        mine = span_of(entry)
        if entry.mark or mine in covered:
            continue
        if mine in fresh:
            entry.mark = "remove"
        elif len(fresh) >= count:
            return
        else:
            fresh.add(mine)
            entry.mark = "keep"


@register
class PruneBackups(Work):
    """Prunes `storage`: retention `keep`, of guest `vmid` and `type` where given."""

    name = PRUNE_BACKUPS

    def begin(self, job: Job) -> float:
        del job
        return 2.0

    def finish(self, job: Job) -> None:
        host = job.cluster.host(job.task.node)
        storage = space.configured(job.cluster, job.text("storage"))
        given = job.arguments.get("keep")
        keep = retention_for(storage, None if given is None else str(given))
        space.activate(job.cluster, storage.id, host)
        wanted = (job.number("vmid"), job.text("type"))
        entries = prune_list(job.cluster, storage, host, keep, wanted)
        for entry in prune(job.cluster, storage, host, entries):
            job.log(f"removing backup '{entry.volid}'")
