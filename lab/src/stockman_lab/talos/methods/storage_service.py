"""Disks of a machine, and emptying them."""

from __future__ import annotations

from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.disks import names
from stockman_lab.talos.figures.hardware import hardware_of
from stockman_lab.talos.wiping import check, wipe

_SERVICE = "storage.StorageService"


@method(_SERVICE, "Disks")
def disks(call: Call) -> Fields:
    """All disks and drives, by name."""
    machine = call.machine
    view = machine.view
    found = []
    for slot, name in sorted(names(view).items(), key=lambda one: one[1]):
        disk = view.disk(slot)
        if disk is None:
            continue
        hardware = hardware_of(disk)
        found.append(
            {
                "size": disk.size,
                "model": hardware.model,
                "device_name": f"/dev/{name}",
                "serial": disk.serial,
                "modalias": hardware.modalias,
                "wwid": hardware.wwid,
                "type": hardware.type,
                "bus_path": hardware.bus_path,
                "system_disk": slot == machine.state.system_disk,
                "subsystem": "/sys/class/block",
                "readonly": disk.is_cdrom,
            }
        )
    return {"disks": found}


@method(_SERVICE, "BlockDeviceWipe")
def block_device_wipe(call: Call) -> Fields:
    """Empty disks and partitions that nothing uses; all of them are looked at first."""
    machine = call.machine
    devices = list(call.request.devices)
    for device in devices:
        check(machine, device.device, ignore_volumes=device.skip_volume_check)
    for device in devices:
        wipe(machine, device.device)
    call.land.changed()
    return {}
