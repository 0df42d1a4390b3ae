"""The drive and what is on it."""

from __future__ import annotations

import hashlib
import json

import pytest
from stockman_lab.pve.cloudinit.drive import SIZE, Drive, drive, dump
from stockman_lab.pve.cloudinit.network_config import network_version_1
from stockman_lab.pve.cloudinit.settings import CloudInitError
from stockman_lab.pve.cloudinit.user_data import user_data

from lab.tests.images.made import MOMENT
from lab.tests.pve.cloudinit.made import SEVERAL, STATIC, vm
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


@pytest.mark.parametrize("form", ["nocloud", "configdrive2", "opennebula"])
def test_its_image_is_as_large_as_the_volume_and_holds_the_files(form: str) -> None:
    found = made(STATIC | {"citype": form})

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


@pytest.mark.parametrize("values", [{"citype": "configdrive2"}, {"ostype": "win11"}])
def test_a_configuration_drive_holds_what_openstack_would(values: dict[str, str]) -> None:
    found = made(STATIC | values | {"cipassword": "secret", "sshkeys": "a%20b%0Ac%20d"})

    assert found.label == "config-2"
    assert set(found.files) == {
        "openstack/latest/user_data",
        "openstack/content/0000",
        "openstack/latest/meta_data.json",
        "openstack/latest/vendor_data.json",
    }
    meta = json.loads(found.files["openstack/latest/meta_data.json"])
    assert meta["network_config"] == {"content_path": "/content/0000"}
    assert meta.get("admin_pass") == ("secret" if "ostype" in values else None)
    keys = {"key-0": "a b", "key-1": "c d"}
    assert meta.get("public_keys") == (keys if "ostype" in values else None)


def test_a_drive_for_opennebula_is_one_script() -> None:
    found = made(SEVERAL | {"citype": "opennebula", "cipassword": "x", "sshkeys": "a%20b%0Ac"})

    assert found.label == "CONTEXT"
    assert found.files["context.sh"].decode() == (
        "USERNAME=root\n"
        "CRYPTED_PASSWORD_BASE64=eA==\n\n"
        'SSH_PUBLIC_KEY="a b\nc"\n'
        "SET_HOSTNAME=many\n"
        'DNS="127.66.0.9"\n'
        'SEARCH_DOMAIN="a.test b.test"\n'
        "ETH0_DHCP=YES\n"
        "ETH10_AUTO6=YES\n"
        "ETH2_IP=127.66.2.2\n"
        "ETH2_MASK=255.0.0.0\n"
        "ETH2_MAC=\n"
        "ETH2_DHCP6=YES\n"
        "NETWORK=YES\n"
    )


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


def test_a_dump_of_a_configuration_drive_shows_that() -> None:
    settings = vm(STATIC | {"citype": "configdrive2"})

    assert dump(settings, "network").startswith("auto lo\n")
    assert json.loads(dump(settings, "meta"))["uuid"]
