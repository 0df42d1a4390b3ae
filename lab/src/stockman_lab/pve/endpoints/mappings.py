"""`/cluster/mapping`: names for devices that differ from host to host."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError, die, failing
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import Host, PciDevice, UsbDevice
from stockman_lab.pve.sections import digest_of, in_kinds, refuse_changed, texts


def entries_of(section: Section, host: str = "") -> Iterator[dict[str, str]]:
    """What a mapping names on a host, or on all."""
    for text in section.lists.get("map", []):
        pairs = (part.partition("=") for part in text.split(","))
        entry = {key: value for key, _, value in pairs}
        if host in ("", entry.get("node", "")):
            yield entry


def checks_of(cluster: Cluster, kind: str, section: Section, host: Host) -> list[dict[str, str]]:
    """What is wrong with a mapping on a host."""
    entries = list(entries_of(section, host.name))
    if not entries:
        return [{"severity": "warning", "message": f"No mapping for node {host.name}."}]
    checks = []
    for entry in entries:
        try:
            _check(cluster, kind, section, entry)
        except ApiError as error:
            message = f"Invalid configuration: {error.message}\n"
            checks.append({"severity": "error", "message": message})
    return checks


def _check(cluster: Cluster, kind: str, section: Section, entry: dict[str, str]) -> None:
    host = cluster.host(entry["node"])
    check = _check_pci if kind == "pci" else _check_usb
    check(host, section, entry)


def _check_pci(host: Host, section: Section, entry: dict[str, str]) -> None:
    for number, text in enumerate(entry["path"].split(";")):
        path = text if "." in text else f"{text}.0"
        device = next((one for one in host.pci if one.id == path), None)
        if device is None:
            raise die(f"pci device '{path}' not found")
        real = _real(device)
        told = {name: entry.get(name, "") for name in ("id", "iommugroup", "subsystem-id")}
        real["mdev"] = str(int(device.mdev))
        told["mdev"] = section.options.get("mdev", "0")
        for name in sorted(real):
            if name == "iommugroup" and number > 0:
                continue
            _compare(section.id, path, name, (real[name], told[name]))


def _real(device: PciDevice) -> dict[str, str]:
    subsystem = f"{device.subsystem_vendor}:{device.subsystem_device}"
    return {
        "id": f"{device.vendor}:{device.device}",
        "iommugroup": str(device.iommugroup),
        "subsystem-id": subsystem if device.subsystem_vendor else "",
    }


def _compare(name: str, path: str, key: str, values: tuple[str, str]) -> None:
    real, told = (value.replace("0x", "") for value in values)
    if real and not told:
        raise die(f"missing expected property '{key}' for device '{path}'")
    if told and not real:
        raise die(f"unexpected property '{key}' configured for device '{path}'")
    if real != told:
        raise die(f"'{key}' does not match for '{name}' ({real} != {told})")


def _check_usb(host: Host, section: Section, entry: dict[str, str]) -> None:
    wanted, path = entry["id"], entry.get("path", "")
    if not path:
        if not any(_usb_id(one) == wanted for one in host.usb):
            raise die(f"usb device '{wanted}' not found")
        return
    device = next((one for one in host.usb if _usb_path(one) == path), None)
    if device is None:
        raise die(f"usb device '{path}' not found")
    if _usb_id(device) != wanted:
        raise die(f"'id' does not match for '{section.id}' ({_usb_id(device)} != {wanted})")


def _usb_id(device: UsbDevice) -> str:
    return f"{device.vendid}:{device.prodid}".replace("0x", "")


def _usb_path(device: UsbDevice) -> str:
    return device.usbpath if "-" in device.usbpath else f"{device.busnum}-{device.usbpath}"


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
