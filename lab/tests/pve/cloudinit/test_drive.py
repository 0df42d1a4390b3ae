"""The cloud-init drive: its files, and passwords."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

import pytest
from stockman_lab.guest.first_boot import Addressing, first_boot
from stockman_lab.pve.cloudinit.drive import Drive, drive, dump, network_version_1, user_data
from stockman_lab.pve.cloudinit.password import sha256_crypt
from stockman_lab.pve.cloudinit.settings import CloudInitError, Resolver

from lab.tests.pve.cloudinit.made import SEVERAL, STATIC, vm

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


NOWHERE = Resolver()


def test_a_guest_understands_what_is_written() -> None:
    found = first_boot({"network-config": network_version_1(vm(SEVERAL)).encode()})

    assert found.links == [
        Addressing(name="eth0", mac="bc:24:11:aa:bb:00", dhcp4=True),
        Addressing(name="eth10", mac="bc:24:11:aa:bb:10", self_made=True),
        Addressing(name="eth2", mac="bc:24:11:aa:bb:02", addresses=["127.66.2.2/8"], dhcp6=True),
    ]


@pytest.mark.parametrize(
    "ipconfig", ["gw=127.66.0.1", "ip=dhcp,gw=127.66.0.1", "ip6=auto,gw6=fd66::1"]
)
def test_what_contradicts_itself_is_passed_over(ipconfig: str) -> None:
    text = network_version_1(vm(STATIC | {"ipconfig0": ipconfig}, resolver=NOWHERE))

    assert text.endswith("      subnets:\n    - type: nameserver\n")


def test_a_card_without_a_mac_address_is_refused() -> None:
    with pytest.raises(CloudInitError, match="network interface 'net0' has no mac address"):
        network_version_1(vm({"net0": "virtio,bridge=vmbr0", "ipconfig0": "ip=dhcp"}))


def test_an_address_without_a_prefix_is_refused() -> None:
    with pytest.raises(CloudInitError, match="not a CIDR"):
        network_version_1(vm(STATIC | {"ipconfig0": "ip=127.0.0.1"}))


KEYS = quote("ssh-ed25519 AAAA one@test\n\nssh-rsa BBBB two@test\n", safe="")


def test_everything_that_can_be_said_is_said() -> None:
    said = {
        "name": "cp-1",
        "searchdomain": "lab.test",
        "ciuser": "root",
        "cipassword": "$5$salt$hash",
        "sshkeys": KEYS,
        "ciupgrade": "0",
    }

    assert user_data(vm(said)) == (
        "#cloud-config\n"
        "hostname: cp-1\n"
        "manage_etc_hosts: true\n"
        "fqdn: cp-1.lab.test\n"
        "user: root\n"
        "disable_root: False\n"
        "password: $5$salt$hash\n"
        "ssh_authorized_keys:\n"
        "  - ssh-ed25519 AAAA one@test\n"
        "  - ssh-rsa BBBB two@test\n"
        "chpasswd:\n"
        "  expire: False\n"
    )


@pytest.mark.parametrize(
    ("password", "seed", "hashed"),
    [
        (
            "Hello world!",
            "saltstring",
            "$5$saltstring$" + "5B8vYYiY.CVt1Rl" + "TTf8KbXBH3hsxY/" + "GNooZaBBGWEc5",
        ),
        ("", "ab", "$5$ab$" + "qRq/oZkUn9lJUSI" + "cgVT3NbpSDsjn.r" + "137TBSoCt2kCA"),
        (
            "p" * 70,
            "12345678",
            "$5$12345678$" + "Twt5Xd4Fq4V6WAR" + "wO4FaVMIrWSYDvr" + "Yl..x1dpfA0s/",
        ),
        ("ü", "q", "$5$q$" + "LreN/PIbW4alnYI" + "cS.CG6U8DQfuTJP" + "GbLawyeew1hP8"),
    ],
)
def test_known_passwords_have_known_hashes(password: str, seed: str, hashed: str) -> None:
    assert sha256_crypt(password, seed) == hashed
