"""Keys of configurations."""

from __future__ import annotations

import pytest
from stockman_lab.pve.guest_config.keys import (
    container_key_exists,
    container_kind,
    index_of,
    is_indexed,
    machine_key_exists,
    machine_kind,
)


@pytest.mark.parametrize(
    "key",
    [
        *("net31", "ipconfig31", "scsi30", "virtio15", "sata5", "ide3", "unused255", "hostpci15"),
        *("usb13", "serial3", "parallel2", "numa7", "virtiofs9", "efidisk0", "tpmstate0", "rng0"),
        *("allow-ksm", "running-nets-host-mtu", "vmstate", "cdrom"),
    ],
)
def test_a_machine_knows_its_keys(key: str) -> None:
    assert machine_key_exists(key)


@pytest.mark.parametrize(
    "key",
    ["net32", "scsi31", "usb14", "serial4", "numa8", "net01", "mp0", "hostname", "digest", "net²"],
)
def test_a_machine_does_not_know_others(key: str) -> None:
    assert not machine_key_exists(key)


def test_a_container_knows_its_own() -> None:
    assert all(map(container_key_exists, ("net31", "mp255", "dev255", "unused255", "rootfs")))
    assert not any(map(container_key_exists, ("net32", "mp256", "scsi0", "balloon")))


def test_values_are_of_a_kind() -> None:
    machine = [machine_kind(key) for key in ("onboot", "cores", "cpulimit", "memory", "net0")]
    container = [container_kind(key) for key in ("onboot", "memory", "cpulimit", "rootfs")]

    assert machine == ["boolean", "integer", "number", "string", "string"]
    assert container == ["boolean", "integer", "number", "string"]


def test_numbered_keys_have_a_name_and_a_number() -> None:
    assert (index_of("net12", "net"), index_of("net12", "scsi")) == (12, None)
    assert is_indexed("scsi3", "ide", "scsi")
    assert not is_indexed("scsi", "scsi")
