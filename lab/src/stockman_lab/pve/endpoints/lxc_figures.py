"""What is seen of a container from outside: its addresses, and figures over time."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.lxc.interfaces import interfaces_of


@endpoint("GET", "/nodes/{node}/lxc/{vmid}/interfaces")
def interfaces(call: Call) -> object:
    """Links of a container; of one that does not run, nothing at all."""
    guest = call.guest("lxc")
    if not guest.is_running:
        return None
    return [interface.row() for interface in interfaces_of(call.cluster, guest)]
