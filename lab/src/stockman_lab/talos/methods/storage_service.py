"""Disks of a machine."""

from __future__ import annotations

from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.disks import names

_SSD, _CD = 1, 5


@method("storage.StorageService", "Disks")
def disks(call: Call) -> Fields:
    """All disks and drives, by name."""
    machine = call.machine
    view = machine.view
    rows = []
    for slot, name in sorted(names(view).items(), key=lambda item: item[1]):
        disk = view.disk(slot)
        if disk is None:
            continue
        rows.append(
            {
                "size": disk.size,
                "model": "QEMU DVD-ROM" if disk.is_cdrom else "QEMU HARDDISK",
                "device_name": f"/dev/{name}",
                "serial": disk.serial,
                "type": _CD if disk.is_cdrom else _SSD,
                "system_disk": slot == machine.state.system_disk,
                "subsystem": "/sys/class/block",
                "readonly": disk.is_cdrom,
            }
        )
    return {"disks": rows}
