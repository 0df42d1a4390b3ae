"""What the releases say about themselves that the profiles stand for."""

from __future__ import annotations

from stockman.model.record import record


@record
class Release:
    """One release of Proxmox VE."""

    version: str
    release: str
    repoid: str
    kernel: str
    qemu: str
    machine: str

    @property
    def manager(self) -> str:
        """`pve-manager/9.1.9/...`, as hosts name it."""
        return f"pve-manager/{self.version}/{self.repoid}"


_RELEASES = {
    "8.4": Release(
        version="8.4.0",
        release="8.4",
        repoid="ec58e45e1bcdf2ac",
        kernel="6.8.12-9-pve",
        qemu="9.2.0",
        machine="pc-i440fx-9.2+pve1",
    ),
    "9.1": Release(
        version="9.1.9",
        release="9.1",
        repoid="7e6ae3dcc6e6ee0d",
        kernel="6.17.2-1-pve",
        qemu="10.1.2",
        machine="pc-i440fx-10.1+pve0",
    ),
}


def release_of(profile: str) -> Release:
    """The release of a profile."""
    return _RELEASES[profile]
