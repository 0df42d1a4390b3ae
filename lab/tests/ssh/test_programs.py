"""Programs of hosts do what clients of Proxmox VE expect of them."""

from __future__ import annotations

import pytest
from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image
from stockman_lab.pve.storages.receiving import ReceivedFile, put_file

from lab.tests.pve.endpoints.containers import one_container, running_container
from lab.tests.ssh.hosts import Login

TRY_SUDO = (
    '_try_sudo_check(){ if [ -z "${_try_sudo_cached:-}" ]; then '
    '_try_sudo_use_sudo="${TRY_SUDO_USE_SUDO:-0}"; _try_sudo_cached=1; fi; }; '
    'try_sudo(){ _try_sudo_check; if [ "$_try_sudo_use_sudo" = "1" ]; then '
    'sudo "$@"; else "$@"; fi; }'
)
PROBE = (
    'if [ "$(id -u)" = "0" ]; then echo "0"; '
    'elif [ $(sudo -n /usr/sbin/pvesm apiinfo 2>&1 | grep "APIVER" | wc -l) -gt 0 ] '
    '|| sudo -n /usr/sbin/qm --help >/dev/null 2>&1; then echo "1"; else echo "0"; fi'
)
IMPORT = (
    "try_sudo /usr/sbin/qm disk import $vm_id $source_image $datastore_id_target"
    " -format $file_format"
)
"""How the provider of bpg finds out whether it needs sudo, and how it then calls programs."""


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


@pytest.mark.parametrize(("user", "answer"), [("root", "0\n"), ("terraform", "1\n")])
def test_who_is_not_root_needs_sudo(user: str, answer: str) -> None:
    login = Login() if user == "root" else a_user()

    assert login.run(wrapped(PROBE)).out == answer


def test_a_snippet_is_written_from_the_input() -> None:
    login = a_user()
    script = (
        f"export TRY_SUDO_USE_SUDO=1; {TRY_SUDO}; try_sudo /usr/bin/tee /var/lib/vz/snippets/a.yaml"
    )

    result = login.run(wrapped(script), b"#cloud-config\n")

    assert (result.status, result.out, result.err) == (0, "#cloud-config\n", "")
    assert login.files.read("/var/lib/vz/snippets/a.yaml") == b"#cloud-config\n"


def test_without_sudo_a_user_may_not_write_there() -> None:
    result = a_user().run("tee /var/lib/vz/snippets/a.yaml", b"x")

    assert result.status == 1
    assert result.err == "tee: /var/lib/vz/snippets/a.yaml: Permission denied\n"


@pytest.mark.parametrize("user", ["root", "terraform"])
def test_a_disk_is_imported_and_attached_as_the_provider_does_it(user: str) -> None:
    login = with_image(Login() if user == "root" else a_user())
    script = "; ".join(
        [
            f"export TRY_SUDO_USE_SUDO={int(user != 'root')}",
            "set -e",
            TRY_SUDO,
            "file_id=local:import/talos.qcow2",
            "file_format=raw",
            "datastore_id_target=local-zfs",
            "vm_id=100",
            "disk_options=discard=on,ssd=1",
            "disk_interface=scsi0",
            "source_image=$(try_sudo /usr/sbin/pvesm path $file_id)",
            f"imported_disk=$({IMPORT} | grep unused0 | cut -d : -f 3 | cut -d \\' -f 1)",
            "disk_id=${datastore_id_target}:$imported_disk,$disk_options",
            "try_sudo /usr/sbin/qm set $vm_id -${disk_interface} $disk_id",
        ]
    )

    result = login.run(wrapped(script))

    assert (result.status, result.err) == (0, "")
    expected = "update VM 100: -scsi0 local-zfs:vm-100-disk-0,discard=on,ssd=1\n"
    assert result.out.endswith(expected)
    values = login.cluster.state.guests[100].config.values
    assert values["scsi0"] == "local-zfs:vm-100-disk-0,discard=on,size=1G,ssd=1"
    assert "unused0" not in values
    volume = login.cluster.state.volumes["pve1/local-zfs:vm-100-disk-0"]
    source = login.cluster.state.volumes["pve1/local:import/talos.qcow2"]
    assert (volume.blob, volume.size) == (source.blob, 1 << 30)


def test_importing_says_what_it_does() -> None:
    login = with_image(Login())

    result = login.run("qm importdisk 100 /var/lib/vz/import/talos.qcow2 files --format qcow2")

    lines = result.out.splitlines()
    assert lines[0] == "importing disk '/var/lib/vz/import/talos.qcow2' to VM 100 ..."
    assert lines[-1] == "unused0: successfully imported disk 'files:100/vm-100-disk-0.qcow2'"


def test_an_import_can_be_attached_at_once() -> None:
    login = with_image(Login())

    result = login.run(
        "qm disk import 100 /var/lib/vz/import/talos.qcow2 thin --target-disk virtio0"
    )

    expected = "virtio0: successfully imported disk 'thin:vm-100-disk-0,size=1G'\n"
    assert result.out.endswith(expected)


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("qm disk import 100 /gone thin", "/gone: non-existent or non-regular file\n"),
        (
            "qm disk import 999 /gone thin",
            "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist\n",
        ),
        (
            "qm disk import 100 /var/lib/vz/import/talos.qcow2 local",
            "storage local does not support vm images\n",
        ),
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


def test_maps_of_a_container_are_written_as_the_provider_writes_them() -> None:
    login = Login(one_container())
    lines = "lxc.idmap: u 0 100000 1000\nlxc.idmap: g 0 100000 1000"
    path = "/etc/pve/lxc/200.conf"
    script = (
        f"export TRY_SUDO_USE_SUDO=0; set -e; {TRY_SUDO}; "
        f"try_sudo sed -i '/^lxc\\.idmap:/d' {path}; "
        f"echo '{lines}' | try_sudo tee -a {path} > /dev/null"
    )

    first, second = login.run(wrapped(script)), login.run(wrapped(script))

    assert [(one.status, one.out, one.err) for one in (first, second)] == [(0, "", "")] * 2
    assert login.door.get("/nodes/pve1/lxc/200/config")["lxc"] == [
        ["lxc.idmap", "u 0 100000 1000"],
        ["lxc.idmap", "g 0 100000 1000"],
    ]


def test_a_look_into_a_container_that_runs() -> None:
    login = Login(running_container())

    assert login.run("pct exec 200 -- cat /proc/self/uid_map").out == (
        "         0     100000      65536\n"
    )
    login.run("echo 'lxc.idmap: u 0 1000 7' | tee -a /etc/pve/lxc/200.conf")
    assert login.run("pct exec 200 -- cat /proc/self/uid_map").out.split() == ["0", "1000", "7"]
    assert login.run("pct exec 200 cat /etc/hostname").out == "web\n"
    assert login.run("pct status 200").out == "status: running\n"
    assert login.run("pct config 200").out.endswith("unprivileged: 1\nlxc.idmap: u 0 1000 7\n")


@pytest.mark.parametrize(
    ("script", "status", "text"),
    [
        ("pct exec 200 -- cat /etc/hostname", 255, "container '200' not running!\n"),
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


def test_what_a_container_does_not_have_is_not_run() -> None:
    login = Login(running_container())

    assert login.run("pct exec 200 -- sheep").status == 127
    assert login.run("pct exec 200 -- cat /gone").status == 1


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
