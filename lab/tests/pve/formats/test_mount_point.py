"""What a container mounts."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.mount_point import (
    is_mount,
    parse_device,
    parse_features,
    parse_mount_point,
)
from stockman_lab.pve.formats.sizes import GIB


def test_the_root_is_a_volume_with_a_size() -> None:
    root = parse_mount_point("rootfs", "size=8G,volume=local-zfs:subvol-200-disk-0")

    assert str(root) == "local-zfs:subvol-200-disk-0,size=8G"
    assert (root.path, root.size, root.kind) == ("/", 8 * GIB, "volume")


def test_a_new_volume_names_storage_and_gibibytes() -> None:
    root = parse_mount_point("rootfs", "local-lvm:8")

    assert root.new_volume == ("local-lvm", "8")
    root.volume, root.size = "local-lvm:vm-200-disk-0", 8 * GIB
    assert str(root) == "local-lvm:vm-200-disk-0,size=8G"
    assert root.new_volume is None


def test_a_further_mount_says_where() -> None:
    mount = parse_mount_point("mp0", "backup=1,mp=/srv,local:200/vm-200-disk-1.raw,size=4G")

    assert str(mount) == "local:200/vm-200-disk-1.raw,mp=/srv,backup=1,size=4G"
    assert mount.path == "/srv"


@pytest.mark.parametrize(
    ("text", "kind"), [("/srv/data,mp=/a", "bind"), ("/dev/sdb,mp=/a", "device")]
)
def test_things_of_the_host_are_told_from_volumes(text: str, kind: str) -> None:
    assert parse_mount_point("mp3", text).kind == kind


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("mp0", "local:8"),
        ("mp0", "local:8,mp=/a/../b"),
        ("mp0", "../x,mp=/a"),
        ("mp0", "/srv/..,mp=/a"),
        ("rootfs", "local:8,mp=/a"),
        ("rootfs", "local:8,mountoptions=suid"),
        ("unused0", "/srv"),
        ("net0", "local:8"),
    ],
)
def test_what_does_not_fit_is_refused(key: str, text: str) -> None:
    with pytest.raises(FormatError):
        parse_mount_point(key, text)


def test_only_the_root_and_numbered_mounts_are_mounts() -> None:
    assert [key for key in ("rootfs", "mp0", "mp255", "mpx", "unused0") if is_mount(key)] == [
        "rootfs",
        "mp0",
        "mp255",
    ]


def test_features_are_flags_and_file_systems() -> None:
    assert parse_features("nesting=1,mount=nfs;cifs") == {"nesting": "1", "mount": "nfs;cifs"}
    assert parse_features("") == {}
    with pytest.raises(FormatError):
        parse_features("flying=1")


def test_a_device_is_a_path_below_dev() -> None:
    assert parse_device("/dev/dri/renderD128,mode=0660") == {
        "path": "/dev/dri/renderD128",
        "mode": "0660",
    }
    with pytest.raises(FormatError, match="Path has to be defined"):
        parse_device("uid=5")
    with pytest.raises(FormatError):
        parse_device("/dev/../etc/passwd")
