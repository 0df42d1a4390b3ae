"""The drive and what is on it."""

from __future__ import annotations

import hashlib

import pytest
from stockman_lab.pve.cloudinit.drive import Drive, drive, dump, network_version_1, user_data
from stockman_lab.pve.cloudinit.settings import CloudInitError

from lab.tests.pve.cloudinit.made import STATIC, vm

SNIPPETS = {
    "local:snippets/talos.yaml": b"version: v1alpha1\n",
    "local:snippets/big": b"x" * (4 << 20),
}


def made(values: dict[str, str]) -> Drive:
    return drive(vm(values), SNIPPETS.__getitem__)


def test_a_nocloud_drive_holds_four_files() -> None:
    found = made(STATIC)

    user, network = user_data(vm(STATIC)).encode(), network_version_1(vm(STATIC)).encode()
    digest = hashlib.sha1(user + network).hexdigest()
    assert found == Drive(
        label="cidata",
        files={
            "user-data": user,
            "network-config": network,
            "meta-data": f"instance-id: {digest}\n".encode(),
            "vendor-data": b"",
        },
    )


def test_only_snippets_are_snippets() -> None:
    with pytest.raises(CloudInitError) as refused:
        made({"cicustom": "user=local:iso/a.iso"})

    assert str(refused.value) == "local:iso/a.iso is not in the snippets directory"


def test_a_drive_has_room_for_so_much() -> None:
    with pytest.raises(CloudInitError, match=r"Cloud-Init sum of snippets too big \(> 3 MiB\)"):
        made({"cicustom": "user=local:snippets/big"})


def test_a_dump_shows_what_is_made_whatever_snippets_there_are() -> None:
    values = STATIC | {"cipassword": "secret", "cicustom": "user=local:snippets/talos.yaml"}
    settings = vm(values)
    digest = hashlib.sha1(
        user_data(settings).encode() + network_version_1(settings).encode()
    ).hexdigest()

    assert dump(settings, "user") == user_data(settings)
    assert "secret" not in dump(settings, "user", mask_password=True)
    assert dump(settings, "network") == network_version_1(settings)
    assert dump(settings, "meta", mask_password=True) == f"instance-id: {digest}\n"
