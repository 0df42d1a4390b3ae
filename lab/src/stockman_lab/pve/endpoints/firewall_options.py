"""Options, references and logs of firewalls, and lists of what is below."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve.api.call import Answer, Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.firewall.listing import digest_of
from stockman_lab.pve.firewall.macros import MACROS
from stockman_lab.pve.firewall.place import CLUSTER, CONTAINER, HOST, MACHINE, Place
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.sections import refuse_changed, typed

_BELOW = {
    "cluster": ("aliases", "rules", "options", "groups", "ipset", "macros", "refs"),
    "host": ("rules", "options", "log"),
    "vm": ("rules", "aliases", "ipset", "refs", "options"),
    "ct": ("rules", "aliases", "ipset", "refs", "options"),
}
_NOT_OPTIONS = ("node", "vmid", "delete", "digest")


class _Options:
    """Calls about the options of one kind of place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.path = f"{place.path}/options"

    def register(self) -> None:
        endpoint("GET", self.place.path)(self.index)
        endpoint("GET", self.path)(self.options)
        endpoint("PUT", self.path)(self.change)
        if self.place is not HOST:
            endpoint("GET", f"{self.place.path}/refs")(self.references)
        if self.place is not CLUSTER:
            endpoint("GET", f"{self.place.path}/log")(self.log)

    def index(self, call: Call) -> object:
        del call
        return [{"name": name} for name in _BELOW[self.place.kind]]

    def options(self, call: Call) -> object:
        options = self.place.firewall(call).options
        values = typed(call.cluster.state.profile, self.path, options, "PUT")
        return values | {"digest": digest_of([options])}

    def change(self, call: Call) -> object:
        options = self.place.change(call).options
        refuse_changed(digest_of([options]), call.text("digest"))
        known = Schema.of(call.cluster.state.profile).operation("PUT", self.path).parameters
        for name in split_list(call.text("delete")):
            if name not in known or name in _NOT_OPTIONS:
                raise bad_parameters({"delete": f"no such option '{name}'"})
            options.pop(name, None)
        for name in call.params:
            if name not in _NOT_OPTIONS:
                options[name] = self._value(call, name)
        return None

    def references(self, call: Call) -> object:
        text, cluster = call.text("type"), call.cluster.state.firewall
        rows = list(_references(cluster, "dc", text))
        if self.place is not CLUSTER:
            rows += _references(self.place.firewall(call), "guest", text)
        return rows

    def log(self, call: Call) -> object:
        """Nothing is ever logged; the real one says so in a line of its own."""
        del call
        return Answer([{"n": 1, "t": "no content"}], total=1)

    def _value(self, call: Call, name: str) -> str:
        if name != "enable":
            return call.text(name)
        number = call.number(name)
        if number > 1 and self.place is CLUSTER:
            return str(int(call.now))
        return str(int(bool(number)))


def _references(firewall: Firewall, scope: str, wanted: str) -> Iterator[dict[str, object]]:
    if wanted in ("", "ipset"):
        for name in sorted(firewall.ipsets):
            yield _row("ipset", name, f"+{name}", scope, firewall.ipset_comments.get(name, ""))
    if wanted in ("", "alias"):
        for name, alias in sorted(firewall.aliases.items()):
            yield _row("alias", name, name, scope, alias.get("comment", ""))


def _row(kind: str, name: str, reference: str, scope: str, comment: str) -> dict[str, object]:
    row: dict[str, object] = {"type": kind, "name": name, "ref": reference, "scope": scope}
    return row | ({"comment": comment} if comment else {})


@endpoint("GET", "/cluster/firewall/macros")
def macros(call: Call) -> object:
    del call
    return [{"macro": name, "descr": name} for name in MACROS]


for one in (CLUSTER, HOST, MACHINE, CONTAINER):
    _Options(one).register()
