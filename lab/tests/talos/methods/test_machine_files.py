"""Files of machines through the API."""

from __future__ import annotations

import stat
from typing import Any

import pytest
from stockman_lab.talos import acting
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.files.archive import unpacked
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.etcd.snapshot import read_snapshot
from stockman.talos.api.transport import GrpcCode

BOOT_ID = "/proc/sys/kernel/random/boot_id"
GO_DIRECTORY, GO_LINK = 1 << 31, 1 << 27


@pytest.fixture
def world() -> World:
    return staged()


@pytest.fixture
def asking(world: World) -> Asking:
    return Asking(world, machine(world))


def content(asking: Asking, path: str) -> str:
    return b"".join(one.bytes for one in asking.stream("Read", path=path)).decode()


def names(found: list[Any]) -> list[str]:
    return [one.relative_name for one in found]


def test_the_boot_has_another_identity_after_a_reboot(world: World, asking: Asking) -> None:
    before = content(asking, BOOT_ID)
    assert before == f"{machine(world).state.boot_id}\n"
    acting.reboot(machine(world), "default")
    world.settle()
    assert content(asking, BOOT_ID) != before


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/proc/cmdline", "talos.platform=nocloud"),
        ("/proc/version", "Linux version 6.18.44-talos"),
        ("/proc/meminfo", "MemTotal: "),
        ("/proc/cpuinfo", "model name\t: QEMU"),
        ("/proc/mounts", "/dev/sda4 /var xfs"),
        ("/proc/net/dev", "eth0:"),
        ("/proc/modules", "virtio_net"),
        ("/proc/partitions", "sda4"),
        ("/proc/diskstats", " sda "),
        ("/proc/loadavg", " 1/"),
        ("/proc/sys/net/ipv4/ip_forward", "1\n"),
        ("/proc/1/cmdline", "/sbin/init\0"),
        ("/etc/os-release", "VERSION_ID=v1.13.9\n"),
        ("/etc/resolv.conf", "nameserver 127.0.0.53\n"),
        ("/etc/cri/containerd.toml", "version = 3"),
        ("/etc/kubernetes/kubelet.yaml", "KubeletConfiguration"),
        ("/sys/class/net/eth0/operstate", "up\n"),
        ("/sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ("/var/log/audit/kube/kube-apiserver.log", "audit.k8s.io/v1"),
        ("/system/state/config.yaml", "version: v1alpha1"),
    ],
)
def test_files_hold_what_belongs_there(asking: Asking, path: str, part: str) -> None:
    assert part in content(asking, path)


def test_the_uptime_moves_with_the_clock(world: World, asking: Asking) -> None:
    before = float(content(asking, "/proc/uptime").split()[0])
    world.advance(100.0)
    assert float(content(asking, "/proc/uptime").split()[0]) == pytest.approx(before + 100.0)


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/nope", GrpcCode.NOT_FOUND, "stat /nope: no such file or directory"),
        ("/etc/hostname/x", GrpcCode.UNKNOWN, "stat /etc/hostname/x: not a directory"),
        ("/etc", GrpcCode.UNKNOWN, "path must be a regular file"),
        ("/dev/null", GrpcCode.UNKNOWN, "path must be a regular file"),
    ],
)
def test_what_cannot_be_read_is_told_as_go_does(
    asking: Asking, path: str, code: GrpcCode, message: str
) -> None:
    with pytest.raises(Refusal) as caught:
        content(asking, path)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_links_are_followed(world: World, asking: Asking) -> None:
    assert content(asking, "/proc/self/comm") == "init\n"
    (link,) = (
        one for one in asking.stream("List", root="/sys/class/net") if one.relative_name == "eth0"
    )
    assert link.mode & GO_LINK
    assert link.link.endswith("/net/eth0")


def test_a_directory_is_listed_with_itself_first(asking: Asking) -> None:
    stream = asking.stream("List", root="/etc")
    assert names(stream)[0] == "."
    assert names(stream)[1:] == sorted(names(stream)[1:])
    by_name = {one.relative_name: one for one in stream}
    assert by_name["kubernetes"].is_dir
    assert by_name["kubernetes"].mode & GO_DIRECTORY
    assert stat.S_IMODE(by_name["hostname"].mode) == 0o644
    assert by_name["hostname"].name == "/etc/hostname"
    assert "kubernetes/kubelet.yaml" not in by_name


def test_a_file_by_itself_is_listed_by_its_name(asking: Asking) -> None:
    assert names(asking.stream("List", root="/etc/hostname")) == ["hostname"]


def test_depth_and_kinds_are_looked_at(asking: Asking) -> None:
    deep = names(asking.stream("List", root="/etc", recurse=True, recursion_depth=2))
    assert "kubernetes/kubelet.yaml" in deep
    assert "ssl/certs/ca-certificates" not in deep
    every = names(asking.stream("List", root="/etc", recurse=True))
    assert "ssl/certs/ca-certificates" in every
    links = asking.stream("List", root="/etc", recurse=True, types=["SYMLINK"])
    assert names(links) == ["ssl/certs/ca-certificates.crt"]
    folders = asking.stream("List", root="/var", recurse=True, types=["DIRECTORY"])
    assert all(folder.is_dir for folder in folders)


def test_labels_are_shown_where_they_are_asked_for(asking: Asking) -> None:
    (plain,) = asking.stream("List", root="/etc/hostname")
    assert not plain.xattrs
    (labelled,) = asking.stream("List", root="/etc/hostname", report_xattrs=True)
    assert [(xattr.name, xattr.data) for xattr in labelled.xattrs] == [
        ("security.selinux", b"system_u:object_r:etc_t:s0")
    ]


def test_a_missing_directory_cannot_be_listed(asking: Asking) -> None:
    with pytest.raises(Refusal) as caught:
        asking.stream("List", root="/nope")
    assert caught.value.message == "lstat /nope: no such file or directory"


def test_a_copy_holds_what_reading_gives(asking: Asking) -> None:
    pieces = asking.stream("Copy", root_path="/etc/kubernetes")
    found = unpacked(piece.bytes for piece in pieces)
    assert found["kubelet.yaml"].decode() == content(asking, "/etc/kubernetes/kubelet.yaml")
    single = unpacked(one.bytes for one in asking.stream("Copy", root_path="/etc/hostname"))
    assert list(single) == ["hostname"]


def test_files_of_the_kernel_are_copied_with_their_content(asking: Asking) -> None:
    pieces = asking.stream("Copy", root_path="/sys/fs/cgroup")
    found = unpacked(piece.bytes for piece in pieces)
    assert "usage_usec" in found["podruntime/etcd/cpu.stat"].decode()
    total = int(found["cpu.stat"].split()[1])
    parts = [int(found[f"{one}/cpu.stat"].split()[1]) for one in ("init", "system", "podruntime")]
    assert 0 < sum(parts) < total


@pytest.mark.parametrize("version", ["1.11.5", "1.12.1", "1.13.9"])
def test_a_copy_of_nothing_ends_well_up_to_the_thirteenth_minor(version: str) -> None:
    world = staged("single", version)
    (told,) = Asking(world, machine(world)).stream("Copy", root_path="/nope")
    assert told.metadata.error == "lstat /nope: no such file or directory"


def test_a_copy_of_nothing_fails_since_the_fourteenth() -> None:
    world = staged("single", "1.14.1")
    with pytest.raises(Refusal, match="lstat /nope: no such file or directory"):
        Asking(world, machine(world)).stream("Copy", root_path="/nope")


def test_a_path_has_to_be_absolute_to_be_copied(asking: Asking) -> None:
    with pytest.raises(Refusal, match="path is not absolute etc"):
        asking.stream("Copy", root_path="etc/")


def test_the_file_of_etcd_is_a_database(asking: Asking) -> None:
    path = "/var/lib/etcd/member/snap/db"
    raw = b"".join(one.bytes for one in asking.stream("Read", path=path))
    assert len(read_snapshot(raw, checked=False).beside.voters or []) == 1
    (listed,) = asking.stream("List", root=path)
    assert listed.size == len(raw)


def test_room_is_added_up_directory_by_directory(asking: Asking) -> None:
    sizes = {
        one.relative_name: one.size for one in asking.stream("DiskUsage", paths=["/var"], all=True)
    }
    assert sizes["."] > sizes["lib"] > sizes["lib/etcd"]
    inside = sum(size for name, size in sizes.items() if name.count("/") == 1 and "log/" in name)
    assert sizes["log"] == inside + 4096
    shallow = asking.stream("DiskUsage", paths=["/var"], recursion_depth=1)
    assert names(shallow) == ["."]
    large = asking.stream("DiskUsage", paths=["/var"], threshold=1 << 20)
    assert all(one.size >= 1 << 20 for one in large)
    small = asking.stream("DiskUsage", paths=["/var"], threshold=-(1 << 20))
    assert small
    assert all(one.size <= 1 << 20 for one in small)


def test_a_path_that_is_not_there_is_told_and_the_next_one_looked_at(asking: Asking) -> None:
    stream = asking.stream("DiskUsage", paths=["/nope", "/etc"], recursion_depth=1)
    assert stream[0].error == "lstat /nope: no such file or directory"
    assert stream[1].name == "/etc"


def test_a_reader_may_list_and_not_read(world: World) -> None:
    reading = Asking(world, machine(world), "os:reader")
    assert reading.stream("List", root="/etc")
    with pytest.raises(Refusal) as caught:
        content(reading, "/etc/hostname")
    assert caught.value.code is GrpcCode.PERMISSION_DENIED
