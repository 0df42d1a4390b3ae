"""Rules of firewalls, wherever they are."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.firewall.listing import digest_of, rows_of
from stockman_lab.pve.firewall.place import CLUSTER, CONTAINER, GROUP, HOST, MACHINE, Place
from stockman_lab.pve.firewall.rule_checks import Around, checked
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.sections import refuse_changed

_KEYS = (
    "type", "action", "macro", "iface", "source", "dest", "proto", "enable", "log", "sport",
    "dport", "comment", "icmp-type",
)  # fmt: skip
_REQUIRED = ("type", "action")


class _Rules:
    """Calls about the rules of one kind of place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.path = place.path if place is GROUP else f"{place.path}/rules"

    def register(self) -> None:
        endpoint("GET", self.path)(self.rows)
        endpoint("POST", self.path)(self.create)
        endpoint("GET", f"{self.path}/{{pos}}")(self.row)
        endpoint("PUT", f"{self.path}/{{pos}}")(self.update)
        endpoint("DELETE", f"{self.path}/{{pos}}")(self.delete)

    def rows(self, call: Call) -> object:
        rows = rows_of(self.place.firewall(call).rules)
        return [row | {"pos": place} for place, row in enumerate(rows)]

    def row(self, call: Call) -> object:
        """One rule; its position is a text here, as it came with the path."""
        rules = self.place.firewall(call).rules
        position = _position(call, rules)
        return rows_of(rules)[position] | {"pos": str(position)}

    def create(self, call: Call) -> object:
        """A new rule comes first, whatever position is asked for."""
        firewall = self.place.change(call)
        made = _written({}, call)
        made.setdefault("enable", "0")
        firewall.rules.insert(0, checked(made, self._around(call, firewall)))
        return None

    def update(self, call: Call) -> object:
        firewall = self.place.change(call)
        refuse_changed(digest_of(firewall.rules), call.text("digest"))
        position = _position(call, firewall.rules)
        target = call.number("moveto", position)
        if target != position:
            firewall.rules = _moved(firewall.rules, position, target)
            return None
        changed = _written(firewall.rules[position], call)
        _delete(changed, split_list(call.text("delete")))
        firewall.rules[position] = checked(changed, self._around(call, firewall))
        return None

    def delete(self, call: Call) -> object:
        firewall = self.place.change(call)
        refuse_changed(digest_of(firewall.rules), call.text("digest"))
        del firewall.rules[_position(call, firewall.rules)]
        return None

    def _around(self, call: Call, own: Firewall) -> Around:
        return Around(self.place.kind, call.cluster.state.firewall, own)


def _position(call: Call, rules: list[dict[str, str]]) -> int:
    number = call.number("pos")
    if number >= len(rules):
        raise die(f"no rule at position {number}")
    return number


def _written(rule: dict[str, str], call: Call) -> dict[str, str]:
    values = dict(rule)
    for key in _KEYS:
        if not call.has(key):
            continue
        value = call.text(key)
        if value in ("", "-"):
            values.pop(key, None)
        else:
            values[key] = str(int(bool(call.number(key)))) if key == "enable" else value
    return values


def _delete(rule: dict[str, str], names: list[str]) -> None:
    for name in names:
        if name not in (*_KEYS, "pos", "digest"):
            raise bad_parameters({"delete": f"no such property ('{name}')"})
        if name in _REQUIRED:
            raise bad_parameters({"delete": f"unable to delete required property '{name}'"})
        rule.pop(name, None)


def _moved(rules: list[dict[str, str]], place: int, target: int) -> list[dict[str, str]]:
    """In front of the rule that is at the target now, or last."""
    found: list[dict[str, str]] = []
    for number, rule in enumerate(rules):
        if number == place:
            continue
        if number == target:
            found.append(rules[place])
        found.append(rule)
    if target >= len(rules):
        found.append(rules[place])
    return found


for one in (CLUSTER, GROUP, HOST, MACHINE, CONTAINER):
    _Rules(one).register()
