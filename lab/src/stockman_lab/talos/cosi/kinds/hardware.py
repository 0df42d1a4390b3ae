"""What firmware and buses say of the virtual machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.registry import Contents, kind
from stockman_lab.talos.extensions import driver_of

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_MIB = 1 << 20
_MODULE_MIB = 16384
"""QEMU tells no larger memory modules."""


@kind("SystemInformations.hardware.talos.dev", "hardware.SystemInfoController")
def system_informations(machine: Machine) -> Contents:
    smbios = machine.view.smbios
    return {
        "systeminformation": {
            "manufacturer": smbios.manufacturer,
            "productName": smbios.product or "Standard PC (i440FX + PIIX, 1996)",
            "version": smbios.version or "pc-i440fx-9.2+pve1",
            "serialnumber": smbios.serial,
            "uuid": machine.state.uuid or smbios.uuid,
            "wakeUpType": "Power Switch",
            "skuNumber": smbios.sku,
        }
    }


@kind("Processors.hardware.talos.dev", "hardware.SystemInfoController")
def processors(machine: Machine) -> Contents:
    cores = machine.state.cores
    return {
        "CPU-0": {
            "socket": "CPU 0",
            "manufacturer": "QEMU",
            "productName": "pc-i440fx-9.2+pve1",
            "maxSpeedMhz": 2000,
            "bootSpeedMhz": 2000,
            "status": 65,
            "coreCount": cores,
            "coreEnabled": cores,
            "threadCount": cores,
        }
    }


@kind("MemoryModules.hardware.talos.dev", "hardware.SystemInfoController")
def memory_modules(machine: Machine) -> Contents:
    left = machine.state.memory // _MIB
    contents: dict[str, dict[str, object]] = {}
    while left > 0:
        number, size = len(contents), min(left, _MODULE_MIB)
        contents[f"DIMM-{number}"] = {
            "sizeMiB": size,
            "deviceLocator": f"DIMM {number}",
            "manufacturer": "QEMU",
        }
        left -= size
    return contents


@kind("PCIDevices.hardware.talos.dev", "hardware.PCIDevicesController")
def pci_devices(machine: Machine) -> Contents:
    contents: dict[str, dict[str, object]] = {}
    for device in machine.view.pci:
        class_id = device.device_class.removeprefix("0x")
        contents[f"0000:01:{device.slot:02x}.0"] = {
            "class": "Display controller" if class_id.startswith("03") else "",
            "subclass": "VGA compatible controller" if class_id.startswith("0300") else "",
            "vendor": device.vendor_name,
            "product": device.device_name,
            "class_id": f"0x{class_id[:2]}",
            "subclass_id": f"0x{class_id[2:4]}",
            "vendor_id": device.vendor,
            "product_id": device.device,
            "driver": driver_of(machine, device),
        }
    for link in machine.state.network.links:
        if link.nic >= 0 and link.bus_path:
            contents[link.bus_path] = {
                "class": "Network controller",
                "subclass": "Ethernet controller",
                "vendor": "Red Hat, Inc.",
                "product": "Virtio network device",
                "class_id": "0x02",
                "subclass_id": "0x00",
                "vendor_id": "0x1af4",
                "product_id": "0x1000",
                "driver": "virtio-pci",
            }
    return contents
