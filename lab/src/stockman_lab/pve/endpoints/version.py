"""`/version` and `/cluster/nextid`: what everybody asks first."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.releases import release_of

_LOWEST, _HIGHEST = 100, 1_000_000


@endpoint("GET", "/version")
def version(call: Call) -> object:
    release = release_of(call.cluster.state.profile)
    return {"release": release.release, "repoid": release.repoid, "version": release.version}


@endpoint("GET", "/nodes/{node}/version")
def node_version(call: Call) -> object:
    return version(call)


@endpoint("GET", "/cluster/nextid")
def next_id(call: Call) -> object:
    """The lowest free id, as a text; nothing is reserved."""
    taken = call.cluster.state.guests
    if call.has("vmid"):
        if call.vmid in taken:
            raise bad_parameters({"vmid": f"VM {call.vmid} already exists"})
        return str(call.vmid)
    lower, upper = _limits(call.cluster.state.options.get("next-id", ""))
    for vmid in range(lower, upper):
        if vmid not in taken:
            return str(vmid)
    raise die(f"unable to get any free VMID in range [{lower}, {upper}]")


def _limits(option: str) -> tuple[int, int]:
    given = dict(part.split("=", 1) for part in option.split(",") if "=" in part)
    return int(given.get("lower", _LOWEST)), int(given.get("upper", _HIGHEST))
