"""`/nodes/NODE/storage/STORAGE/content`: volumes of a storage."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.storage import Volume
from stockman_lab.servers.memory import MemoryClient

from lab.tests.pve.endpoints.people import somebody
from lab.tests.returns import promised
from lab.tests.worlds import door, small_world

CONTENT = "/nodes/pve1/storage/{}/content"


def allocated(api: MemoryClient, storage: str, name: str, size: str = "1G", vmid: int = 100) -> str:
    return str(api.post(CONTENT.format(storage), vmid=vmid, filename=name, size=size))


def kept(api: MemoryClient, volume: Volume) -> Volume:
    """A volume that is there without anybody having made it."""
    api.cluster.state.volumes[f"{volume.host}/{volume.id}"] = volume
    return volume


def backup(api: MemoryClient, name: str = "vzdump-qemu-100-2026_01_01-00_00_00.vma.zst") -> Volume:
    return kept(
        api,
        Volume("local", "pve1", f"backup/{name}", "backup", "vma.zst", 10, 10, vmid=100),
    )


@pytest.mark.parametrize(
    ("storage", "name", "size", "volid", "found"),
    [
        ("local-zfs", "vm-100-a", "1000", "local-zfs:vm-100-a", 1 << 20),
        ("thin", "vm-100-a", "528", "thin:vm-100-a", 4 << 20),
        ("ceph", "vm-100-a", "10M", "ceph:vm-100-a", 10 << 20),
        ("files", "vm-100-a.raw", "528", "files:100/vm-100-a.raw", 528 << 10),
        ("files", "vm-100-a.qcow2", "2G", "files:100/vm-100-a.qcow2", 2 << 30),
        ("files", "anything.raw", "4", "files:100/anything.raw", 4 << 10),
    ],
)
def test_a_new_volume_has_the_size_that_its_storage_can_give(
    storage: str, name: str, size: str, volid: str, found: int
) -> None:
    api = door()

    made = allocated(api, storage, name, size)

    assert made == volid
    info = api.get(f"{CONTENT.format(storage)}/{volid}")
    assert info["size"] == found


def test_a_new_volume_takes_time_on_the_clock() -> None:
    api = door()
    before = api.world.now

    allocated(api, "ceph", "vm-100-a")

    assert api.world.now > before


@pytest.mark.parametrize(
    ("storage", "given", "text"),
    [
        ("local-zfs", {"filename": "disk"}, "illegal name 'disk' - should be 'vm-100-*'"),
        ("thin", {"filename": "vm-101-a"}, "illegal name 'vm-101-a' - should be 'vm-100-*'"),
        ("files", {"filename": "vm-100-a"}, "unable to parse volume filename 'vm-100-a'"),
        (
            "files",
            {"filename": "../../etc/a.raw"},
            "unable to parse volume filename '../../etc/a.raw'",
        ),
        (
            "files",
            {"filename": "vm-100-a.subvol", "format": "subvol"},
            "storage does not support subvol quotas",
        ),
        ("thin", {"filename": "vm-100-a", "format": "qcow2"}, "unsupported format 'qcow2'"),
        ("nothere", {"filename": "vm-100-a"}, "storage 'nothere' does not exist"),
    ],
)
def test_a_volume_that_cannot_be_is_refused(
    storage: str, given: dict[str, object], text: str
) -> None:
    reply = door().reply("POST", CONTENT.format(storage), {"vmid": 100, "size": "1G", **given})

    assert (reply.status, reply.reason) == (500, text)


def test_a_format_that_contradicts_the_name_is_refused() -> None:
    with pytest.raises(ApiError) as error:
        door().post(
            CONTENT.format("files"), vmid=100, filename="vm-100-a.raw", size="1G", format="qcow2"
        )

    assert error.value.errors == {"format": "different storage formats (qcow2 != raw)"}


@pytest.mark.parametrize(
    ("storage", "name", "text"),
    [
        ("files", "vm-100-a.raw", "disk image '/srv/files/images/100/vm-100-a.raw' already exists"),
        (
            "local-zfs",
            "vm-100-a",
            "zfs error: cannot create 'rpool/data/vm-100-a': dataset already exists",
        ),
        (
            "thin",
            "vm-100-a",
            (
                "lvcreate 'pve/vm-100-a' error:   Logical Volume \"vm-100-a\" already exists"
                ' in volume group "pve"'
            ),
        ),
    ],
)
def test_a_name_is_given_once(storage: str, name: str, text: str) -> None:
    api = door()
    allocated(api, storage, name)

    with pytest.raises(ApiError) as error:
        allocated(api, storage, name)

    assert error.value.message == text


def test_a_full_storage_takes_no_more() -> None:
    with pytest.raises(ApiError, match="No space left on device"):
        allocated(door(), "files", "vm-100-a.raw", "501G")


def test_a_disabled_storage_and_one_of_other_hosts_are_refused() -> None:
    api = door()
    api.put("/storage/thin", nodes="pve2")
    api.put("/storage/files", disable=1)

    for storage, text in (
        ("thin", "storage 'thin' is not available on node 'pve1'"),
        ("files", "storage 'files' is disabled"),
    ):
        for method, given in (("GET", {}), ("POST", {"vmid": 1000, "filename": "a", "size": "1"})):
            reply = api.reply(method, CONTENT.format(storage), given)
            assert (reply.status, reply.reason) == (500, text)


def test_volumes_are_listed_with_what_is_known_of_them() -> None:
    api = door()
    allocated(api, "files", "vm-100-a.qcow2", "2G")
    allocated(api, "files", "vm-101-a.raw", "1G", vmid=101)

    rows = api.get(CONTENT.format("files"), vmid=100)

    (row,) = rows
    row.pop("ctime")
    assert row == {
        "volid": "files:100/vm-100-a.qcow2",
        "content": "images",
        "format": "qcow2",
        "size": 2 << 30,
        "used": 0,
        "vmid": 100,
    }


def test_disks_of_containers_are_listed_as_such() -> None:
    api = door()
    allocated(api, "thin", "vm-100-a")
    allocated(api, "thin", "vm-200-a", vmid=200)
    api.cluster.state.guests[200] = Guest(200, "lxc", "pve1", GuestConfig())

    def listed(content: str) -> list[str]:
        rows = api.get(CONTENT.format("thin"), content=content)
        return [row["volid"] for row in rows]

    assert listed("images") == ["thin:vm-100-a"]
    assert listed("rootdir") == ["thin:vm-200-a"]


def test_the_storage_of_a_volume_may_be_left_out() -> None:
    api = door()
    allocated(api, "files", "vm-100-a.raw")

    info = api.get("/nodes/pve1/storage/files/content/100/vm-100-a.raw")

    assert info == {
        "path": "/srv/files/images/100/vm-100-a.raw",
        "size": 1 << 30,
        "used": 1 << 30,
        "format": "raw",
    }


@pytest.mark.parametrize(
    ("volume", "status", "text"),
    [
        ("ceph:vm-1-a", 400, "storage ID mismatch (ceph != files)\n"),
        (":x", 400, "unable to parse volume ID ':x'\n"),
        ("../../etc/passwd", 500, "unable to parse directory volume name '../../etc/passwd'"),
        ("iso/../../x.iso", 500, "unable to parse directory volume name 'iso/../../x.iso'"),
        ("100/../../x.raw", 500, "unable to parse volume filename '../../x.raw'"),
        ("import/ä.raw", 500, "unable to parse directory volume name 'import/ä.raw'"),
        (
            "100/vm-100-none.raw",
            500,
            "volume_size_info on 'files:100/vm-100-none.raw' failed - no format",
        ),
        ("iso/a\0b.iso", 500, "volume_size_info on 'files:iso/a\0b.iso' failed - no format"),
    ],
)
def test_a_name_that_is_none_is_refused(volume: str, status: int, text: str) -> None:
    reply = door().reply("GET", f"{CONTENT.format('files')}/{volume}")

    assert reply.status == status
    body = reply.body or {}
    assert (body.get("errors") or {"volume": reply.reason}) == {"volume": text}


@pytest.mark.parametrize(
    ("storage", "text"),
    [
        ("local-zfs", "zfs error: cannot open 'rpool/data/vm-1-a': dataset does not exist"),
        (
            "thin",
            "can't get size of '/dev/pve/vm-1-a':   Failed to find logical volume \"pve/vm-1-a\"",
        ),
        ("ceph", "rbd error: rbd: error opening image vm-1-a: (2) No such file or directory"),
    ],
)
def test_a_missing_volume_is_told_in_the_words_of_its_storage(storage: str, text: str) -> None:
    reply = door().reply("GET", f"{CONTENT.format(storage)}/vm-1-a")

    assert (reply.status, reply.reason) == (500, text)


def test_deleting_is_a_task_named_after_owner_and_storage() -> None:
    api = door()
    volid = allocated(api, "thin", "vm-100-a")

    upid = api.delete(f"{CONTENT.format('thin')}/{volid}")

    assert ":imgdel:100@thin:root@pam:" in str(upid)
    assert api.done(upid) == "OK"
    assert api.get(CONTENT.format("thin")) == []
    assert api.cluster.state.tasks[str(upid)].log[0] == f"Removed volume '{volid}'"


def test_who_gives_a_delay_waits_for_the_end() -> None:
    api = door()
    volid = allocated(api, "thin", "vm-100-a")

    assert api.delete(f"{CONTENT.format('thin')}/{volid}", delay=30) is None
    assert api.get(CONTENT.format("thin")) == []


def test_a_delay_that_is_too_short_gives_the_task() -> None:
    world = small_world()
    world.faults.add(Fault(Point.TASK, Effect.DELAY, {"type": "imgdel"}, seconds=60))
    api = door(world)
    volid = allocated(api, "thin", "vm-100-a")

    upid = api.delete(f"{CONTENT.format('thin')}/{volid}", delay=1)

    assert ":imgdel:" in str(upid)
    assert api.done(upid) == "OK"


def test_a_protected_backup_stays() -> None:
    api = door()
    volume = backup(api)
    volume.protected = True

    with pytest.raises(ApiError) as error:
        api.delete(f"{CONTENT.format('local')}/{volume.id}", delay=30)

    assert error.value.message == f"cannot remove protected volume '{volume.name}' on 'local'"


def test_a_base_with_linked_clones_stays() -> None:
    api = door()
    kept(api, Volume("local-zfs", "pve1", "base-9-disk-0", "images", "raw", 10, 10, vmid=9))
    kept(
        api,
        Volume(
            "local-zfs", "pve1", "base-9-disk-0/vm-100-disk-0", "images", "raw", 10, 0, 100,
            parent="base-9-disk-0",
        ),
    )  # fmt: skip

    upid = api.delete(f"{CONTENT.format('local-zfs')}/base-9-disk-0")

    assert api.done(upid) == "base volume 'base-9-disk-0' is still in use by linked cloned"
    rows = api.get(CONTENT.format("local-zfs"))
    assert [row.get("parent") for row in rows] == [None, "base-9-disk-0@__base__"]


@pytest.mark.parametrize(
    ("storage", "name", "status"),
    [
        (
            "local-zfs",
            "vm-100-a",
            "zfs error: cannot destroy 'rpool/data/vm-100-a': dataset is busy",
        ),
        (
            "thin",
            "vm-100-a",
            "lvremove 'pve/vm-100-a' error:   Logical volume pve/vm-100-a in use.",
        ),
        ("ceph", "vm-100-a", "rbd rm 'vm-100-a' error: rbd: error: image still has watchers"),
        ("files", "vm-100-a.raw", "OK"),
    ],
)
def test_a_disk_of_a_running_machine_is_busy_where_storages_know(
    storage: str, name: str, status: str
) -> None:
    api = door()
    volid = allocated(api, storage, name)
    config = GuestConfig({"scsi0": f"{volid},size=1G"})
    api.cluster.state.guests[100] = Guest(100, "qemu", "pve1", config, status="running")

    upid = api.delete(f"{CONTENT.format(storage)}/{volid}")

    assert api.done(upid) == status


@pytest.mark.parametrize(
    ("storage", "name", "status"),
    [
        ("files", "100/vm-100-a.raw", "OK"),
        ("local-zfs", "vm-100-a", "OK"),
        ("thin", "vm-100-a", "OK"),
        (
            "ceph",
            "vm-100-a",
            "rbd error: rbd: error opening image vm-100-a: (2) No such file or directory",
        ),
    ],
)
def test_some_storages_mind_deleting_what_is_not_there(
    storage: str, name: str, status: str
) -> None:
    api = door()

    assert api.done(api.delete(f"{CONTENT.format(storage)}/{name}")) == status


def test_only_who_may_read_a_volume_sees_it() -> None:
    api = door()
    allocated(api, "files", "vm-100-a.raw")
    allocated(api, "files", "vm-101-a.raw", vmid=101)
    kept(api, Volume("files", "pve1", "iso/a.iso", "iso", "iso", 10, 10))
    somebody(api, "/storage/files", "Datastore.Audit")
    user = somebody(api, "/vms/101", "VM.Config.Disk")

    rows = user.get(CONTENT.format("files"))

    assert [row["volid"] for row in rows] == ["files:101/vm-101-a.raw", "files:iso/a.iso"]
    with pytest.raises(ApiError, match=r"Permission check failed \(/vms/100, VM.Config.Disk\)"):
        user.get(f"{CONTENT.format('files')}/100/vm-100-a.raw")


def test_snippets_are_only_for_who_may_allocate() -> None:
    api = door()
    kept(api, Volume("local", "pve1", "snippets/a.yaml", "snippets", "snippet", 10, 10))
    user = somebody(api, "/", "Datastore.Audit", "Datastore.AllocateSpace", "VM.Config.Disk")

    assert user.get(CONTENT.format("local")) == []
    with pytest.raises(ApiError) as error:
        user.get(f"{CONTENT.format('local')}/snippets/a.yaml")
    assert error.value.message == "missing privileges to access local:snippets/a.yaml"
    owner = somebody(api, "/storage/local", "Datastore.Allocate", name="owner")
    info = owner.get(f"{CONTENT.format('local')}/snippets/a.yaml")
    assert info["path"] == "/var/lib/vz/snippets/a.yaml"


def test_deleting_needs_other_rights_for_backups_than_for_disks() -> None:
    api = door()
    volume = backup(api)
    allocated(api, "files", "vm-100-a.raw")
    somebody(api, "/storage", "Datastore.AllocateSpace")
    user = somebody(api, "/vms/100", "VM.Backup", "VM.Config.Disk")

    with pytest.raises(ApiError, match=r"\(/storage/files, Datastore.Allocate\)"):
        user.delete(f"{CONTENT.format('files')}/100/vm-100-a.raw")
    assert user.delete(f"{CONTENT.format('local')}/{volume.id}", delay=30) is None


def test_copying_is_only_for_root() -> None:
    api = door()
    user = somebody(api, "/", "Datastore.Allocate", "Sys.Modify")

    with pytest.raises(ApiError, match=r"Permission check failed \(user != root@pam\)"):
        user.post(f"{CONTENT.format('thin')}/vm-9999-a", target="vm-9999-b")


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_replies_are_what_the_schema_promises(profile: str) -> None:
    api = door(small_world(profile))
    template = "/nodes/{node}/storage/{storage}/content"
    for storage in ("files", "local-zfs", "thin", "ceph"):
        name = "vm-100-a.raw" if storage == "files" else "vm-100-a"
        made = allocated(api, storage, name)
        assert promised(api, "POST", template, made) == []
        assert promised(api, "GET", template, api.get(CONTENT.format(storage))) == []
        info = api.get(f"{CONTENT.format(storage)}/{made}")
        assert promised(api, "GET", f"{template}/{{volume}}", info) == []
        upid = api.delete(f"{CONTENT.format(storage)}/{made}")
        assert promised(api, "DELETE", f"{template}/{{volume}}", upid) == []
    backup(api)
    assert promised(api, "GET", template, api.get(CONTENT.format("local"))) == []
