"""`/cluster/firewall/groups`: rules under a name, for rules of others to refer to."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import ClusterState, Firewall
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.firewall.listing import digest_of, rows_of
from stockman_lab.pve.firewall.place import GROUP
from stockman_lab.pve.sections import refuse_changed

_PATH = "/cluster/firewall/groups"
_COMMENT = "comment"


@endpoint("GET", _PATH)
def groups(call: Call) -> object:
    return rows_of(_listed(call.cluster.state))


@endpoint("POST", _PATH)
def create(call: Call) -> object:
    call.cluster.require_quorum("firewall-cluster")
    state, name, old = call.cluster.state, call.text("group"), call.text("rename")
    if old:
        refuse_changed(digest_of(_listed(state)), call.text("digest"))
        _rename(state, old, name)
    elif name in state.firewall_groups:
        raise bad_parameters({"group": f"Security group '{name}' already exists"})
    else:
        state.firewall_groups[name] = Firewall()
    if call.has(_COMMENT):
        state.firewall_groups[name].options[_COMMENT] = call.text(_COMMENT)
    call.cluster.changed()
    return None


@endpoint("DELETE", f"{_PATH}/{{group}}")
def delete(call: Call) -> object:
    name = call.text("group")
    if GROUP.change(call).rules:
        raise die(f"Security group '{name}' is not empty")
    del call.cluster.state.firewall_groups[name]
    return None


def _listed(state: ClusterState) -> list[dict[str, str]]:
    found = []
    for name, group in sorted(state.firewall_groups.items()):
        comment = group.options.get(_COMMENT, "")
        found.append({"group": name} | ({_COMMENT: comment} if comment else {}))
    return found


def _rename(state: ClusterState, old: str, name: str) -> None:
    """Give a group another name, also in all rules that refer to it."""
    if old not in state.firewall_groups:
        raise bad_parameters({"group": f"Security group '{old}' does not exist"})
    if name in state.firewall_groups and name != old:
        raise bad_parameters({"group": f"Security group '{name}' does already exist"})
    state.firewall_groups[name] = state.firewall_groups.pop(old)
    for firewall in _all(state):
        for rule in firewall.rules:
            if rule["type"] == "group" and rule["action"] == old:
                rule["action"] = name


def _all(state: ClusterState) -> Iterator[Firewall]:
    yield state.firewall
    yield from state.host_firewalls.values()
    yield from state.guest_firewalls.values()
