"""What runs in a virtual machine sees what its configuration and its volumes say."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman_lab.pve.qemu.view import guest_view

from lab.tests.machines import create_linux, put_file
from lab.tests.worlds import door
from stockman.talos.nocloud.iso_writer import nocloud_image

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def test_files_of_a_labelled_medium_are_those_of_cloud_init() -> None:
    api = door()
    image = nocloud_image({"user-data": b"hostname: iso\n", "meta-data": b""}, MOMENT)
    put_file(api, "iso/user-data-100.iso", image)
    guest = create_linux(api, ide2="local:iso/user-data-100.iso,media=cdrom")

    view = guest_view(api.cluster, guest)

    assert view.cloud_init is not None
    assert view.cloud_init["user-data"] == b"hostname: iso\n"
