"""Reads can be answered with what was true earlier."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.api.call import ApiReply, ApiRequest
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.machines import QEMU, create, create_linux, ended, put_file, start
from lab.tests.worlds import NAME, door


def lying(**how: object) -> MemoryClient:
    client = door()
    lie(client, **how)
    return client


def lie(client: MemoryClient, **how: object) -> Fault:
    how.setdefault("times", None)
    return client.world.faults.add(Fault(Point.REQUEST, Effect.LIE, **how))  # type: ignore[arg-type]


def vmids(client: MemoryClient) -> list[int]:
    return [row["vmid"] for row in client.get(QEMU)]


def test_reads_show_what_was_true_when_the_first_request_came() -> None:
    client = lying()
    create(client, 100)
    assert vmids(client) == []
    assert 100 in client.cluster.state.guests


def test_writes_are_not_lied_about() -> None:
    client = lying()
    create(client, 100)
    with pytest.raises(ApiError, match="VM 100 already exists on node 'pve1'"):
        client.post(QEMU, vmid=100)


def test_a_lie_ends_with_its_number_of_times() -> None:
    client = lying(times=2)
    create(client, 100)
    assert [vmids(client) for _ in range(3)] == [[], [], [100]]


def test_a_lie_ends_when_it_is_taken_back_and_leaves_nothing_behind() -> None:
    client = lying()
    put_file(client, "iso/wool.iso", b"wool")
    create(client, 100)
    assert client.world.state.memories
    assert client.world.take_back(1)
    assert vmids(client) == [100]
    assert client.world.state.memories == {}
    client.delete("/nodes/pve1/storage/local/content/local:iso/wool.iso")
    client.world.settle()
    assert not client.world.state.blobs.contents


def test_a_lie_has_its_time() -> None:
    client = door()
    now = client.world.now
    lie(client, since=now + 100, until=now + 200)
    create(client, 100)
    assert vmids(client) == [100]
    client.world.advance(100)
    create(client, 101)
    assert vmids(client) == [100]
    client.world.advance(101)
    assert vmids(client) == [100, 101]


def test_a_lie_is_no_older_than_it_is_said_to_be() -> None:
    client = lying(seconds=30)
    create(client, 100)
    assert vmids(client) == []
    client.world.advance(60)
    assert vmids(client) == [100]
    create(client, 101)
    assert vmids(client) == [100]


@pytest.mark.parametrize(
    "match",
    [{"path": "/nodes/*/qemu/100/*"}, {"vmid": "100"}, {"host": "pve1", "vmid": "10?"}],
)
def test_only_what_is_meant_is_lied_about(match: dict[str, str]) -> None:
    client = door()
    for vmid in (100, 200):
        create(client, vmid, name="old")
    lie(client, match=match)
    for vmid in (100, 200):
        assert ended(client, "POST", f"{QEMU}/{vmid}/config", name="new") == "OK"
    names = [client.get(f"{QEMU}/{vmid}/config")["name"] for vmid in (100, 200)]
    assert names == ["old", "new"]


def test_one_host_may_lie_while_others_tell_the_truth() -> None:
    client = lying(match={"host": "pve2"})
    other = MemoryClient(client.world, NAME, "pve2")
    create(client, 100)
    assert vmids(client) == [100]
    assert vmids(other) == []


def test_a_machine_that_is_gone_is_still_shown() -> None:
    client = door()
    create_linux(client)
    start(client)
    lie(client, match={"vmid": "100"})
    assert ended(client, "POST", f"{QEMU}/100/status/stop") == "OK"
    assert ended(client, "DELETE", f"{QEMU}/100") == "OK"
    assert client.get(f"{QEMU}/100/status/current")["status"] == "running"
    links = client.get(f"{QEMU}/100/agent/network-get-interfaces")
    assert links["result"]
    assert vmids(client) == []


def test_the_lie_changes_nothing_in_the_world() -> None:
    client = door()
    create_linux(client)
    start(client)
    lie(client)
    client.get("/version")
    before = world_file(client.world.state)
    struck = client.world.faults.listed[0].struck
    client.get(f"{QEMU}/100/agent/network-get-interfaces")
    client.get(f"{QEMU}/100/agent/info")
    client.get("/cluster/resources")
    assert client.world.faults.listed[0].struck == struck + 3
    client.world.faults.listed[0].struck = struck
    assert world_file(client.world.state) == before


def test_a_saved_world_goes_on_with_the_same_lie() -> None:
    client = lying()
    create(client, 100)
    again = MemoryClient(World(read_world(world_file(client.world.state))), NAME)
    assert vmids(again) == []
    again.world.take_back(1)
    assert vmids(again) == [100]


def test_credentials_are_those_of_today() -> None:
    client = lying(match={"path": "/version"})
    post = client.post("/access/users/root@pam/token/main", privsep=0)
    right = f"PVEAPIToken=root@pam!main={post['value']}"

    def status(header: str) -> int:
        request = ApiRequest("GET", "/version", headers={"authorization": header})
        reply = client.api.perform(client.host, request)
        assert isinstance(reply, ApiReply)
        return reply.status

    assert [status(right), status(f"{right}x")] == [200, 401]


def test_a_lie_is_about_reads() -> None:
    with pytest.raises(ValueError, match="a lie is what reads are answered with"):
        Fault(Point.REQUEST, Effect.LIE, {"method": "POST"})
