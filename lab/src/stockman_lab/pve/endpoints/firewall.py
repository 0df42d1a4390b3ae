"""Firewalls of the cluster, of hosts, guests and groups: rules, options, aliases and IP sets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.sections import refuse_changed, typed

_GROUPS = "/cluster/firewall/groups"
_RULE_KEYS = (
    "type", "action", "macro", "iface", "source", "dest", "proto", "enable", "log", "sport",
    "dport", "comment", "icmp-type",
)  # fmt: skip
_ACTIONS = ("ACCEPT", "DROP", "REJECT")
_NUMBERS = ("enable", "ipversion", "nomatch")
_NOT_OPTIONS = ("node", "vmid", "delete", "digest")

Entry = dict[str, str]


@dataclass(frozen=True, slots=True)
class Scope:
    """One kind of firewall, and how to find the firewall that a call names."""

    path: str
    find: Callable[[Call], Firewall]
    lock: Callable[[Call], str]

    def change(self, call: Call) -> Firewall:
        call.cluster.require_quorum(self.lock(call))
        call.cluster.changed()
        return self.find(call)


def _group(call: Call) -> Firewall:
    name = call.text("group")
    group = call.cluster.state.firewall_groups.get(name)
    if group is None:
        raise die(f"no such security group '{name}'")
    return group


def _host(call: Call) -> Firewall:
    return call.cluster.state.host_firewalls.setdefault(call.node.name, Firewall())


def _guest(call: Call) -> Firewall:
    return call.cluster.state.guest_firewalls.setdefault(call.vmid, Firewall())


def _cluster_lock(call: Call) -> str:
    del call
    return "firewall-cluster"


def _guest_lock(call: Call) -> str:
    return f"firewall-vm-{call.vmid}"


CLUSTER = Scope("/cluster/firewall", lambda call: call.cluster.state.firewall, _cluster_lock)
GROUP = Scope(f"{_GROUPS}/{{group}}", _group, _cluster_lock)
HOST = Scope("/nodes/{node}/firewall", _host, lambda call: f"firewall-host-{call.node.name}")
VM = Scope("/nodes/{node}/qemu/{vmid}/firewall", _guest, _guest_lock)
CONTAINER = Scope("/nodes/{node}/lxc/{vmid}/firewall", _guest, _guest_lock)


def _digest(entries: Iterable[Mapping[str, str]]) -> str:
    sha1 = hashlib.sha1(usedforsecurity=False)
    for entry in entries:
        for key in sorted(entry):
            sha1.update(f"{key}:{entry[key]}\n".encode("utf-8", "surrogatepass"))
    return sha1.hexdigest()


def _rows(entries: list[Entry]) -> list[dict[str, object]]:
    digest = _digest(entries)
    return [_row(entry) | {"digest": digest} for entry in entries]


def _row(entry: Entry) -> dict[str, object]:
    return {key: int(value) if key in _NUMBERS else value for key, value in entry.items()}


def _with_comment(entry: Entry, comment: str) -> Entry:
    return entry | ({"comment": comment} if comment else {})


class _Rules:
    """Calls on the rules of one kind of firewall."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        path = scope.path if scope is GROUP else f"{scope.path}/rules"
        endpoint("GET", path)(self.list)
        endpoint("POST", path)(self.create)
        endpoint("GET", f"{path}/{{pos}}")(self.get)
        endpoint("PUT", f"{path}/{{pos}}")(self.update)
        endpoint("DELETE", f"{path}/{{pos}}")(self.delete)

    def list(self, call: Call) -> object:
        rows = _rows(self.scope.find(call).rules)
        return [row | {"pos": position} for position, row in enumerate(rows)]

    def get(self, call: Call) -> object:
        """Return one rule; its position is a text, as in the path."""
        rules = self.scope.find(call).rules
        position = _position(call, rules)
        return _rows(rules)[position] | {"pos": str(position)}

    def create(self, call: Call) -> object:
        """Insert the rule at the top, whatever position was given."""
        rules = self.scope.change(call).rules
        rules.insert(0, {"enable": "0"} | _changed_rule({}, call))
        return None

    def update(self, call: Call) -> object:
        rules = self.scope.change(call).rules
        refuse_changed(_digest(rules), call.text("digest"))
        position = _position(call, rules)
        target = call.number("moveto", position)
        if target != position:
            rule = rules.pop(position)
            rules.insert(target - (target > position), rule)
        else:
            rules[position] = _changed_rule(rules[position], call)
        return None

    def delete(self, call: Call) -> object:
        rules = self.scope.change(call).rules
        refuse_changed(_digest(rules), call.text("digest"))
        del rules[_position(call, rules)]
        return None


def _position(call: Call, rules: list[Entry]) -> int:
    position = call.number("pos")
    if position >= len(rules):
        raise die(f"no rule at position {position}")
    return position


def _changed_rule(rule: Entry, call: Call) -> Entry:
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


class _Options:
    """Calls on the options of one kind of firewall."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.path = f"{scope.path}/options"
        endpoint("GET", self.path)(self.get)
        endpoint("PUT", self.path)(self.update)

    def get(self, call: Call) -> object:
        options = self.scope.find(call).options
        values = typed(call.cluster.state.profile, self.path, options, "PUT")
        return values | {"digest": _digest([options])}

    def update(self, call: Call) -> object:
        options = self.scope.change(call).options
        refuse_changed(_digest([options]), call.text("digest"))
        known = Schema.of(call.cluster.state.profile).operation("PUT", self.path).parameters
        for name in split_list(call.text("delete")):
            if name not in known or name in _NOT_OPTIONS:
                raise bad_parameters({"delete": f"no such option '{name}'"})
            options.pop(name, None)
        for name in call.params:
            if name not in _NOT_OPTIONS:
                options[name] = call.text(name)
        return None


class _Aliases:
    """Calls on the aliases of one kind of firewall."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        path = f"{scope.path}/aliases"
        endpoint("GET", path)(self.list)
        endpoint("POST", path)(self.create)
        endpoint("GET", f"{path}/{{name}}")(self.get)
        endpoint("PUT", f"{path}/{{name}}")(self.update)
        endpoint("DELETE", f"{path}/{{name}}")(self.delete)

    def list(self, call: Call) -> object:
        aliases = self.scope.find(call).aliases
        return _rows([alias for _, alias in sorted(aliases.items())])

    def get(self, call: Call) -> object:
        return _row(_alias(self.scope.find(call), call))

    def create(self, call: Call) -> object:
        aliases, name = self.scope.change(call).aliases, call.text("name")
        if name.lower() in aliases:
            raise bad_parameters({"name": f"alias '{name}' already exists"})
        aliases[name.lower()] = _new_alias(call, name)
        return None

    def update(self, call: Call) -> object:
        firewall = self.scope.change(call)
        old = _alias(firewall, call)["name"]
        name = call.text("rename") or old
        if name.lower() != old.lower() and name.lower() in firewall.aliases:
            raise bad_parameters({"name": f"alias '{name}' already exists"})
        del firewall.aliases[old.lower()]
        firewall.aliases[name.lower()] = _new_alias(call, name)
        return None

    def delete(self, call: Call) -> object:
        self.scope.change(call).aliases.pop(call.text("name").lower(), None)
        return None


def _alias(firewall: Firewall, call: Call) -> Entry:
    alias = firewall.aliases.get(call.text("name").lower())
    if alias is None:
        raise bad_parameters({"name": "no such alias"})
    return alias


def _new_alias(call: Call, name: str) -> Entry:
    cidr = call.text("cidr")
    version, whole = ("6", "/128") if ":" in cidr else ("4", "/32")
    alias = {"name": name, "cidr": cidr.removesuffix(whole), "ipversion": version}
    return _with_comment(alias, call.text("comment"))


class _IpSets:
    """Calls on the IP sets of one kind of firewall."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        path = f"{scope.path}/ipset"
        endpoint("GET", path)(self.list)
        endpoint("POST", path)(self.create)
        endpoint("GET", f"{path}/{{name}}")(self.entries)
        endpoint("POST", f"{path}/{{name}}")(self.add)
        endpoint("DELETE", f"{path}/{{name}}")(self.delete)
        endpoint("GET", f"{path}/{{name}}/{{cidr}}")(self.get)
        endpoint("PUT", f"{path}/{{name}}/{{cidr}}")(self.update)
        endpoint("DELETE", f"{path}/{{name}}/{{cidr}}")(self.remove)

    def list(self, call: Call) -> object:
        firewall = self.scope.find(call)
        return _rows(
            [
                _with_comment({"name": name}, firewall.ipset_comments.get(name, ""))
                for name in sorted(firewall.ipsets)
            ]
        )

    def create(self, call: Call) -> object:
        firewall, name, old = self.scope.change(call), call.text("name"), call.text("rename")
        if name in firewall.ipsets and name != old:
            raise bad_parameters({"name": f"IPSet '{name}' already exists"})
        if old and old not in firewall.ipsets:
            raise bad_parameters({"name": f"IPSet '{old}' does not exist"})
        firewall.ipsets[name] = firewall.ipsets.pop(old) if old else []
        comment = call.text("comment") or firewall.ipset_comments.pop(old, "")
        if comment:
            firewall.ipset_comments[name] = comment
        return None

    def delete(self, call: Call) -> object:
        firewall, name = self.scope.change(call), call.text("name")
        if _ip_set(firewall, call) and not call.flag("force"):
            raise die(f"IPSet '{name}' is not empty")
        del firewall.ipsets[name]
        firewall.ipset_comments.pop(name, None)
        return None

    def entries(self, call: Call) -> object:
        return _rows(_ip_set(self.scope.find(call), call))

    def add(self, call: Call) -> object:
        entries, cidr = _ip_set(self.scope.change(call), call), call.text("cidr")
        if any(entry["cidr"] == cidr for entry in entries):
            raise bad_parameters({"cidr": f"address '{cidr}' already exists"})
        entries.append(_ip_set_entry(call))
        entries.sort(key=lambda entry: entry["cidr"])
        return None

    def get(self, call: Call) -> object:
        entries = _ip_set(self.scope.find(call), call)
        return _rows(entries)[_ip_set_index(entries, call)]

    def update(self, call: Call) -> object:
        entries = _ip_set(self.scope.change(call), call)
        entries[_ip_set_index(entries, call)] = _ip_set_entry(call)
        return None

    def remove(self, call: Call) -> object:
        entries = _ip_set(self.scope.change(call), call)
        del entries[_ip_set_index(entries, call)]
        return None


def _ip_set(firewall: Firewall, call: Call) -> list[Entry]:
    entries = firewall.ipsets.get(call.text("name"))
    if entries is None:
        raise die(f"no such IPSet '{call.text('name')}'")
    return entries


def _ip_set_index(entries: list[Entry], call: Call) -> int:
    for index, entry in enumerate(entries):
        if entry["cidr"] == call.text("cidr"):
            return index
    raise bad_parameters({"cidr": "no such IP/Network"})


def _ip_set_entry(call: Call) -> Entry:
    entry = {"cidr": call.text("cidr")} | ({"nomatch": "1"} if call.flag("nomatch") else {})
    return _with_comment(entry, call.text("comment"))


@endpoint("GET", _GROUPS)
def list_groups(call: Call) -> object:
    groups = sorted(call.cluster.state.firewall_groups.items())
    return _rows(
        [_with_comment({"group": name}, group.options.get("comment", "")) for name, group in groups]
    )


@endpoint("POST", _GROUPS)
def create_group(call: Call) -> object:
    call.cluster.require_quorum("firewall-cluster")
    groups, name, old = call.cluster.state.firewall_groups, call.text("group"), call.text("rename")
    if name in groups and name != old:
        raise bad_parameters({"group": f"Security group '{name}' already exists"})
    if old and old not in groups:
        raise bad_parameters({"group": f"Security group '{old}' does not exist"})
    groups[name] = groups.pop(old) if old else Firewall()
    if call.has("comment"):
        groups[name].options["comment"] = call.text("comment")
    call.cluster.changed()
    return None


@endpoint("DELETE", f"{_GROUPS}/{{group}}")
def delete_group(call: Call) -> object:
    if GROUP.change(call).rules:
        raise die(f"Security group '{call.text('group')}' is not empty")
    del call.cluster.state.firewall_groups[call.text("group")]
    return None


for scope in (CLUSTER, GROUP, HOST, VM, CONTAINER):
    _Rules(scope)
for scope in (CLUSTER, HOST, VM, CONTAINER):
    _Options(scope)
for scope in (CLUSTER, VM, CONTAINER):
    _Aliases(scope)
    _IpSets(scope)
