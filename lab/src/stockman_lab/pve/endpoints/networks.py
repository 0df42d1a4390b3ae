"""`/cluster/sdn`: networks that nobody has defined; bridges are in the zone `localnetwork`."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint


@endpoint("GET", "/cluster/sdn/zones")
def zones(call: Call) -> object:
    del call
    return []


@endpoint("GET", "/cluster/sdn/vnets")
def virtual_networks(call: Call) -> object:
    del call
    return []


@endpoint("GET", "/nodes/{node}/sdn/zones")
def zones_of_host(call: Call) -> object:
    """Zones that the caller may see on a host."""
    if not call.may("/sdn/zones/localnetwork", "SDN.Audit", "SDN.Allocate", any_of=True):
        return []
    return [{"zone": "localnetwork", "status": "available"}]
