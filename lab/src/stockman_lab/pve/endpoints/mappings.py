"""`/cluster/mapping`: names for devices that differ from host to host."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import die, failing
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import Host
from stockman_lab.pve.mappings import checks_of
from stockman_lab.pve.sections import digest_of, in_kinds, refuse_changed, texts

_SEE = ("Mapping.Modify", "Mapping.Use", "Mapping.Audit")
_OPTIONAL = {
    "pci": ("description", "mdev", "live-migration-capable"),
    "usb": ("description",),
}
_NAMED = ("id", "digest", "delete", "check-node")


class _Mappings:
    """Calls about one kind of mapping."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.path = f"/cluster/mapping/{kind}"

    def rows(self, call: Call) -> object:
        rows = []
        for name, section in self._all(call).items():
            if not call.may(f"/mapping/{self.kind}/{name}", *_SEE, any_of=True):
                continue
            row = self._row(call, section) | {"id": name}
            if call.has("check-node"):
                field = "errors" if self.kind == "usb" else "checks"
                row[field] = checks_of(call.cluster, self.kind, section, self._host(call))
            rows.append(row)
        return rows

    def row(self, call: Call) -> object:
        found = self._all(call).get(call.text("id"))
        if found is None:
            raise die(f"mapping '{call.text('id')}' not found")
        return self._row(call, found)

    def create(self, call: Call) -> object:
        name, existing = call.text("id"), self._all(call)
        section = Section(name, self.kind)
        self._write(call, section)
        with failing("create hardware mapping failed"):
            self._require_quorum(call)
            if name in existing:
                raise die(f"{self.kind} ID '{name}' already defined")
            existing[name] = section
        call.cluster.changed()
        return None

    def update(self, call: Call) -> object:
        name, existing = call.text("id"), self._all(call)
        with failing("update hardware mapping failed"):
            self._require_quorum(call)
            refuse_changed(digest_of(existing), call.text("digest"))
            found = existing.get(name)
            if found is None:
                raise die(f"{self.kind} ID '{name}' does not exist")
            changed = Section(name, self.kind, dict(found.options), dict(found.lists))
            self._delete(call, changed)
            self._write(call, changed)
            existing[name] = changed
        call.cluster.changed()
        return None

    def delete(self, call: Call) -> object:
        """Also of a mapping that is not there: nobody minds."""
        with failing(f"delete {self.kind} mapping failed"):
            self._require_quorum(call)
            self._all(call).pop(call.text("id"), None)
        call.cluster.changed()
        return None

    def _all(self, call: Call) -> dict[str, Section]:
        return call.cluster.state.mappings.setdefault(self.kind, {})

    def _row(self, call: Call, section: Section) -> dict[str, object]:
        row = in_kinds(call.cluster.state.profile, self.path, section.options)
        digest = digest_of(self._all(call))
        maps = list(section.lists.get("map", []))
        return row | {"map": maps, "type": self.kind, "digest": digest}

    def _host(self, call: Call) -> Host:
        name = call.text("check-node")
        return call.host if name == "localhost" else call.cluster.host(name)

    def _require_quorum(self, call: Call) -> None:
        call.cluster.require_quorum(f"file-mapping_{self.kind}_cfg")

    def _write(self, call: Call, section: Section) -> None:
        if not call.has("map"):
            raise die("missing value for required option 'map'")
        section.options |= texts(call.params, _NAMED)
        given = call.params["map"]
        section.lists["map"] = [str(one) for one in given] if isinstance(given, list) else []

    def _delete(self, call: Call, section: Section) -> None:
        for name in split_list(call.text("delete")):
            if name == "map":
                raise die("unable to delete required option 'map'")
            if name not in _OPTIONAL[self.kind]:
                raise die(f"no such option '{name}'")
            if call.has(name):
                raise die(f"cannot set and delete property '{name}' at the same time!")
            section.options.pop(name, None)


def _register(mappings: _Mappings) -> None:
    calls: dict[tuple[str, str], Callable[[Call], object]] = {
        ("GET", ""): mappings.rows,
        ("POST", ""): mappings.create,
        ("GET", "/{id}"): mappings.row,
        ("PUT", "/{id}"): mappings.update,
        ("DELETE", "/{id}"): mappings.delete,
    }
    for (method, below), handler in calls.items():
        endpoint(method, f"{mappings.path}{below}")(handler)


for kind in ("pci", "usb"):
    _register(_Mappings(kind))
