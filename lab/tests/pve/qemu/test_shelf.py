"""Volumes as guests see them, and drives that nobody can read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.qemu.migrating import parse_storage_map
from stockman_lab.pve.qemu.shelf import Shelf, has_feature
from stockman_lab.pve.qemu.view import guest_view

from lab.tests.machines import QEMU, create, create_linux, ended, put_file
from lab.tests.worlds import door
from stockman.talos.nocloud.iso_format import nocloud_image


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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a:b,a:c", "duplicate mapping for source 'a'"),
        ("x,y", "default target ID can only be provided once"),
        ("1,x", "identity mapping cannot be combined with other mappings"),
    ],
)
def test_contradictions_are_refused(text: str, why: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_storage_map(text)

    assert caught.value.errors == {"targetstorage": f"failed to parse storage map: {why}\n"}


def test_a_worker_that_meets_one_fails_and_the_world_goes_on() -> None:
    api = door()
    guest = create(api)
    guest.config.pending["efidisk0"] = "none,=cdrom"

    status = ended(api, "POST", f"{QEMU}/100/status/start")

    assert status.startswith("missing key in comma-separated list property")
    assert not guest.is_running


def test_a_clone_of_one_is_refused() -> None:
    api = door()
    create(api).config.values["efidisk0"] = "none,=cdrom"

    with pytest.raises(ApiError, match="unable to parse drive options for 'efidisk0'"):
        api.post(f"{QEMU}/100/clone", newid=101)


MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def test_files_of_a_labelled_medium_are_those_of_cloud_init() -> None:
    api = door()
    image = nocloud_image({"user-data": b"hostname: iso\n", "meta-data": b""}, MOMENT)
    put_file(api, "iso/user-data-100.iso", image)
    guest = create_linux(api, ide2="local:iso/user-data-100.iso,media=cdrom")

    view = guest_view(api.cluster, guest)

    assert view.cloud_init is not None
    assert view.cloud_init["user-data"] == b"hostname: iso\n"
