"""Requests are looked at in the order of the real one, and faults strike on the way."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.api.call import ApiReply, ApiRequest, Outcome
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient, NoAnswer

from lab.tests.worlds import NAME, door, small_world

ADA = Caller("ada@pve")


def refused(api: MemoryClient, method: str, path: str, **params: object) -> ApiError:
    with pytest.raises(ApiError) as caught:
        api.call(method, path, **params)
    return caught.value


def with_ada() -> MemoryClient:
    root = door()
    root.post("/access/users", userid="ada@pve", password="secret12")
    return root.as_caller(ADA)


def test_nobody_is_let_in_without_a_name() -> None:
    api = door().api
    host = next(iter(api.cluster.state.hosts.values()))
    reply = api.perform(host, ApiRequest("GET", "/version"))
    assert isinstance(reply, ApiReply)
    assert (reply.status, reply.reason, reply.body, reply.wait) == (401, "No ticket", None, 3.0)


def test_what_does_not_exist_is_not_implemented() -> None:
    error = refused(door(), "GET", "/cluster/sheep")
    assert (error.status, error.message) == (501, "Method 'GET /cluster/sheep' not implemented")


def test_what_the_schema_knows_and_the_lab_does_not_is_refused_alike() -> None:
    error = refused(door(), "GET", "/cluster/acme/plugins")
    assert error.status == 501
    assert error.message == "Method 'GET /cluster/acme/plugins' not implemented"


def test_permission_is_looked_at_before_parameters() -> None:
    error = refused(with_ada(), "POST", "/access/roles", roleid="!!", wrong=1)
    assert (error.status, error.message) == (
        403,
        "Permission check failed (/access, Sys.Modify)",
    )


def test_parameters_are_looked_at_all_at_once() -> None:
    error = refused(door(), "GET", "/cluster/nextid", vmid="x", wool=1)
    assert error.status == 400
    assert set(error.errors) == {"vmid", "wool"}


def test_an_unknown_host_is_a_name_that_nobody_knows() -> None:
    error = refused(door(), "GET", "/nodes/nowhere/tasks")
    assert error.status == 500
    assert error.message.startswith("hostname lookup 'nowhere' failed - failed to get address info")


def struck(effect: Effect, **how: object) -> MemoryClient:
    world = small_world()
    world.faults.add(Fault(Point.REQUEST, effect, {"path": "/access/groups"}, **how))  # type: ignore[arg-type]
    return MemoryClient(world, NAME)


def test_a_request_can_fail_after_it_was_done() -> None:
    asked = struck(Effect.DO_THEN_FAIL)
    refused(asked, "POST", "/access/groups", groupid="shepherds")
    groups = asked.get("/access/groups")
    assert [group["groupid"] for group in groups] == ["shepherds"]


@pytest.mark.parametrize(
    ("effect", "done"),
    [(Effect.CUT, False), (Effect.DO_THEN_CUT, True), (Effect.HANG, False)],
)
def test_a_connection_can_break_before_or_after(effect: Effect, done: bool) -> None:
    asked = struck(effect)
    with pytest.raises(NoAnswer):
        asked.post("/access/groups", groupid="shepherds")
    assert bool(asked.get("/access/groups")) is done


def test_an_answer_can_be_late() -> None:
    asked = struck(Effect.DELAY, seconds=40)
    before = asked.world.now
    asked.post("/access/groups", groupid="shepherds")
    assert asked.world.now == before + 40


def test_an_answer_can_be_damaged() -> None:
    reply = struck(Effect.CORRUPT).reply("POST", "/access/groups", {"groupid": "shepherds"})
    assert reply.outcome is Outcome.CORRUPT


def test_credentials_can_be_refused_for_a_while() -> None:
    world = small_world()
    root = MemoryClient(world, NAME)
    token = root.post("/access/users/root@pam/token/tup", privsep=0)
    header = {"authorization": f"PVEAPIToken=root@pam!tup={token['value']}"}
    world.faults.add(Fault(Point.AUTHENTICATE, Effect.FAIL, status=401))
    first, second = (
        root.api.perform(root.host, ApiRequest("GET", "/version", headers=header)) for _ in range(2)
    )
    assert isinstance(first, ApiReply)
    assert isinstance(second, ApiReply)
    assert (first.status, second.status) == (401, 200)
