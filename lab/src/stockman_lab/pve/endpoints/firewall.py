"""`/nodes/NODE/qemu/VMID/firewall`: options and rules of the firewall of a machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.sections import in_kinds, refuse_changed

_PATH = "/nodes/{node}/qemu/{vmid}/firewall"
_OPTIONS, _RULES = f"{_PATH}/options", f"{_PATH}/rules"
_RULE_KEYS = (
    "type", "action", "macro", "iface", "source", "dest", "proto", "enable", "log", "sport",
    "dport", "comment", "icmp-type",
)  # fmt: skip
_ACTIONS = ("ACCEPT", "DROP", "REJECT")
_NOT_OPTIONS = ("node", "vmid", "delete", "digest")

Entry = dict[str, str]


def _firewall(call: Call) -> Firewall:
    return call.cluster.state.guest_firewalls.setdefault(call.vmid, Firewall())


def _firewall_to_change(call: Call) -> Firewall:
    call.cluster.require_quorum(f"firewall-vm-{call.vmid}")
    call.cluster.changed()
    return _firewall(call)


def _digest(entries: Iterable[Mapping[str, str]]) -> str:
    sha1 = hashlib.sha1(usedforsecurity=False)
    for entry in entries:
        for key in sorted(entry):
            sha1.update(f"{key}:{entry[key]}\n".encode("utf-8", "surrogatepass"))
    return sha1.hexdigest()


def _rule_rows(rules: list[Entry]) -> list[dict[str, object]]:
    digest = _digest(rules)
    return [{**rule, "enable": int(rule["enable"]), "digest": digest} for rule in rules]


@endpoint("GET", _RULES)
def list_rules(call: Call) -> object:
    rows = _rule_rows(_firewall(call).rules)
    return [row | {"pos": position} for position, row in enumerate(rows)]


@endpoint("POST", _RULES)
def create_rule(call: Call) -> object:
    """Insert the rule at the top, whatever position was given."""
    rules = _firewall_to_change(call).rules
    rules.insert(0, {"enable": "0"} | _rule_from({}, call))
    return None


def _position(call: Call, rules: list[Entry]) -> int:
    position = call.number("pos")
    if position >= len(rules):
        raise die(f"no rule at position {position}")
    return position


def _rule_from(rule: Entry, call: Call) -> Entry:
    changed = dict(rule)
    for key in _RULE_KEYS:
        if call.has(key):
            value = call.text(key)
            changed[key] = str(int(bool(call.number(key)))) if key == "enable" else value
    for name in split_list(call.text("delete")):
        if name in ("type", "action") or name not in _RULE_KEYS:
            raise bad_parameters({"delete": f"unable to delete property '{name}'"})
        changed.pop(name, None)
    if changed.get("type") != "group" and changed.get("action") not in _ACTIONS:
        raise bad_parameters({"action": f"unknown action '{changed.get('action', '')}'"})
    return {key: value for key, value in changed.items() if value not in ("", "-")}


@endpoint("GET", _OPTIONS)
def get_options(call: Call) -> object:
    options = _firewall(call).options
    values = in_kinds(call.cluster.state.profile, _OPTIONS, options, "PUT")
    return values | {"digest": _digest([options])}


@endpoint("PUT", _OPTIONS)
def update_options(call: Call) -> object:
    options = _firewall_to_change(call).options
    refuse_changed(_digest([options]), call.text("digest"))
    known = Schema.of(call.cluster.state.profile).operation("PUT", _OPTIONS).parameters
    for name in split_list(call.text("delete")):
        if name not in known or name in _NOT_OPTIONS:
            raise bad_parameters({"delete": f"no such option '{name}'"})
        options.pop(name, None)
    for name in call.params:
        if name not in _NOT_OPTIONS:
            options[name] = call.text(name)
    return None
