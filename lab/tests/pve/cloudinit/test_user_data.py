"""`user-data` as Proxmox VE writes it."""

from __future__ import annotations

from urllib.parse import quote

from stockman_lab.pve.cloudinit.drive import user_data

from lab.tests.pve.cloudinit.made import vm

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
