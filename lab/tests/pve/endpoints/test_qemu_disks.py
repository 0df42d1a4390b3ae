"""Growing and moving disks."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import GIB

from lab.tests.machines import QEMU, create, create_linux, ended, put_file, start, user
from lab.tests.worlds import door

RESIZE, MOVE = f"{QEMU}/100/resize", f"{QEMU}/100/move_disk"


def test_what_runs_inside_sees_the_larger_disk() -> None:
    api = door()
    guest = create_linux(api)
    start(api)

    ended(api, "PUT", RESIZE, disk="scsi0", size="20G")

    assert guest.inside["inside"]["disks"] == {"scsi0": 20 * GIB}  # type: ignore[index]
    assert api.cluster.state.volumes["pve1/local-zfs:vm-100-disk-0"].size == 20 * GIB


@pytest.mark.parametrize(
    ("disk", "size", "status"),
    [
        ("scsi0", "1G", "shrinking disks is not supported"),
        ("scsi0", "32G", "OK"),
        ("scsi5", "40G", "disk 'scsi5' does not exist"),
        ("ide2", "40G", "you can't resize a cdrom"),
    ],
)
def test_how_the_task_ends_says_what_was_wrong(disk: str, size: str, status: str) -> None:
    api = door()
    create(api, scsi0="local-zfs:32", ide2="none,media=cdrom")

    assert ended(api, "PUT", RESIZE, disk=disk, size=size) == status


def test_growing_needs_space_on_the_storage() -> None:
    api = door()
    create(api, scsi0="local-zfs:32")
    somebody = user(api, "VM.Config.Disk")

    status = ended(somebody, "PUT", RESIZE, disk="scsi0", size="40G")

    assert status == "Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)"


def test_a_moved_disk_leaves_its_source_as_unused() -> None:
    api = door()
    guest = create_linux(api, scsi0=None, scsi1="local-zfs:4,ssd=1")

    assert ended(api, "POST", MOVE, disk="scsi1", storage="thin") == "OK"

    assert guest.config.values["scsi1"] == "thin:vm-100-disk-0,size=4G,ssd=1"
    assert guest.config.values["unused0"] == "local-zfs:vm-100-disk-0"


def test_a_disk_of_a_template_stays_one_that_can_be_linked_to() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:4")
    ended(api, "POST", f"{QEMU}/100/template")

    ended(api, "POST", MOVE, disk="scsi0", storage="thin", delete=1)

    assert guest.config.values["scsi0"] == "thin:base-100-disk-0,size=4G"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"storage": "local-zfs"}, "you can't move to the same storage with same format"),
        ({"disk": "scsi5"}, "disk 'scsi5' does not exist"),
        ({"disk": "ide2"}, "you can't move a cdrom"),
        ({"storage": "nowhere"}, "storage 'nowhere' does not exist"),
        (
            {"digest": "0" * 40},
            "detected modified configuration - file changed by other user? Try again.",
        ),
    ],
)
def test_moves_that_cannot_be_are_refused_at_once(asked: dict[str, object], text: str) -> None:
    api = door()
    put_file(api, "iso/x.iso", b"x" * 2048)
    create(api, scsi0="local-zfs:1", ide2="local:iso/x.iso,media=cdrom")

    with pytest.raises(ApiError) as caught:
        api.post(MOVE, **({"disk": "scsi0", "storage": "thin"} | asked))

    assert caught.value.message == text


def test_a_move_needs_a_place_and_only_one() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")

    with pytest.raises(ApiError) as none:
        api.post(MOVE, disk="scsi0")
    with pytest.raises(ApiError) as both:
        api.post(MOVE, disk="scsi0", storage="thin", target__vmid=101)

    assert set(none.value.errors.values()) == {
        "both 'storage' and 'target-vmid' missing, either needs to be set"
    }
    assert set(both.value.errors.values()) == {
        "either set 'storage' or 'target-vmid', but not both"
    }
