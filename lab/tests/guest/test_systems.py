"""What boots is what the bytes say."""

from __future__ import annotations

import json

import pytest
from stockman_lab.guest.systems import PlainGuest, Systems
from stockman_lab.guest.view import DiskView
from stockman_lab.images.image import Image, read_image
from stockman_lab.images.making import iso_image
from stockman_lab.images.qcow2 import qcow2_file

from lab.tests.guest.machines import GIB, NOW, Middle, image, machine
from lab.tests.images.made import MOMENT, facts

SOMEBODYS = read_image(qcow2_file(GIB, {0: b"\xeb\x63\x90".ljust(510, b"\x00") + b"\x55\xaa"}))


class TalosGuest(PlainGuest):
    kind = "talos"


def systems() -> Systems:
    known = Systems()
    known.register("talos", ("nocloud", "metal"), TalosGuest, TalosGuest.loaded)
    return known


@pytest.mark.parametrize(
    ("disk", "kind"),
    [(image("nocloud"), "talos"), (image("linux"), "plain"), (SOMEBODYS, "plain")],
)
def test_the_platform_of_the_image_decides(disk: Image, kind: str) -> None:
    booting = systems().booting(machine(disk=disk))

    assert booting is not None
    assert booting.kind == kind


def test_a_blank_disk_boots_nothing() -> None:
    assert systems().booting(machine()) is None
    assert systems().booting(machine(disk=read_image(qcow2_file(GIB, {})))) is None


def test_an_image_of_another_architecture_boots_nothing() -> None:
    assert systems().booting(machine(disk=image(architecture="arm64"))) is None


def test_a_drive_boots_where_it_comes_first() -> None:
    view = machine(disk=image("linux"))
    boot = read_image(iso_image(facts(0), MOMENT))
    view.disks[2] = DiskView(slot="ide2", size=boot.virtual_size, image=boot, is_cdrom=True)

    booting = systems().booting(view)

    assert booting is not None
    assert booting.kind == "talos"


@pytest.mark.parametrize("platform", ["nocloud", "linux"])
def test_a_guest_goes_on_after_it_was_saved(platform: str) -> None:
    known, view = systems(), machine(disk=image(platform))
    guest = known.booting(view)
    assert guest is not None
    guest.booted(view, NOW, Middle())
    guest.ask("get-host-name", {}, NOW + 60)

    again = known.loaded(json.loads(json.dumps(known.saved(guest))))

    assert again == guest
    assert type(again) is type(guest)


def test_where_nothing_runs_nothing_was_saved() -> None:
    assert systems().loaded({}) is None
