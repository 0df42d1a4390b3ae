"""Figures of a container over time, one row for each step."""

from __future__ import annotations

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.lxc.rows import list_row

_STEPS = {"hour": 60, "day": 60 * 30, "week": 3 * 3600, "month": 12 * 3600, "year": 7 * 86_400}
_ROWS = 70
_ALWAYS = {"maxcpu": "cpus", "maxmem": "maxmem", "maxdisk": "maxdisk"}
_RUNNING = ("cpu", "mem", "disk", "netin", "netout", "diskread", "diskwrite")


def history(cluster: Cluster, guest: Guest, timeframe: str) -> list[dict[str, object]]:
    """What was seen of a container: nothing of the time before it ran."""
    step, row = _STEPS[timeframe], list_row(cluster, guest)
    last = int(cluster.now) // step * step
    rows = []
    for moment in range(last - (_ROWS - 1) * step, last + 1, step):
        found: dict[str, object] = {"time": moment}
        if guest.is_running and moment >= guest.started_at:
            found |= {name: row[source] for name, source in _ALWAYS.items()}
            found |= {name: row[name] for name in _RUNNING}
        rows.append(found)
    return rows
