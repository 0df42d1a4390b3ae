"""How a Ceph cluster is, in its own words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stockman_lab.core.faults import Fault
from stockman_lab.kube.helm.ceph_daemons import Daemon
from stockman_lab.kube.objects import Object

OK, WARN, ERR = "HEALTH_OK", "HEALTH_WARN", "HEALTH_ERR"
_COPIES = 3
_DAMAGED = "Possible data damage: 1 pg inconsistent"
_NO_QUORUM = "failed to get status. . timed out: exit status 1"


@dataclass(frozen=True, slots=True)
class Found:
    """What a look at a cluster finds."""

    wanted: list[Daemon]
    down: list[Daemon]
    is_degraded: bool
    """Whether copies are missing though all disks are there."""
    failure: Fault | None

    def of(self, kind: str) -> tuple[list[Daemon], list[Daemon]]:
        """All daemons of a kind, and those that are down."""
        down = [item for item in self.down if item.kind == kind]
        return [item for item in self.wanted if item.kind == kind], down

    @property
    def is_whole(self) -> bool:
        return not self.down and any(item.kind == "osd" for item in self.wanted)


@dataclass(frozen=True, slots=True)
class Health:
    """A word, and the checks behind it."""

    word: str
    details: Object = field(default_factory=dict)


def health(found: Found) -> Health:
    """What `ceph status` would say, as the operator passes it on."""
    mons, silent = found.of("mon")
    if mons and len(silent) * 2 >= len(mons):
        return Health(ERR, {"error": {"message": _NO_QUORUM, "severity": "Urgent"}})
    checks = dict(_checks(found))
    worst = OK
    if checks:
        worst = ERR if any(check["severity"] == ERR for check in checks.values()) else WARN
    return Health(worst, checks)


def _checks(found: Found) -> Iterator[tuple[str, Object]]:
    if found.failure is not None:
        yield "PG_DAMAGED", _check(found.failure.message or _DAMAGED, ERR)
    mons, silent = found.of("mon")
    if silent:
        left = ",".join(mon.id for mon in mons if mon not in silent)
        yield "MON_DOWN", _check(f"{len(silent)}/{len(mons)} mons down, quorum {left}")
    mgrs, gone = found.of("mgr")
    if mgrs and len(gone) == len(mgrs):
        yield "MGR_DOWN", _check("no active mgr")
    yield from _disks(found)


def _disks(found: Found) -> Iterator[tuple[str, Object]]:
    disks, down = found.of("osd")
    if not disks:
        yield "TOO_FEW_OSDS", _check(f"OSD count 0 < osd_pool_default_size {_COPIES}")
        return
    hosts = {item.node for item in down}
    dead = sum(all(disk in down for disk in disks if disk.node == host) for host in hosts)
    if down:
        yield "OSD_DOWN", _check(f"{len(down)} osds down")
    if dead:
        yield "OSD_HOST_DOWN", _check(f"{dead} host{'s' * (dead > 1)} ({len(down)} osds) down")
    if dead >= _COPIES - 1:
        yield "PG_AVAILABILITY", _check("Reduced data availability: 33 pgs inactive")
    if down or found.is_degraded:
        share = 100.0 * max(len(down), 1) / len(disks) / _COPIES
        text = f"Degraded data redundancy: {share:.3f}% of objects degraded, 33 pgs degraded"
        yield "PG_DEGRADED", _check(text)


def _check(message: str, severity: str = WARN) -> Object:
    return {"message": message, "severity": severity}
