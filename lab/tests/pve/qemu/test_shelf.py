"""Volumes of a guest."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.qemu.shelf import Shelf, has_feature

from lab.tests.worlds import door


def _shelf(vmid: int = 100) -> Shelf:
    cluster = door().cluster
    return Shelf(cluster, cluster.state.hosts["pve1"], vmid)


def test_paths_of_the_host_are_volumes_of_its_storages() -> None:
    shelf = _shelf()

    assert shelf.volume_at("/var/lib/vz/template/iso/x.iso") == "local:iso/x.iso"
    assert shelf.volume_at("/srv/files/images/100/vm-100-disk-0.raw") == (
        "files:100/vm-100-disk-0.raw"
    )
    assert shelf.volume_at("/etc/passwd") == ""


def test_names_that_no_storage_gives_are_refused() -> None:
    with pytest.raises(ApiError, match="unable to parse zfs volume name 'x'"):
        _shelf().name_of("local-zfs:x")


@pytest.mark.parametrize(
    ("volid", "features"),
    [
        ("local-zfs:vm-100-disk-0", {"snapshot", "template", "copy", "rename"}),
        ("local-zfs:base-100-disk-0", {"snapshot", "clone", "copy"}),
        ("files:100/vm-100-disk-0.raw", {"template", "copy", "rename"}),
        ("files:100/vm-100-disk-0.qcow2", {"snapshot", "template", "copy", "rename"}),
        ("files:100/base-100-disk-0.raw", {"clone", "copy"}),
    ],
)
def test_what_can_be_done_depends_on_storage_and_format(volid: str, features: set[str]) -> None:
    names = ("snapshot", "template", "clone", "copy", "rename")

    assert {name for name in names if has_feature(_shelf(), name, volid)} == features
