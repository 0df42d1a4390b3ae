"""Backup jobs."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError

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

    assert isinstance(rows, list)
    assert rows[0]["next-run"] == 1767225600 + 2 * 3600
    assert "next-run" not in rows[1]


def test_days_and_a_time_are_a_schedule() -> None:
    api = door()

    api.post(JOBS, id="nightly", starttime="21:30", dow="sat,sun", all=1)

    found = api.get(JOB)
    assert isinstance(found, dict)
    assert found["schedule"] == "sat,sun 21:30"
    assert "starttime" not in found


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
    [("GET", JOB), ("DELETE", JOB), ("GET", f"{JOB}/included_volumes")],
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

    found = api.get(JOB)
    assert isinstance(found, dict)
    assert found["vmid"] == "100,101"
    assert "all" not in found
    assert "mailto" not in found
    api.put(JOB, all=1)
    found = api.get(JOB)
    assert isinstance(found, dict)
    assert found["all"] == 1
    assert "vmid" not in found


def test_volumes_of_a_job_are_told_with_the_reason() -> None:
    api = door()
    guest = machine(api)
    guest.config.values["scsi1"] = "local-zfs:vm-100-disk-1,backup=0"
    guest.config.values["ide2"] = "local:iso/a.iso,media=cdrom"
    container(api).config.values["mp0"] = "local-zfs:subvol-200-disk-1,mp=/data"
    api.post(JOBS, id="nightly", schedule="daily", vmid="100,200,999")

    found = api.get(f"{JOB}/included_volumes")

    assert promised(api, "GET", "/cluster/backup/{id}/included_volumes", found) == []
    assert isinstance(found, dict)
    assert [
        [(child["id"], child["included"], child["reason"]) for child in guest.get("children", [])]
        for guest in found["children"]
    ] == [
        [("100:scsi0", 1, "enabled"), ("100:scsi1", 0, "disabled")],
        [("200:rootfs", 1, "rootfs"), ("200:mp0", 0, "disabled")],
        [],
    ]


def test_guests_without_a_job_are_listed() -> None:
    api = door()
    machine(api)
    machine(api, 101)
    api.post(JOBS, id="nightly", schedule="daily", vmid="100")

    rows = api.get("/cluster/backup-info/not-backed-up")

    assert rows == [{"vmid": 101, "type": "qemu", "name": "vm101"}]


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

    for path in ("/cluster/backup", "/cluster/backup-info", "/cluster/backup-info/not-backed-up"):
        assert promised(api, "GET", path, api.get(path)) == []
    assert promised(api, "GET", "/cluster/backup/{id}", api.get(JOB)) == []
    assert promised(api, "PUT", "/cluster/backup/{id}", api.put(JOB, enabled=0)) == []
    assert promised(api, "DELETE", "/cluster/backup/{id}", api.delete(JOB)) == []
