"""Every check, in the order of the report.

A new check is a function in the file of its area, and a name in the `CHECKS` at its end.
"""

from __future__ import annotations

from stockman.app.doctor import (
    clock,
    configuration,
    machine,
    names,
    proxmox,
    proxmox_rights,
    reach,
    repository,
    secrets,
)

CHECKS = (
    *machine.CHECKS,
    *repository.CHECKS,
    *configuration.CHECKS,
    *secrets.CHECKS,
    *names.CHECKS,
    *reach.CHECKS,
    *proxmox.CHECKS,
    *proxmox_rights.CHECKS,
    *clock.CHECKS,
)
