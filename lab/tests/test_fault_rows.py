"""Everything that goes wrong with Proxmox in upgrades can be brought about in the lab."""

from __future__ import annotations

import hashlib

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form, read_image
from stockman_lab.images.making import disk_image
from stockman_lab.pve.api.call import ApiReply, ApiRequest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import GIB
from stockman_lab.servers.memory import MemoryClient, NoAnswer

from lab.tests.machines import QEMU, create, create_linux, ended, start
from lab.tests.outside import Shelf, world_with
from lab.tests.worlds import NAME, door

URL = "http://127.0.0.1:9/talos.qcow2"
DOWNLOAD = "/nodes/pve1/storage/local/download-url"


def image(version: str) -> bytes:
    facts = ImageFacts(platform="nocloud", version=version, virtual_size=2 * GIB)
    return disk_image(facts, Form.QCOW2)


def let(api: MemoryClient, point: Point, effect: Effect, **more: object) -> None:
    match = {name: str(text) for name, text in more.pop("match", {}).items()}  # type: ignore[attr-defined]
    api.world.faults.add(Fault(point, effect, match, **more))  # type: ignore[arg-type]
    api.world.strike()


def refused(api: MemoryClient, method: str, path: str, /, **params: object) -> ApiError:
    with pytest.raises(ApiError) as caught:
        api.call(method, path, **params)
    return caught.value


def test_a_task_fails_because_a_file_is_locked() -> None:
    api = door()
    create_linux(api)
    text = "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout"
    let(api, Point.TASK, Effect.FAIL, match={"type": "qmclone"}, message=text)
    assert ended(api, "POST", f"{QEMU}/100/clone", newid=101) == text
    assert 101 not in api.cluster.state.guests
    assert ended(api, "POST", f"{QEMU}/100/clone", newid=101) == "OK"


def test_a_task_reports_an_error_and_the_machine_runs() -> None:
    api = door()
    create_linux(api)
    let(api, Point.TASK, Effect.DO_THEN_FAIL, match={"type": "qmstart"}, message="got timeout")
    assert ended(api, "POST", f"{QEMU}/100/status/start") == "got timeout"
    assert api.cluster.state.guests[100].is_running


def test_a_task_is_fine_and_the_machine_is_absent() -> None:
    api = door()
    let(api, Point.TASK, Effect.CLAIM, match={"type": "qmcreate"})
    assert ended(api, "POST", QEMU, vmid=100, name="ghost") == "OK"
    guest = api.cluster.state.guests.get(100)
    assert guest is None or guest.lock == "create"


def test_credentials_end() -> None:
    api = door()
    token = api.post("/access/users/root@pam/token/main", privsep=0)
    header = {"authorization": f"PVEAPIToken=root@pam!main={token['value']}"}

    def status() -> int:
        reply = api.api.perform(api.host, ApiRequest("GET", "/version", headers=header))
        assert isinstance(reply, ApiReply)
        return reply.status

    assert status() == 200
    let(api, Point.AUTHENTICATE, Effect.FAIL, status=401)
    assert [status(), status()] == [401, 200]
    api.delete("/access/users/root@pam/token/main")
    assert status() == 401


@pytest.mark.parametrize("status", [500, 595, 596, 599])
def test_the_api_fails_with_nothing_done_or_with_everything_done(status: int) -> None:
    api = door()
    let(api, Point.REQUEST, Effect.FAIL, match={"method": "POST"}, status=status)
    assert refused(api, "POST", QEMU, vmid=100).status == status
    assert 100 not in api.cluster.state.guests
    let(api, Point.REQUEST, Effect.DO_THEN_CUT, match={"method": "POST"})
    with pytest.raises(NoAnswer):
        api.post(QEMU, vmid=100)
    api.world.settle()
    assert 100 in api.cluster.state.guests


def test_a_cluster_without_quorum_is_read_only() -> None:
    api = door()
    create(api, 100)
    let(api, Point.QUORUM, Effect.FAIL)
    text = refused(api, "DELETE", f"{QEMU}/100").message
    assert "quorum" in text
    assert api.get(f"{QEMU}/100/config")
    api.world.faults.remove(1)
    assert ended(api, "DELETE", f"{QEMU}/100") == "OK"


def test_a_host_dies_with_all_that_runs_on_it() -> None:
    api = door()
    create_linux(api)
    start(api)
    client = MemoryClient(api.world, NAME, "pve2")
    let(api, Point.HOST, Effect.KILL, match={"node": "pve1"}, since=api.world.now + 60)
    api.world.advance(30)
    assert api.cluster.state.guests[100].is_running
    api.world.advance(40)
    assert not api.cluster.state.hosts["pve1"].has_power
    assert refused(client, "GET", f"{QEMU}/100/status/current").status == 595
    rows = client.get("/cluster/resources", type="vm")
    assert [row["status"] for row in rows] == ["unknown"]


def test_a_host_dies_while_it_clones() -> None:
    api = door()
    create_linux(api)
    let(api, Point.TASK, Effect.KILL, match={"type": "qmclone"})
    assert ended(api, "POST", f"{QEMU}/100/clone", newid=101) == "unexpected status"
    client = MemoryClient(api.world, NAME, "pve2")
    assert refused(client, "GET", f"{QEMU}/101/config").status == 595


def test_a_list_is_older_than_what_was_done() -> None:
    api = door()
    create_linux(api)
    let(api, Point.REQUEST, Effect.LIE, match={"path": "/cluster/resources"}, times=2)
    assert ended(api, "POST", f"{QEMU}/100/clone", newid=101) == "OK"
    assert ended(api, "DELETE", f"{QEMU}/100") == "OK"

    def listed() -> list[int]:
        return [row["vmid"] for row in api.get("/cluster/resources", type="vm")]

    assert [listed() for _ in range(3)] == [[100], [100], [101]]


def test_a_guest_ignores_its_power_button_and_a_running_one_is_not_destroyed() -> None:
    api = door()
    create_linux(api)
    start(api)
    let(api, Point.SHUTDOWN, Effect.HANG, times=None)
    ignored = ended(api, "POST", f"{QEMU}/100/status/shutdown", timeout=30)
    assert "got timeout" in ignored
    assert refused(api, "DELETE", f"{QEMU}/100").message == "VM 100 is running - destroy failed"
    assert ended(api, "POST", f"{QEMU}/100/status/stop") == "OK"
    assert ended(api, "DELETE", f"{QEMU}/100") == "OK"


def test_an_id_is_taken_by_another_machine() -> None:
    api = door()
    first = create(api, 100, name="mine").config.values["smbios1"]
    assert ended(api, "DELETE", f"{QEMU}/100") == "OK"
    smbios1 = create(api, 100, name="theirs").config.values["smbios1"]
    assert first != smbios1


def test_a_storage_is_full() -> None:
    api = door()
    api.cluster.state.hosts["pve1"].pools["fs:/srv/files"].other = 499 * GIB
    status = ended(api, "POST", QEMU, vmid=100, scsi0="files:5,format=raw")
    assert "No space left" in status or "ENOSPC" in status
    assert 100 not in api.cluster.state.guests
    assert not api.cluster.state.volumes


@pytest.mark.parametrize("damage", ["truncated", ""])
def test_a_download_is_damaged_and_a_checksum_tells(damage: str) -> None:
    content = image("v1.13.9")
    api = MemoryClient(world_with(Shelf({URL: content})), NAME)
    let(api, Point.DOWNLOAD, Effect.CORRUPT, message=damage)
    by_name = {
        "content": "import",
        "filename": "talos.qcow2",
        "url": URL,
        "checksum__algorithm": "sha256",
        "checksum": hashlib.sha256(content).hexdigest(),
    }
    assert "checksum mismatch" in ended(api, "POST", DOWNLOAD, **by_name)
    assert ended(api, "POST", DOWNLOAD, **by_name) == "OK"


def test_a_cached_old_image_is_delivered_and_boots_the_old_version() -> None:
    shelf = Shelf({URL: image("v1.12.0")})
    api = MemoryClient(world_with(shelf), NAME)
    by_name = {"content": "import", "url": URL}
    assert ended(api, "POST", DOWNLOAD, **by_name, filename="old.qcow2") == "OK"
    shelf.contents[URL] = image("v1.13.9")
    let(api, Point.DOWNLOAD, Effect.LIE)
    assert ended(api, "POST", DOWNLOAD, **by_name, filename="new.qcow2") == "OK"
    volume = api.cluster.state.volumes["pve1/local:import/new.qcow2"]
    facts = read_image(api.world.state.blobs.get(volume.blob)).facts
    assert facts is not None
    assert facts.version == "v1.12.0"


def test_a_machine_never_boots() -> None:
    api = door()
    create_linux(api)
    let(api, Point.BOOT, Effect.HANG)
    start(api)
    api.world.advance(3600)
    assert api.get(f"{QEMU}/100/status/current")["status"] == "running"
    error = refused(api, "POST", f"{QEMU}/100/agent/ping")
    assert error.message == "QEMU guest agent is not running"
    assert ended(api, "POST", f"{QEMU}/100/status/stop") == "OK"
    start(api)
    api.world.advance(60)
    assert api.post(f"{QEMU}/100/agent/ping") is not None


def test_a_machine_keeps_its_old_disk() -> None:
    api = door()
    old = create_linux(api).config.values["scsi0"]
    let(api, Point.TASK, Effect.CLAIM, match={"type": "qmdestroy"})
    assert ended(api, "DELETE", f"{QEMU}/100") == "OK"
    assert api.cluster.state.guests[100].config.values["scsi0"] == old
