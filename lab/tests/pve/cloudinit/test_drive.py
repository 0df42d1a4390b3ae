"""The drive and what is on it."""

from __future__ import annotations

import hashlib

import pytest
from stockman_lab.pve.cloudinit.drive import SIZE, Drive, drive, dump, network_version_1, user_data
from stockman_lab.pve.cloudinit.settings import CloudInitError

from lab.tests.images.made import MOMENT
from lab.tests.pve.cloudinit.made import STATIC, vm
from stockman.talos.nocloud.iso_reader import read_image

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


def test_its_image_is_as_large_as_the_volume_and_holds_the_files() -> None:
    found = made(STATIC)

    image = found.image(MOMENT)

    assert len(image) == SIZE
    read = read_image("cloudinit", image)
    assert (read.label, read.files) == (found.label, found.files)


def test_snippets_replace_what_is_made() -> None:
    found = made(STATIC | {"cicustom": "user=local:snippets/talos.yaml"})

    network = network_version_1(vm(STATIC)).encode()
    digest = hashlib.sha1(b"version: v1alpha1\n" + network).hexdigest()
    assert found.files["user-data"] == b"version: v1alpha1\n"
    assert found.files["network-config"] == network
    assert found.files["meta-data"] == f"instance-id: {digest}\n".encode()


def test_a_network_of_ones_own_needs_none_that_can_be_made() -> None:
    values = {
        "net0": "virtio,bridge=vmbr0",
        "ipconfig0": "ip=dhcp",
        "cicustom": "network=local:snippets/talos.yaml,meta=local:snippets/talos.yaml"
        ",vendor=local:snippets/talos.yaml",
    }

    files = made(values).files

    assert {name for name, text in files.items() if text == b"version: v1alpha1\n"} == {
        "network-config",
        "meta-data",
        "vendor-data",
    }


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
