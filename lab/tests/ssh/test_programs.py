"""Programs of hosts do what clients of Proxmox VE expect of them."""

from __future__ import annotations

import pytest
from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image
from stockman_lab.pve.storages.receiving import ReceivedFile, put_file

from lab.tests.pve.endpoints.containers import one_container
from lab.tests.ssh.hosts import Login


def wrapped(script: str) -> str:
    """As the provider sends it."""
    quoted = script.replace("'", "'\"'\"'")
    return f"/bin/bash -c '{quoted}'"


def a_user() -> Login:
    root = Login()
    root.host.ssh_users.append("terraform")
    return Login(root.door, "terraform")


def with_image(login: Login) -> Login:
    """With an image to import, and a machine for it."""
    content = disk_image(ImageFacts(platform="nocloud", virtual_size=1 << 30), Form.QCOW2)
    storage = login.cluster.state.storages["local"]
    put_file(login.cluster, storage, login.host, ReceivedFile("import", "talos.qcow2", content))
    login.door.done(login.door.post("/nodes/pve1/qemu", vmid=100))
    return login


def test_without_sudo_a_user_may_not_write_there() -> None:
    result = a_user().run("tee /var/lib/vz/snippets/a.yaml", b"x")

    assert result.status == 1
    assert result.err == "tee: /var/lib/vz/snippets/a.yaml: Permission denied\n"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("qm set 100 --cores many", "400 Parameter verification failed.\ncores: type check"),
        ("qm set 100", "no options specified\n"),
        ("qm resize 100 scsi5 10G", "disk 'scsi5' does not exist\n"),
        ("qm meadow", "ERROR: unknown command 'qm meadow'\n"),
        ("pvesm path gone:x", "storage 'gone' does not exist\n"),
        ("pvesm path x", "400 Parameter verification failed.\nvolume: invalid format - unable to"),
        ("pvesm meadow", "ERROR: unknown command 'pvesm meadow'\n"),
    ],
)
def test_what_cannot_be_done_ends_with_255(script: str, text: str) -> None:
    result = with_image(Login()).run(script)

    assert result.status == 255
    assert result.err.startswith(text)


def test_a_machine_is_shown_changed_and_grown() -> None:
    login = with_image(Login())
    login.run("qm set 100 --scsi0 thin:1 --name wether")

    grown = login.run("qm resize 100 scsi0 +1G")
    config = login.run("qm config 100").out
    status = login.run("qm status 100").out

    assert grown.status == 0
    assert "name: wether\n" in config
    assert "scsi0: thin:vm-100-disk-0,size=2G\n" in config
    assert status == "status: stopped\n"


@pytest.mark.parametrize(
    ("volid", "path"),
    [
        ("local:iso/a.iso", "/var/lib/vz/template/iso/a.iso"),
        ("local-zfs:vm-100-disk-0", "/dev/zvol/rpool/data/vm-100-disk-0"),
        ("thin:vm-100-disk-0", "/dev/pve/vm-100-disk-0"),
        ("files:100/vm-100-disk-0.qcow2", "/srv/files/images/100/vm-100-disk-0.qcow2"),
    ],
)
def test_paths_of_volumes(volid: str, path: str) -> None:
    assert Login().run(f"pvesm path {volid}").out == f"{path}\n"


def test_tools_of_proxmox_are_for_root() -> None:
    result = a_user().run("/usr/sbin/qm config 100")

    assert result.status == 255
    assert result.err.endswith("Unable to load access control list: Unknown error -1\n")


def test_sudo_does_not_find_what_is_not_there() -> None:
    result = a_user().run("sudo -n meadow")

    assert (result.status, result.err) == (1, "sudo: meadow: command not found\n")


@pytest.mark.parametrize(
    ("script", "status", "text"),
    [
        (
            "pct config 201",
            255,
            "Configuration file 'nodes/pve1/lxc/201.conf' does not exist\n",
        ),
        ("pct meadow", 255, "ERROR: unknown command 'pct meadow'\n"),
    ],
)
def test_what_cannot_be_done_with_containers(script: str, status: int, text: str) -> None:
    result = Login(one_container()).run(script)

    assert result.status == status
    assert result.err.startswith(text)


def test_files_are_listed_told_and_removed() -> None:
    login = Login()

    made = login.run(
        "mkdir -p /opt/a/b; echo hello > /opt/a/x; chmod 600 /opt/a/x; ls /opt/a;"
        " ls -l /opt/a/x; stat -c '%s %a %n' /opt/a/x; rm -r /opt/a; ls /opt"
    )

    assert made.out.splitlines() == [
        "b",
        "x",
        "-rw------- 1 root root 6 /opt/a/x",
        "6 600 /opt/a/x",
    ]
    assert made.status == 0


@pytest.mark.parametrize(
    ("script", "status", "text"),
    [
        ("ls /gone", 2, "ls: cannot access '/gone': No such file or directory\n"),
        ("cat /gone", 1, "cat: /gone: No such file or directory\n"),
        ("rm /gone", 1, "rm: cannot remove '/gone': No such file or directory\n"),
        ("rm -f /gone", 0, ""),
        ("rm /tmp", 1, "rm: cannot remove '/tmp': Is a directory\n"),
        ("mkdir /tmp", 1, "mkdir: cannot create directory '/tmp': File exists\n"),
        ("chmod wool /tmp", 1, "chmod: invalid mode: 'wool'\n"),
        ("chmod 700 /gone", 1, "chmod: cannot access '/gone': No such file or directory\n"),
        ("stat /gone", 1, "stat: cannot statx '/gone': No such file or directory\n"),
        ("cat /etc/pve/priv/metricserver/x.pw 2>/dev/null || echo MISSING", 0, ""),
    ],
)
def test_programs_complain_as_they_do(script: str, status: int, text: str) -> None:
    result = Login().run(script)

    assert (result.status, result.err) == (status, text)


def test_everybody_knows_who_they_are_and_where() -> None:
    assert Login().run("id; whoami; hostname").out == (
        "uid=0(root) gid=0(root) groups=0(root)\nroot\npve1\n"
    )
    assert a_user().run("id -u").out == "1000\n"


def test_root_takes_a_lock_away_that_a_host_left() -> None:
    login = with_image(Login())
    values = login.cluster.state.guests[100].config.values
    values["lock"] = "create"

    refused = login.run("qm destroy 100")
    unlocked = login.run("qm unlock 100")
    left = dict(values)
    destroyed = login.run("qm destroy 100 --destroy-unreferenced-disks 1")

    assert (refused.status, refused.err) == (255, "VM is locked (create)\n")
    assert (unlocked.status, unlocked.out) == (0, "")
    assert "lock" not in left
    assert destroyed.status == 0
    assert 100 not in login.cluster.state.guests


def test_nothing_is_unlocked_that_is_not_there() -> None:
    result = Login().run("qm unlock 4711")

    assert result.status == 255
    assert "4711.conf' does not exist" in result.err


def test_a_container_is_unlocked_and_destroyed_by_root() -> None:
    login = Login(one_container())
    login.cluster.state.guests[200].config.values["lock"] = "create"

    assert login.run("pct destroy 200").err == "CT is locked (create)\n"
    assert login.run("pct unlock 200").status == 0
    assert login.run("pct destroy 200").status == 0
    assert 200 not in login.cluster.state.guests
