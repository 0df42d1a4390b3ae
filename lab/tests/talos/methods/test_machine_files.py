"""Files of machines through the API."""

from __future__ import annotations

import pytest
from stockman_lab.talos import acting
from stockman_lab.talos.api.call import Refusal
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.etcd.snapshot import read_snapshot
from stockman.talos.api.transport import GrpcCode

BOOT_ID = "/proc/sys/kernel/random/boot_id"


@pytest.fixture
def world() -> World:
    return staged()


@pytest.fixture
def asking(world: World) -> Asking:
    return Asking(world, machine(world))


def content(asking: Asking, path: str) -> bytes:
    return b"".join(value.bytes for value in asking.stream("Read", path=path))


def test_the_boot_has_another_identity_after_a_reboot(world: World, asking: Asking) -> None:
    before = content(asking, BOOT_ID).decode()
    assert before == f"{machine(world).state.boot_id}\n"
    acting.reboot(machine(world), "default")
    world.settle()
    assert content(asking, BOOT_ID).decode() != before


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/proc/cmdline", "talos.platform=nocloud"),
        ("/proc/version", "Linux version 6.18.44-talos"),
        ("/proc/uptime", "."),
        ("/etc/os-release", "VERSION_ID=v1.13.9\n"),
        ("/etc/resolv.conf", "nameserver "),
        ("/etc/hostname", "\n"),
    ],
)
def test_files_have_the_expected_content(asking: Asking, path: str, text: str) -> None:
    assert text in content(asking, path).decode()


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/nope", GrpcCode.NOT_FOUND, "stat /nope: no such file or directory"),
        ("/etc", GrpcCode.UNKNOWN, "path must be a regular file"),
    ],
)
def test_reading_anything_else_fails(
    asking: Asking, path: str, code: GrpcCode, message: str
) -> None:
    with pytest.raises(Refusal) as caught:
        content(asking, path)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_the_database_of_etcd_can_be_read(asking: Asking) -> None:
    database = content(asking, "/var/lib/etcd/member/snap/db")
    assert len(read_snapshot(database, checked=False).beside.voters or []) == 1


def test_readers_cannot_read_files(world: World) -> None:
    with pytest.raises(Refusal) as caught:
        content(Asking(world, machine(world), "os:reader"), "/etc/hostname")
    assert caught.value.code is GrpcCode.PERMISSION_DENIED
