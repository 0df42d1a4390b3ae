"""What runs in a virtual machine sees what its configuration and its volumes say."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.making import iso_image
from stockman_lab.pve.qemu.view import guest_view

from lab.tests.machines import QEMU, create, create_linux, ended, put_file, start
from lab.tests.worlds import door
from stockman.talos.nocloud.iso_writer import nocloud_image

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def test_hardware_is_told_in_its_own_words() -> None:
    api = door()
    guest = create(
        api,
        cores=2,
        sockets=2,
        memory="1024",
        net1="e1000=BC:24:11:00:00:02,bridge=vmbr0,tag=7,link_down=1",
        net0="virtio=BC:24:11:00:00:01,bridge=vmbr0,mtu=9000",
        smbios1="base64=1,serial=aGVsbG8=,uuid=11111111-2222-3333-4444-555555555555",
        scsi0="local-zfs:1,serial=abc",
    )

    view = guest_view(api.cluster, guest)

    assert (view.cores, view.memory) == (4, 1 << 30)
    assert [(nic.number, nic.vlan, nic.is_linked, nic.mtu) for nic in view.nics] == [
        (0, None, True, 9000),
        (1, 7, False, 1500),
    ]
    assert (view.smbios.serial, view.smbios.uuid[:8]) == ("hello", "11111111")
    assert [(disk.slot, disk.size, disk.serial) for disk in view.disks] == [
        ("scsi0", 1 << 30, "abc")
    ]
    assert view.boot_order == ["scsi0", "net0"]
    assert view.boot_disk is None


def test_the_bytes_decide_what_boots_and_not_the_name() -> None:
    api = door()
    guest = create_linux(api)

    disk = guest_view(api.cluster, guest).boot_disk

    assert disk is not None
    assert disk.facts is not None
    assert disk.facts.platform == "linux"


def test_a_medium_boots_what_a_blank_disk_cannot() -> None:
    api = door()
    facts = ImageFacts(platform="metal", version="v1.13.9", virtual_size=0)
    put_file(api, "iso/anything.iso", iso_image(facts, MOMENT))
    guest = create(api, scsi0="local-zfs:1", ide2="local:iso/anything.iso,media=cdrom")

    disk = guest_view(api.cluster, guest).boot_disk

    assert disk is not None
    assert (disk.slot, disk.is_cdrom) == ("ide2", True)


def test_an_order_without_the_disk_boots_nothing() -> None:
    api = door()
    guest = create_linux(api, boot="order=net0")

    start(api)

    assert guest.is_running
    assert guest.inside == {}


def test_files_of_a_labelled_medium_are_those_of_cloud_init() -> None:
    api = door()
    image = nocloud_image({"user-data": b"hostname: iso\n", "meta-data": b""}, MOMENT)
    put_file(api, "iso/user-data-100.iso", image)
    guest = create_linux(api, ide2="local:iso/user-data-100.iso,media=cdrom")

    view = guest_view(api.cluster, guest)

    assert view.cloud_init is not None
    assert view.cloud_init["user-data"] == b"hostname: iso\n"


def test_the_generated_drive_has_no_files_before_the_first_start() -> None:
    api = door()
    guest = create_linux(api, ide2="local-zfs:cloudinit")

    before = guest_view(api.cluster, guest).cloud_init
    ended(api, "POST", f"{QEMU}/100/status/start")
    after = guest_view(api.cluster, guest).cloud_init

    assert before is None
    assert after is not None
    assert sorted(after) == ["meta-data", "network-config", "user-data", "vendor-data"]


def test_what_a_guest_writes_is_on_its_disk() -> None:
    api = door()
    guest = create_linux(api)

    guest_view(api.cluster, guest).disks[0].contents["note"] = "here"

    assert api.cluster.state.volumes["pve1/local-zfs:vm-100-disk-0"].contents == {"note": "here"}
