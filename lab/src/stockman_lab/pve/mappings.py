"""Mappings of devices: what they name on each host, and whether it exists."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.host import Host, PciDevice, UsbDevice


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
