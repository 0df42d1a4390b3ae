"""Aliases and sets of addresses of firewalls."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.firewall.addresses import (
    alias_in,
    clean,
    require_alias,
    version_of,
    without_whole,
)
from stockman_lab.pve.firewall.listing import digest_of, row_of, rows_of
from stockman_lab.pve.firewall.place import CLUSTER, CONTAINER, MACHINE, Place
from stockman_lab.pve.sections import refuse_changed


class _Aliases:
    """Calls about the aliases of one kind of place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.path = f"{place.path}/aliases"

    def register(self) -> None:
        endpoint("GET", self.path)(self.rows)
        endpoint("POST", self.path)(self.create)
        endpoint("GET", f"{self.path}/{{name}}")(self.row)
        endpoint("PUT", f"{self.path}/{{name}}")(self.update)
        endpoint("DELETE", f"{self.path}/{{name}}")(self.delete)

    def rows(self, call: Call) -> object:
        return rows_of(_sorted(self.place.firewall(call)))

    def row(self, call: Call) -> object:
        firewall = self.place.firewall(call)
        return row_of(_alias(firewall, call))

    def create(self, call: Call) -> object:
        firewall, name = self.place.change(call), call.text("name")
        if name.lower() in firewall.aliases:
            raise bad_parameters({"name": f"alias '{name}' already exists"})
        firewall.aliases[name.lower()] = _written(call, name)
        return None

    def update(self, call: Call) -> object:
        firewall, name = self.place.change(call), call.text("name")
        refuse_changed(digest_of(_sorted(firewall)), call.text("digest"))
        _alias(firewall, call)
        text = call.text("rename") or name
        if text.lower() != name.lower() and text.lower() in firewall.aliases:
            raise bad_parameters({"name": f"alias '{text}' already exists"})
        del firewall.aliases[name.lower()]
        kept = text if text.lower() != name.lower() else name
        firewall.aliases[text.lower()] = _written(call, kept)
        return None

    def delete(self, call: Call) -> object:
        firewall = self.place.change(call)
        refuse_changed(digest_of(_sorted(firewall)), call.text("digest"))
        firewall.aliases.pop(call.text("name").lower(), None)
        return None


class _Sets:
    """Calls about the sets of addresses of one kind of place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.path = f"{place.path}/ipset"

    def register(self) -> None:
        endpoint("GET", self.path)(self.names)
        endpoint("POST", self.path)(self.create)
        endpoint("GET", f"{self.path}/{{name}}")(self.rows)
        endpoint("POST", f"{self.path}/{{name}}")(self.add)
        endpoint("DELETE", f"{self.path}/{{name}}")(self.delete)
        endpoint("GET", f"{self.path}/{{name}}/{{cidr}}")(self.row)
        endpoint("PUT", f"{self.path}/{{name}}/{{cidr}}")(self.update)
        endpoint("DELETE", f"{self.path}/{{name}}/{{cidr}}")(self.remove)

    def names(self, call: Call) -> object:
        return rows_of(_names(self.place.firewall(call)))

    def create(self, call: Call) -> object:
        firewall, name = self.place.change(call), call.text("name")
        old = call.text("rename")
        if old:
            refuse_changed(digest_of(_names(firewall)), call.text("digest"))
            _rename(firewall, old, name)
        elif name in firewall.ipsets:
            raise bad_parameters({"name": f"IPSet '{name}' already exists"})
        else:
            firewall.ipsets[name] = []
        if call.has("comment"):
            firewall.ipset_comments[name] = call.text("comment")
        return None

    def rows(self, call: Call) -> object:
        return rows_of(_entries(self.place.firewall(call), call))

    def delete(self, call: Call) -> object:
        firewall, name = self.place.change(call), call.text("name")
        if _entries(firewall, call) and not call.flag("force"):
            raise die(f"IPSet '{name}' is not empty")
        del firewall.ipsets[name]
        firewall.ipset_comments.pop(name, None)
        return None

    def add(self, call: Call) -> object:
        firewall, text = self.place.change(call), call.text("cidr")
        entries = _entries(firewall, call)
        if alias_in(text) is not None:
            require_alias(text, call.cluster.state.firewall, firewall)
        else:
            text = clean(text)
        if any(entry["cidr"] == text for entry in entries):
            raise bad_parameters({"cidr": f"address '{text}' already exists"})
        if text.endswith("/0"):
            raise bad_parameters({"cidr": "a zero prefix is not allowed in ipset entries"})
        entries.append(_entry(call, text))
        entries.sort(key=lambda one: one["cidr"])
        return None

    def row(self, call: Call) -> object:
        entries = _entries(self.place.firewall(call), call)
        return rows_of(entries)[_place(entries, call)]

    def update(self, call: Call) -> object:
        entries = _entries(self.place.change(call), call)
        refuse_changed(digest_of(entries), call.text("digest"))
        entries[_place(entries, call)] = _entry(call, call.text("cidr"))
        return None

    def remove(self, call: Call) -> object:
        firewall = self.place.change(call)
        entries = _entries(firewall, call)
        refuse_changed(digest_of(entries), call.text("digest"))
        left = [entry for entry in entries if entry["cidr"] != call.text("cidr")]
        firewall.ipsets[call.text("name")] = left
        return None


def _sorted(firewall: Firewall) -> list[dict[str, str]]:
    return [alias for _, alias in sorted(firewall.aliases.items())]


def _alias(firewall: Firewall, call: Call) -> dict[str, str]:
    alias = firewall.aliases.get(call.text("name").lower())
    if alias is None:
        raise bad_parameters({"name": "no such alias"})
    return alias


def _written(call: Call, name: str) -> dict[str, str]:
    cidr = without_whole(call.text("cidr"))
    made = {"name": name, "cidr": cidr, "ipversion": str(version_of(cidr))}
    return made | ({"comment": call.text("comment")} if call.text("comment") else {})


def _names(firewall: Firewall) -> list[dict[str, str]]:
    names = []
    for name in sorted(firewall.ipsets):
        comment = firewall.ipset_comments.get(name, "")
        names.append({"name": name} | ({"comment": comment} if comment else {}))
    return names


def _rename(firewall: Firewall, old: str, name: str) -> None:
    if old not in firewall.ipsets:
        raise bad_parameters({"name": f"IPSet '{old}' does not exist"})
    if name in firewall.ipsets and name != old:
        raise bad_parameters({"name": f"IPSet '{name}' does already exist"})
    firewall.ipsets[name] = firewall.ipsets.pop(old)
    comment = firewall.ipset_comments.pop(old, "")
    if comment:
        firewall.ipset_comments[name] = comment


def _entries(firewall: Firewall, call: Call) -> list[dict[str, str]]:
    name = call.text("name")
    ipset = firewall.ipsets.get(name)
    if ipset is None:
        raise die(f"no such IPSet '{name}'")
    return ipset


def _place(entries: list[dict[str, str]], call: Call) -> int:
    for number, entry in enumerate(entries):
        if entry["cidr"] == call.text("cidr"):
            return number
    raise bad_parameters({"cidr": "no such IP/Network"})


def _entry(call: Call, cidr: str) -> dict[str, str]:
    entry = {"cidr": cidr}
    if call.flag("nomatch"):
        entry["nomatch"] = "1"
    if call.text("comment"):
        entry["comment"] = call.text("comment")
    return entry


for one in (CLUSTER, MACHINE, CONTAINER):
    _Aliases(one).register()
    _Sets(one).register()
