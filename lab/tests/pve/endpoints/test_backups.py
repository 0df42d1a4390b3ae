"""Backup jobs, and backups."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve import space
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.storages.backing_up import archive_of
from stockman_lab.servers.memory import MemoryClient

from lab.tests.pve.endpoints.guests import container, machine
from lab.tests.pve.endpoints.people import somebody
from lab.tests.returns import promised
from lab.tests.worlds import door, small_world

JOBS = "/cluster/backup"
JOB = f"{JOBS}/nightly"


def test_a_job_is_shown_with_its_property_strings_as_objects() -> None:
    api = door()

    reply = api.post(
        JOBS,
        id="nightly",
        schedule="*-*-* 02:00",
        storage="local",
        all=1,
        mode="snapshot",
        compress="zstd",
        prune__backups="keep-last=3,keep-daily=7",
        fleecing="1,storage=local",
        performance="max-workers=2",
        mailto="test@example.com",
        exclude__path=["/tmp", "/var/cache"],
        repeat__missed=1,
    )

    assert reply is None
    assert api.get(JOB) == {
        "id": "nightly",
        "type": "vzdump",
        "schedule": "*-*-* 02:00",
        "storage": "local",
        "all": 1,
        "mode": "snapshot",
        "compress": "zstd",
        "prune-backups": {"keep-last": 3, "keep-daily": 7},
        "fleecing": {"enabled": 1, "storage": "local"},
        "performance": {"max-workers": 2},
        "mailto": "test@example.com",
        "exclude-path": ["/tmp", "/var/cache"],
        "repeat-missed": 1,
        "enabled": 1,
    }


def test_the_list_says_when_a_job_runs_next() -> None:
    api = door()
    api.post(JOBS, id="nightly", schedule="02:00", all=1)
    api.post(JOBS, id="never", schedule="03:00", all=1, enabled=0)

    rows = api.get(JOBS)

    assert rows[0]["next-run"] == 1767225600 + 2 * 3600
    assert "next-run" not in rows[1]


def test_days_and_a_time_are_a_schedule() -> None:
    api = door()

    api.post(JOBS, id="nightly", starttime="21:30", dow="sat,sun", all=1)

    reply = api.get(JOB)
    assert reply["schedule"] == "sat,sun 21:30"
    assert "starttime" not in reply


def test_a_job_without_a_name_gets_one() -> None:
    api = door()

    api.post(JOBS, schedule="daily", all=1)

    (name,) = api.cluster.state.backup_jobs
    assert len(name) == 36


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ({"all": 1}, {"schedule": "neither 'starttime' nor 'schedule' were set"}),
        (
            {"all": 1, "schedule": "daily", "starttime": "1:00"},
            {"starttime": "'starttime' and 'schedule' cannot both be set"},
        ),
        ({"schedule": "daily"}, {"vmid": "property is missing"}),
        (
            {"schedule": "daily", "all": 1, "vmid": "100"},
            {"all": "option conflicts with option 'vmid'"},
        ),
    ],
)
def test_a_job_that_cannot_be_is_refused(given: dict[str, object], errors: dict[str, str]) -> None:
    reply = door().reply("POST", JOBS, {"id": "nightly", **given})

    assert reply.status == 400
    assert (reply.body or {}).get("errors") == errors


def test_a_name_is_given_once() -> None:
    api = door()
    api.post(JOBS, id="nightly", schedule="daily", all=1)

    with pytest.raises(ApiError, match=r"^Job 'nightly' already exists$"):
        api.post(JOBS, id="nightly", schedule="daily", all=1)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", JOB), ("DELETE", JOB)],
)
def test_an_unknown_job_is_named_in_the_error(method: str, path: str) -> None:
    reply = door().reply(method, path)

    assert reply.status == 400
    assert (reply.body or {}).get("errors") == {"id": "No such job 'nightly'"}


def test_a_change_of_an_unknown_job_and_an_empty_change_are_refused() -> None:
    api = door()

    with pytest.raises(ApiError, match=r"^no such vzdump job$"):
        api.put(JOB, mode="stop")
    api.post(JOBS, id="nightly", schedule="daily", all=1)
    with pytest.raises(ApiError, match=r"^no options specified$"):
        api.put(JOB)
    with pytest.raises(ApiError) as error:
        api.put(JOB, delete="nonsense")
    assert error.value.errors == {"delete": "unknown option 'nonsense'"}


def test_guests_are_chosen_in_one_way_at_a_time() -> None:
    api = door()
    api.post("/access/groups", groupid="unused")
    api.post(JOBS, id="nightly", schedule="daily", all=1, mailto="a@example.com")

    api.put(JOB, vmid="100,101", delete="mailto")

    reply = api.get(JOB)
    assert reply["vmid"] == "100,101"
    assert "all" not in reply
    assert "mailto" not in reply
    api.put(JOB, all=1)
    reply = api.get(JOB)
    assert reply["all"] == 1
    assert "vmid" not in reply


def test_jobs_are_for_administrators() -> None:
    api = door()
    user = somebody(api, "/", "Sys.Modify", "Sys.Audit")

    with pytest.raises(ApiError, match=r"\(/storage/local, Datastore.Allocate\)"):
        user.post(JOBS, id="nightly", schedule="daily", all=1)
    with pytest.raises(ApiError, match=r"\(/, Sys.Modify\)"):
        somebody(api, "/", "Sys.Audit", name="other").delete(JOB)


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_replies_are_what_the_schema_promises(profile: str) -> None:
    api = door(small_world(profile))
    machine(api)
    api.post(JOBS, id="nightly", schedule="daily", all=1, prune__backups="keep-last=1")

    assert promised(api, "GET", "/cluster/backup", api.get("/cluster/backup")) == []
    assert promised(api, "GET", "/cluster/backup/{id}", api.get(JOB)) == []
    assert promised(api, "PUT", "/cluster/backup/{id}", api.put(JOB, enabled=0)) == []
    assert promised(api, "DELETE", "/cluster/backup/{id}", api.delete(JOB)) == []


CONTENT = "/nodes/pve1/storage/local/content"


def backed_up(api: MemoryClient, vmid: int = 100, **given: object) -> str:
    """The exit status of a backup."""
    upid = api.post("/nodes/pve1/vzdump", vmid=str(vmid), **{"storage": "local"} | given)
    assert str(upid).startswith("UPID:")
    return api.done(upid)


def backups(api: MemoryClient) -> list[str]:
    rows = api.get(CONTENT, content="backup")
    return [row["volid"] for row in rows]


def test_a_backup_of_a_machine_holds_its_configuration_and_disks() -> None:
    api = door()
    guest = machine(api)
    volume = space.find(api.cluster, "pve1", "local-zfs:vm-100-disk-0")
    assert volume is not None
    volume.contents["talos"] = "installed"

    status = backed_up(api, compress="zstd", notes__template="{{guestname}} on {{node}}")

    assert status == "OK"
    (volid,) = backups(api)
    assert volid.startswith("local:backup/vzdump-qemu-100-2026_01_01-00_00_")
    assert volid.endswith(".vma.zst")
    rows = api.get(CONTENT)
    assert rows[0]["notes"] == "vm100 on pve1"
    text = api.get("/nodes/pve1/vzdump/extractconfig", volume=volid)
    assert isinstance(text, str)
    assert "memory: 2048\n" in text
    assert "#qmdump#map:scsi0:drive-scsi0:local-zfs:raw:\n" in text
    archive = archive_of(api.cluster, "pve1", volid)
    assert archive.values["scsi0"] == guest.config.values["scsi0"]
    assert archive.disks[0].contents == {"talos": "installed"}


def test_a_guest_is_locked_while_it_is_backed_up() -> None:
    api = door()
    guest = machine(api)

    upid = api.post("/nodes/pve1/vzdump", vmid="100", storage="local")

    assert guest.lock == "backup"
    assert api.done(upid) == "OK"
    assert guest.lock == ""


def test_a_stopped_backup_unlocks_its_guest() -> None:
    api = door()
    guest = machine(api)
    upid = api.post("/nodes/pve1/vzdump", vmid="100", storage="local")

    api.delete(f"/nodes/pve1/tasks/{upid}")

    assert guest.lock == ""
    assert backups(api) == []


def test_a_container_is_backed_up_as_an_archive_of_files() -> None:
    api = door()
    container(api)

    assert backed_up(api, 200, compress="gzip") == "OK"
    assert backups(api)[0].endswith(".tar.gz")


def test_a_backup_server_names_backups_by_time() -> None:
    api = door()
    machine(api)
    api.post("/storage", storage="pbs", type="pbs", server="10.0.0.8", datastore="main")

    assert backed_up(api, storage="pbs") == "OK"

    rows = api.get("/nodes/pve2/storage/pbs/content")
    assert rows[0]["volid"].startswith("pbs:backup/vm/100/2026-01-01T00:00:")
    assert (rows[0]["subtype"], rows[0]["vmid"]) == ("qemu", 100)


def test_guests_of_other_hosts_are_left_to_them() -> None:
    api = door()
    machine(api, node="pve2")

    assert api.post("/nodes/pve1/vzdump", vmid="100", storage="local") == "OK"


def test_all_guests_of_a_host_are_backed_up() -> None:
    api = door()
    machine(api)
    machine(api, 101)
    machine(api, 102, node="pve2")
    machine(api, 103)

    upid = api.post("/nodes/pve1/vzdump", all=1, exclude="101", storage="local")

    assert api.done(upid) == "OK"
    assert [volid.split("-")[2] for volid in backups(api)] == ["100", "103"]


def test_a_guest_that_is_locked_or_gone_fails_the_job() -> None:
    api = door()
    machine(api).config.values["lock"] = "snapshot"
    machine(api, 101)

    upid = api.post("/nodes/pve1/vzdump", vmid="100,101,999", storage="local")

    assert api.done(upid) == "job errors"
    log = api.cluster.state.tasks[str(upid)].log
    assert "ERROR: Backup of VM 100 failed - VM is locked (snapshot)" in log
    assert "ERROR: Backup of VM 999 failed - unable to find VM '999'" in log
    assert [volid.split("-")[2] for volid in backups(api)] == ["101"]


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ({}, {"vmid": "property is missing"}),
        ({"vmid": "100", "all": 1}, {"all": "option conflicts with option 'vmid'"}),
        ({"vmid": "100", "exclude": "1000"}, {"exclude": "option conflicts with option 'vmid'"}),
        ({"vmid": "100", "pool": "p"}, {"pool": "option conflicts with option 'vmid'"}),
        (
            {"vmid": "100", "stdout": 1},
            {"stdout": "option is only allowed on the command line interface."},
        ),
        (
            {"vmid": "100", "storage": "local", "notes-template": "{{who}}"},
            {"notes-template": "found unknown: variable 'who' at char 4\n"},
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    given: dict[str, object], errors: dict[str, str]
) -> None:
    reply = door().reply("POST", "/nodes/pve1/vzdump", given)

    assert reply.status == 400
    assert (reply.body or {}).get("errors") == errors


@pytest.mark.parametrize(
    ("storage", "text"),
    [
        ("nothere", "storage 'nothere' does not exist"),
        ("thin", "can't use storage 'thin' for backups - wrong content type"),
    ],
)
def test_a_storage_for_backups_has_to_take_them(storage: str, text: str) -> None:
    api = door()
    machine(api)

    status = backed_up(api, storage=storage)

    assert status == f"could not get storage information for '{storage}': {text}"


def test_a_protected_backup_is_not_pruned() -> None:
    api = door()
    machine(api)
    backed_up(api, protected=1)
    api.world.advance(3600)

    backed_up(api, prune__backups="keep-last=1")

    assert len(backups(api)) == 2


def test_a_missing_or_foreign_backup_cannot_be_looked_into() -> None:
    api = door()
    path = "/nodes/pve1/vzdump/extractconfig"

    with pytest.raises(ApiError) as error:
        api.get(path, volume="local:backup/vzdump-qemu-100-2026_01_01-00_00_00.vma")
    assert error.value.message.startswith("can't find file 'local:backup/")
    with pytest.raises(ApiError) as error:
        api.get(path, volume="local:iso/a.iso")
    assert error.value.message == (
        "unable to use volume local:iso/a.iso - content type needs to be 'backup'"
    )


def test_backups_need_rights_on_guest_and_storage() -> None:
    api = door()
    machine(api)
    user = somebody(api, "/vms/100", "VM.Backup")

    with pytest.raises(ApiError, match=r"\(/storage/local, Datastore.AllocateSpace\)"):
        backed_up(user)
    somebody(api, "/storage/local", "Datastore.AllocateSpace")
    assert backed_up(user) == "OK"
    with pytest.raises(ApiError, match=r"\(/, Sys.Modify\)"):
        backed_up(user, bwlimit=10)
    with pytest.raises(ApiError) as error:
        backed_up(user, script="/bin/x")
    assert error.value.errors == {"script": "Only root may set this option."}
    with pytest.raises(ApiError, match=r"\(/storage/local, Datastore.Allocate\)"):
        backed_up(user, prune__backups="keep-last=1")


def test_a_guest_that_is_kept_running_is_not_stopped_for_a_backup() -> None:
    api = door()
    machine(api)
    api.cluster.state.ha_resources["vm:100"] = Section("vm:100")

    upid = api.post("/nodes/pve1/vzdump", vmid="100", storage="local", mode="stop")

    assert api.done(upid) == "job errors"
    log = api.cluster.state.tasks[str(upid)].log
    assert any("Cannot execute a backup with stop mode on a HA managed" in one for one in log)
    assert backed_up(api, mode="snapshot") == "OK"


def test_a_backup_task_that_fails_leaves_no_lock() -> None:
    world = small_world()
    world.faults.add(Fault(Point.TASK, Effect.FAIL, {"type": "vzdump"}, "out of luck"))
    api = door(world)
    guest = machine(api)

    assert backed_up(api) == "out of luck"
    assert guest.lock == ""
