"""Values of a request as they are written down."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.canonical import (
    canonical_drives,
    canonical_machine,
)

from lab.tests.pve.throws import Counting


class OneShelf:
    """A storage `local` in `/var/lib/vz`."""

    def content_of(self, volume: str) -> str:
        """By the folder in the name."""
        return "iso" if ":iso/" in volume else "images"

    def volume_at(self, path: str) -> str:
        """Files of the storage only."""
        folder, _, file = path.rpartition("/")
        known = {"/var/lib/vz/template/iso": "iso", "/var/lib/vz/images/100": "100"}
        return f"local:{known[folder]}/{file}" if folder in known else ""


def drive(key: str, text: str) -> str:
    """The canonical text of one drive."""
    return canonical_drives({key: text}, OneShelf())[key]


def test_cards_get_addresses_and_the_generation_is_thrown() -> None:
    sets = {"net1": "virtio,bridge=vmbr0", "vmgenid": "1", "cpuunits": "20000", "cores": "2"}

    assert canonical_machine(sets, Counting()) == {
        "net1": "virtio=BC:24:11:00:00:01,bridge=vmbr0",
        "vmgenid": "00000000-0000-0000-0000-000000000002",
        "cpuunits": "10000",
        "cores": "2",
    }
    assert canonical_machine({"vmgenid": "0"}, Counting()) == {"vmgenid": "0"}


@pytest.mark.parametrize(
    ("key", "text", "complaint"),
    [
        ("scsi0", "local:32,ssd=1,ssd=0", "unable to parse drive options"),
        ("scsi0", "local:5,import-from=/a",
         "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>"),
        ("scsi0", "local:vm-1-disk-0,import-from=/a",
         "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>"),
        ("efidisk0", "local:0,import-from=/a",
         "need to specify 'efitype' when using 'import-from'"),
        ("efidisk0", "local:0,import-from=/a,efitype=4m",
         "need to specify 'pre-enrolled-keys' when using 'import-from'"),
        ("tpmstate0", "local:0,import-from=/a",
         "need to specify 'version' when using 'import-from'"),
        ("ide2", "local:iso/a.iso", "explicit 'media=cdrom' is required for iso images"),
        ("scsi0", "/srv/a.raw", "unable to associate path '/srv/a.raw' to any storage"),
        ("ide2", "/var/lib/vz/images/100/a.raw,media=cdrom",
         "unexpected media type (images != iso)"),
        ("ide2", "/var/lib/vz/template/iso/a.iso,media=disk",
         "unexpected media type (iso != images)"),
    ],
)  # fmt: skip
def test_drives_that_cannot_be_are_refused(key: str, text: str, complaint: str) -> None:
    with pytest.raises(ApiError) as refused:
        drive(key, text)

    assert (refused.value.status, refused.value.errors) == (400, {key: complaint})
