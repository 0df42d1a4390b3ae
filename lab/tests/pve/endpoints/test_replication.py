"""Replication jobs."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.endpoints.guests import machine
from lab.tests.pve.endpoints.people import somebody
from lab.tests.returns import promised
from lab.tests.worlds import door, small_world

JOBS = "/cluster/replication"
JOB = f"{JOBS}/100-0"


def test_a_job_knows_its_guest_and_where_it_comes_from() -> None:
    api = door()
    machine(api)

    reply = api.post(JOBS, id="100-0", type="local", target="pve2", disable=0, comment="copy")

    assert reply is None
    row = api.get(JOB)
    assert len(row.pop("digest")) == 40
    assert row == {
        "id": "100-0",
        "type": "local",
        "guest": 100,
        "jobnum": 0,
        "source": "pve1",
        "target": "pve2",
        "disable": 0,
        "comment": "copy",
    }


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"id": "999-0"}, "Guest '999' does not exist."),
        ({"target": "pve9"}, "Target 'pve9' does not exist."),
        ({"target": "pve1"}, "Source and target must not be identical"),
        (
            {"source": "pve3"},
            "Source 'pve3' does not match current node of guest '100' (pve1)",
        ),
        ({"id": "101-0"}, "No replicatable volumes found"),
        ({"id": "100-1"}, "replication job '100-1' already exists"),
        (
            {"id": "100-2", "target": "pve3"},
            "replication job for guest '100' to target 'local/pve3' already exists",
        ),
    ],
)
def test_a_job_that_cannot_be_is_refused(given: dict[str, object], text: str) -> None:
    api = door()
    machine(api)
    machine(api, 101, "thin")
    api.post(JOBS, id="100-1", type="local", target="pve3")
    asked: dict[str, object] = {"id": "100-0", "type": "local", "target": "pve2"}

    reply = api.reply("POST", JOBS, asked | given)

    assert (reply.status, reply.reason) == (500, text)


def test_a_job_changes() -> None:
    api = door()
    machine(api)
    api.post(JOBS, id="100-0", type="local", target="pve2", comment="copy", rate="10.5")

    api.put(JOB, schedule="*/5", disable=1, delete="comment")

    reply = api.get(JOB)
    assert (reply["schedule"], reply["disable"], reply["rate"]) == ("*/5", 1, 10.5)
    assert "comment" not in reply


def test_what_may_not_change_is_refused() -> None:
    api = door()
    machine(api)
    api.post(JOBS, id="100-0", type="local", target="pve2")

    for given, text in (
        ({"delete": "target"}, "unable to delete required option 'target'"),
        ({"delete": "nonsense"}, "no such option 'nonsense'"),
        (
            {"digest": "0" * 40},
            "detected modified configuration - file changed by other user? Try again.",
        ),
    ):
        reply = api.reply("PUT", JOB, dict(given))
        assert (reply.status, reply.reason) == (500, text)


def test_a_removed_job_goes_when_it_has_cleaned_up() -> None:
    api = door()
    machine(api)
    api.post(JOBS, id="100-0", type="local", target="pve2")

    api.delete(JOB)

    reply = api.get(JOB)
    assert reply["remove_job"] == "full"
    api.world.advance(120)
    assert api.get(JOBS) == []


def test_a_job_is_removed_by_force_at_once() -> None:
    api = door()
    machine(api)
    api.post(JOBS, id="100-0", type="local", target="pve2")

    with pytest.raises(ApiError) as error:
        api.delete(JOB, force=1, keep=1)
    assert error.value.errors == {"keep": "conflicts with parameter 'force'"}
    api.delete(JOB, force=1)

    assert api.get(JOBS) == []


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("GET", JOB, "no such replication job '100-0'"),
        ("PUT", JOB, "no such job '100-0'"),
        ("DELETE", JOB, "no such job '100-0'"),
        ("GET", "/nodes/pve1/replication/100-0/status", "no such replication job '100-0'"),
        ("POST", "/nodes/pve1/replication/100-0/schedule_now", "no such replication job '100-0'"),
    ],
)
def test_an_unknown_job_is_named_in_the_error(method: str, path: str, text: str) -> None:
    reply = door().reply(method, path)

    assert (reply.status, reply.reason) == (500, text)


def test_a_job_runs_by_its_schedule() -> None:
    api = door()
    machine(api)
    api.post(JOBS, id="100-0", type="local", target="pve2", schedule="*/15")
    path = "/nodes/pve1/replication/100-0/status"
    before = api.get(path)

    api.world.advance(3600)

    after = api.get(path)
    assert "last_sync" not in before
    assert after["last_sync"] == 1767225600 + 3600
    assert after["next_sync"] == after["last_sync"] + 900


def test_a_job_can_be_run_soon() -> None:
    api = door()
    machine(api)
    api.post(JOBS, id="100-0", type="local", target="pve2", schedule="yearly")

    api.post("/nodes/pve1/replication/100-0/schedule_now")
    api.world.advance(90)

    status = api.get("/nodes/pve1/replication/100-0/status")
    assert status["last_sync"] == 1767225600 + 60


def test_a_target_without_power_is_an_error() -> None:
    api = door()
    machine(api)
    api.post(JOBS, id="100-0", type="local", target="pve2")
    api.cluster.state.hosts["pve2"].has_power = False

    rows = api.get("/nodes/pve1/replication", guest=100)

    assert rows[0]["fail_count"] == 1
    assert api.get("/nodes/pve1/replication", guest=101) == []


def test_replication_has_a_privilege_of_its_own_since_9() -> None:
    api = door()
    machine(api)
    user = somebody(api, "/vms/100", "VM.Audit")

    with pytest.raises(ApiError, match=r"^Permission check failed \(/vms/100, VM.Replicate\)$"):
        user.post(JOBS, id="100-0", type="local", target="pve2")
    somebody(api, "/vms/100", "VM.Replicate")
    user.post(JOBS, id="100-0", type="local", target="pve2")

    stranger = somebody(api, "/vms/101", "VM.Audit", name="stranger")
    assert stranger.get(JOBS) == []
    with pytest.raises(ApiError, match=r"\(/vms/100, VM.Audit\)"):
        stranger.get(JOB)


def test_before_9_replication_belonged_to_storages() -> None:
    api = door(small_world("8.4"))
    machine(api)
    user = somebody(api, "/vms/100", "VM.Audit", "VM.Allocate")

    with pytest.raises(ApiError, match=r"^Permission check failed \(/storage, Datastore.Allocate"):
        user.post(JOBS, id="100-0", type="local", target="pve2")


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_replies_are_what_the_schema_promises(profile: str) -> None:
    api = door(small_world(profile))
    machine(api)
    api.post(JOBS, id="100-0", type="local", target="pve2", rate="1")

    assert promised(api, "GET", JOBS, api.get(JOBS)) == []
    assert promised(api, "GET", f"{JOBS}/{{id}}", api.get(JOB)) == []
    for path in ("", "/100-0/status"):
        template = f"/nodes/{{node}}/replication{path.replace('100-0', '{id}')}"
        reply = api.get(f"/nodes/pve1/replication{path}")
        assert promised(api, "GET", template, reply) == []
