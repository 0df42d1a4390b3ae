"""`user-data` as Proxmox VE writes it."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from stockman_lab.pve.cloudinit.drive import user_data

from lab.tests.pve.cloudinit.made import vm

KEYS = quote("ssh-ed25519 AAAA one@test\n\nssh-rsa BBBB two@test\n", safe="")


def test_a_bare_vm_says_its_name() -> None:
    assert user_data(vm({})) == (
        "#cloud-config\n"
        "hostname: VM100\n"
        "manage_etc_hosts: true\n"
        "fqdn: VM100\n"
        "chpasswd:\n"
        "  expire: False\n"
        "users:\n"
        "  - default\n"
        "package_upgrade: true\n"
    )


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


def test_a_password_can_be_masked() -> None:
    said = user_data(vm({"cipassword": "secret", "ciuser": "me"}), mask_password=True)

    assert "password: **********\n" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"name": "a.b.c"}, ("a", "a.b.c")),
        ({"name": "a.b.c", "searchdomain": "x"}, ("a", "a.b.c")),
        ({"name": "a", "searchdomain": "x"}, ("a", "a.x")),
        ({"name": "a"}, ("a", "a")),
    ],
)
def test_names_are_short_and_long(values: dict[str, str], names: tuple[str, str]) -> None:
    assert vm(values).names == names
