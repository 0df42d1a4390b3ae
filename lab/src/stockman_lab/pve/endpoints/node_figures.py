"""`/nodes/NODE/rrddata`: what a host used over time."""

from __future__ import annotations

from stockman_lab.pve import guest_rows
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint

_STEPS = {"hour": 60, "day": 1800, "week": 10_800, "month": 43_200, "year": 604_800}
_DECADE = 604_800
_ROWS = 70


@endpoint("GET", "/nodes/{node}/rrddata")
def rrddata(call: Call) -> object:
    """One row for each step back from now; moments at which the host was off are empty."""
    host = call.node
    step = _STEPS.get(call.text("timeframe"), _DECADE)
    last = int(call.now) // step * step
    figures = guest_rows.host_figures(call.cluster, host)
    measured = {
        "cpu": figures["cpu"],
        "maxcpu": figures["maxcpu"],
        "iowait": 0.001,
        "loadavg": 0.2,
        "memtotal": figures["maxmem"],
        "memused": figures["mem"],
        "swaptotal": host.swap,
        "swapused": 0,
        "roottotal": figures["maxdisk"],
        "rootused": figures["disk"],
        "netin": 1200.0,
        "netout": 900.0,
    }
    moments = range(last - (_ROWS - 1) * step, last + step, step)
    return [{"time": moment} | (measured if moment >= host.booted_at else {}) for moment in moments]
