"""`/nodes/NODE/hardware` and `capabilities`: devices of a host, and what its emulator offers."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import PciDevice, UsbDevice
from stockman_lab.pve.releases import release_of

_PATH = "/nodes/{node}/hardware"
_HIDDEN = "05;06;0b"
"""Memory controllers, bridges and processors."""


@endpoint("GET", f"{_PATH}/pci")
def pci(call: Call) -> object:
    hidden = split_list(call.text("pci-class-blacklist", _HIDDEN))
    verbose = call.flag("verbose", default=True)
    return [
        _pci_row(device, verbose=verbose)
        for device in sorted(call.node.pci, key=lambda one: one.id)
        if not any(device.device_class.startswith(f"0x{prefix}") for prefix in hidden)
    ]


@endpoint("GET", f"{_PATH}/usb")
def usb(call: Call) -> object:
    return [_usb_row(device) for device in call.node.usb]


def _pci_row(device: PciDevice, *, verbose: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "id": device.id,
        "vendor": device.vendor,
        "device": device.device,
        "class": device.device_class,
        "iommugroup": device.iommugroup,
    }
    if device.mdev:
        row["mdev"] = 1
    if not verbose:
        return row
    names = {
        "vendor_name": device.vendor_name,
        "device_name": device.device_name,
        "subsystem_vendor": device.subsystem_vendor,
        "subsystem_device": device.subsystem_device,
    }
    return row | {key: value for key, value in names.items() if value}


def _usb_row(device: UsbDevice) -> dict[str, object]:
    row: dict[str, object] = {
        "busnum": device.busnum,
        "devnum": device.devnum,
        "class": device.device_class,
        "level": device.level,
        "port": device.port,
        "usbpath": device.usbpath.rpartition("-")[2],
        "vendid": device.vendid.removeprefix("0x"),
        "prodid": device.prodid.removeprefix("0x"),
        "speed": device.speed,
    }
    names = {
        "manufacturer": device.manufacturer,
        "product": device.product,
        "serial": device.serial,
    }
    return row | {key: value for key, value in names.items() if value}


_CAPABILITIES = "/nodes/{node}/capabilities"
_CPU_MODELS = {
    "default": ("kvm32", "kvm64", "max", "qemu32", "qemu64", "x86-64-v2", "x86-64-v2-AES",
                "x86-64-v3", "x86-64-v4", "host"),
    "GenuineIntel": ("486", "Broadwell", "Broadwell-IBRS", "Cascadelake-Server", "Conroe",
                     "Cooperlake", "Haswell", "Haswell-noTSX", "Icelake-Server", "IvyBridge",
                     "Nehalem", "Penryn", "SandyBridge", "SapphireRapids", "Skylake-Client",
                     "Skylake-Server", "Westmere", "core2duo", "coreduo", "pentium", "pentium2",
                     "pentium3"),
    "AuthenticAMD": ("EPYC", "EPYC-Genoa", "EPYC-IBPB", "EPYC-Milan", "EPYC-Rome", "Opteron_G1",
                     "Opteron_G2", "Opteron_G3", "Opteron_G4", "Opteron_G5", "athlon", "phenom"),
}  # fmt: skip
_OLDEST = (2, 4)
_MINORS = {2: 12, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2}


@endpoint("GET", f"{_CAPABILITIES}/qemu/cpu")
def processors(call: Call) -> object:
    del call
    return [
        {"name": name, "vendor": vendor, "custom": 0}
        for vendor, names in _CPU_MODELS.items()
        for name in names
    ]


@endpoint("GET", f"{_CAPABILITIES}/qemu/machines")
def machine_types(call: Call) -> object:
    """Kinds of machines, the newest first, back to the oldest that is supported."""
    newest = release_of(call.cluster.state.profile).qemu.split(".")[:2]
    last = (int(newest[0]), int(newest[1]))
    versions = [
        (major, minor)
        for major in range(_OLDEST[0], last[0] + 1)
        for minor in range(_MINORS.get(major, last[1]) + 1)
        if _OLDEST <= (major, minor) <= last
    ]
    return [
        {"id": f"pc-{kind}-{major}.{minor}", "type": kind, "version": f"{major}.{minor}"}
        for kind in ("i440fx", "q35")
        for major, minor in reversed(versions)
    ]
