"""Files of a host are volumes, configurations, or just files."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stockman_lab.pve.storage import Storage
from stockman_lab.ssh.host_files import FileTrouble, HostFiles

from lab.tests.pve.endpoints.containers import one_container
from lab.tests.ssh.hosts import Login

LOCAL = "/var/lib/vz"


def files(user: str = "root") -> HostFiles:
    return Login(user=user).files


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(FileTrouble) as caught:
        act()
    return caught.value.text


@pytest.mark.parametrize(
    ("path", "volid", "content"),
    [
        (f"{LOCAL}/snippets/user.yaml", "local:snippets/user.yaml", "snippets"),
        (f"{LOCAL}/template/iso/a.iso", "local:iso/a.iso", "iso"),
        (f"{LOCAL}/template/cache/a.tar.gz", "local:vztmpl/a.tar.gz", "vztmpl"),
        (f"{LOCAL}/import/a.qcow2", "local:import/a.qcow2", "import"),
        (
            f"{LOCAL}/dump/vzdump-qemu-100-2026_01_31-02_00_00.vma.zst",
            "local:backup/vzdump-qemu-100-2026_01_31-02_00_00.vma.zst",
            "backup",
        ),
    ],
)
def test_a_file_in_a_storage_is_a_volume(path: str, volid: str, content: str) -> None:
    login = Login()

    login.files.write(path, b"sheep")

    volume = login.cluster.state.volumes[f"pve1/{volid}"]
    assert (volume.content, volume.size, volume.used) == (content, 5, 5)
    assert login.files.read(path) == b"sheep"
    nodes_pve1_storage_local_content = login.door.get(
        "/nodes/pve1/storage/local/content", content=content
    )
    assert isinstance(nodes_pve1_storage_local_content, list)
    assert [row["volid"] for row in nodes_pve1_storage_local_content] == [volid]


def test_folders_can_be_named_otherwise() -> None:
    login = Login()
    options = {"path": "/srv/more", "content": "snippets", "content-dirs": "snippets=yaml"}
    login.cluster.state.storages["more"] = Storage("more", "dir", options)

    login.files.write("/srv/more/yaml/a", b"x")

    assert "pve1/more:snippets/a" in login.cluster.state.volumes


def test_a_shared_storage_is_the_same_on_every_host() -> None:
    login = Login()
    login.cluster.state.storages["local"].options["shared"] = "1"

    login.files.write(f"{LOCAL}/snippets/a", b"x")

    other = Login(login.door, host="pve2")
    assert other.files.read(f"{LOCAL}/snippets/a") == b"x"


def test_another_content_takes_the_place_of_the_first() -> None:
    login = Login()
    login.files.write(f"{LOCAL}/snippets/a", b"one")

    login.files.write(f"{LOCAL}/snippets/a", b"three")

    blobs = login.cluster.around.blobs
    assert login.files.facts(f"{LOCAL}/snippets/a").size == 5
    assert list(blobs.contents.values()) == [b"three"]


def test_a_full_storage_takes_no_more() -> None:
    login = Login()
    login.host.pools["fs:/"].size = login.host.pools["fs:/"].other + 3

    assert refused(lambda: login.files.write(f"{LOCAL}/snippets/a", b"sheep")) == (
        "No space left on device"
    )


def test_what_no_storage_knows_is_just_a_file() -> None:
    login = Login()

    login.files.write("/tmp/a", b"x")
    login.files.write(f"{LOCAL}/template/iso/a.txt", b"y")

    assert login.cluster.state.volumes == {}
    assert set(login.host.files) == {"/tmp/a", f"{LOCAL}/template/iso/a.txt"}
    assert login.files.listed("/tmp") == ["a"]


def test_names_without_a_beginning_are_in_the_home_of_the_user() -> None:
    login = Login()
    login.host.ssh_users.append("ada")
    ada = Login(login.door, "ada")

    ada.files.write("note", b"x")

    assert ada.files.absolute("note") == "/home/ada/note"
    assert ada.files.absolute("../../../../etc/./x") == "/etc/x"
    assert login.files.read("/home/ada/note") == b"x"


def test_only_root_writes_into_storages() -> None:
    ada = files("ada")

    assert refused(lambda: ada.write(f"{LOCAL}/snippets/a", b"x")) == "Permission denied"
    assert refused(lambda: ada.make_folder("/srv/x")) == "Permission denied"
    ada.write("/tmp/a", b"x")


def test_folders_are_made_and_removed() -> None:
    result = files()

    assert refused(lambda: result.make_folder("/opt/a/b")) == "No such file or directory"
    result.make_folder("/opt/a/b", parents=True)
    result.make_folder("/opt/a", parents=True)
    assert refused(lambda: result.make_folder("/opt/a")) == "File exists"
    assert refused(lambda: result.remove_folder("/opt/a")) == "Directory not empty"
    result.remove_folder("/opt/a/b")
    assert result.listed("/opt/a") == []
    assert refused(lambda: result.remove_folder(LOCAL)) == "Directory not empty"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/tmp/none", "No such file or directory"),
        ("/tmp", "Is a directory"),
        ("/tmp/a/b", "Not a directory"),
        ("x" * 5000, "File name too long"),
    ],
)
def test_what_cannot_be_read(path: str, text: str) -> None:
    result = files()
    result.write("/tmp/a", b"x")

    assert refused(lambda: result.read(path)) == text


def test_removing_a_file_removes_its_volume() -> None:
    login = Login()
    login.files.write(f"{LOCAL}/snippets/a", b"x")
    login.files.write("/tmp/a", b"y")

    login.files.remove(f"{LOCAL}/snippets/a")
    login.files.remove("/tmp/a")

    assert login.cluster.state.volumes == {}
    assert login.cluster.around.blobs.contents == {}
    assert refused(lambda: login.files.remove("/tmp")) == "Is a directory"


def test_permissions_are_kept() -> None:
    login = Login()
    login.files.write(f"{LOCAL}/snippets/a", b"x")
    before = login.files.facts(f"{LOCAL}/snippets/a").mode & 0o777

    login.files.change_mode(f"{LOCAL}/snippets/a", 0o700)

    assert before == 0o644
    assert login.files.facts(f"{LOCAL}/snippets/a").mode & 0o777 == 0o700
    ada = login.files.for_user("ada")
    assert refused(lambda: ada.change_mode(f"{LOCAL}/snippets/a", 0o777)) == (
        "Operation not permitted"
    )


def test_configurations_are_files_below_etc_pve() -> None:
    login = Login(one_container())

    text = login.files.read("/etc/pve/lxc/200.conf").decode()

    assert "hostname: web\n" in text
    assert login.files.listed("/etc/pve/lxc") == ["200.conf"]
    assert login.files.read("/etc/pve/nodes/pve1/lxc/200.conf").decode() == text
    assert not Login(login.door, host="pve2").files.is_file("/etc/pve/lxc/200.conf")
    assert not login.files.for_user("ada").is_file("/etc/pve/lxc/200.conf")


def test_of_a_configuration_only_settings_of_lxc_itself_can_be_written() -> None:
    login = Login(one_container())
    path = "/etc/pve/lxc/200.conf"
    text = login.files.read(path)

    login.files.write(path, text + b"lxc.idmap: u 0 100000 1000\n")

    config = login.cluster.state.guests[200].config
    assert config.raw == [["lxc.idmap", "u 0 100000 1000"]]
    changed = text.replace(b"memory: 512", b"memory: 1024")
    assert refused(lambda: login.files.write(path, changed)) == "Operation not permitted"
    assert refused(lambda: login.files.write("/etc/pve/user.cfg", b"")) == (
        "Operation not permitted"
    )
