"""Resources, groups, rules and state of high availability."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient

from lab.tests.guests import put_guest
from lab.tests.returns import promised
from lab.tests.worlds import door, small_world

RESOURCES, GROUPS, RULES = "/cluster/ha/resources", "/cluster/ha/groups", "/cluster/ha/rules"


@pytest.fixture
def nine() -> MemoryClient:
    api = door()
    for vmid in (100, 101, 102):
        put_guest(api, vmid, onboot="1")
    return api


@pytest.fixture
def eight() -> MemoryClient:
    api = door(small_world("8.4"))
    put_guest(api, 100)
    return api


def test_a_number_is_enough_of_a_name(nine: MemoryClient) -> None:
    nine.post(RESOURCES, sid="101")
    assert [row["sid"] for row in _rows(nine, RESOURCES)] == ["vm:101"]
    assert _rows(nine, f"{RESOURCES}?", type="ct") == []


def test_a_resource_is_changed_and_deleted(nine: MemoryClient) -> None:
    nine.post(RESOURCES, sid="vm:100", comment="x")
    nine.put(f"{RESOURCES}/vm:100", state="disabled", delete="comment")
    reply = nine.get(f"{RESOURCES}/vm:100")
    assert (reply["state"], "comment" in reply) == ("disabled", False)
    nine.delete(f"{RESOURCES}/vm:100")
    assert nine.get(RESOURCES) == []


@pytest.mark.parametrize(
    ("method", "path", "params", "text"),
    [
        ("GET", f"{RESOURCES}/vm:100", {}, "no such resource 'vm:100'"),
        (
            "PUT",
            f"{RESOURCES}/vm:100",
            {"state": "started"},
            "update resources config failed: no such resource 'vm:100'",
        ),
        (
            "DELETE",
            f"{RESOURCES}/vm:100",
            {},
            "cannot delete service 'vm:100', not HA managed!",
        ),
        (
            "POST",
            f"{RESOURCES}/vm:100/migrate",
            {"node": "pve2"},
            "resource 'vm:100' is not HA managed",
        ),
        ("POST", RESOURCES, {"sid": "vm:999"}, "resource 'vm:999' does not exist in cluster"),
        (
            "POST",
            RESOURCES,
            {"sid": "ct:100"},
            "resource 'ct:100' - guest with ID 100 is not a container",
        ),
        (
            "POST",
            RESOURCES,
            {"sid": "999"},
            "unable to detect SID from VMID - VM/CT 999 does not exist",
        ),
        ("POST", RESOURCES, {"sid": "vm:100", "type": "ct"}, "types does not match"),
        (
            "POST",
            RESOURCES,
            {"sid": "vm:100", "group": "gg"},
            "invalid parameter 'group': ha groups have been migrated to rules",
        ),
        ("GET", GROUPS, {}, "cannot index groups: ha groups have been migrated to rules"),
        ("GET", f"{GROUPS}/gg", {}, "cannot read group: ha groups have been migrated to rules"),
        (
            "POST",
            GROUPS,
            {"group": "gg", "nodes": "pve1"},
            "cannot create group: ha groups have been migrated to rules",
        ),
        (
            "PUT",
            f"{GROUPS}/gg",
            {"nodes": "pve1"},
            "cannot update group: ha groups have been migrated to rules",
        ),
        (
            "DELETE",
            f"{GROUPS}/gg",
            {},
            "cannot delete group: ha groups have been migrated to rules",
        ),
        ("GET", f"{RULES}/rr", {}, "no such ha rule 'rr'"),
        (
            "PUT",
            f"{RULES}/rr",
            {"type": "node-affinity"},
            "update HA rules failed: HA rule 'rr' does not exist",
        ),
        (
            "POST",
            RULES,
            {"rule": "rr", "type": "node-affinity", "nodes": "pve1", "resources": "vm:100"},
            "create ha rule failed: cannot use unmanaged resource(s) vm:100.",
        ),
    ],
)
def test_what_nine_refuses(
    nine: MemoryClient, method: str, path: str, params: dict[str, object], text: str
) -> None:
    reply = nine.reply(method, path, params)
    assert (reply.status, reply.reason) == (500, text)


def test_a_resource_is_defined_once(nine: MemoryClient) -> None:
    nine.post(RESOURCES, sid="vm:100")
    with pytest.raises(ApiError, match="resource ID 'vm:100' already defined"):
        nine.post(RESOURCES, sid="vm:100")


def test_options_that_cannot_be_deleted(nine: MemoryClient) -> None:
    nine.post(RESOURCES, sid="vm:100")
    with pytest.raises(ApiError, match="no such option 'wool'"):
        nine.put(f"{RESOURCES}/vm:100", delete="wool")


def test_groups_work_on_eight(eight: MemoryClient) -> None:
    eight.post(GROUPS, group="gg", nodes="pve1:2,pve2", restricted=1)
    reply = eight.get(f"{GROUPS}/gg")
    del reply["digest"]
    assert reply == {"group": "gg", "type": "group", "nodes": "pve1:2,pve2", "restricted": 1}
    eight.post(RESOURCES, sid="vm:100", group="gg")
    assert _rows(eight, RESOURCES)[0]["group"] == "gg"
    with pytest.raises(ApiError, match="delete ha group failed: ha group is used by service"):
        eight.delete(f"{GROUPS}/gg")
    eight.put(f"{GROUPS}/gg", delete="restricted", nodes="pve3")
    assert _rows(eight, GROUPS)[0]["nodes"] == "pve3"


@pytest.mark.parametrize(
    ("method", "path", "params", "text"),
    [
        ("GET", f"{GROUPS}/none", {}, "no such ha group 'none'"),
        (
            "PUT",
            f"{GROUPS}/none",
            {"nodes": "pve1"},
            "update ha group failed: no such ha group 'none'",
        ),
        ("POST", RESOURCES, {"sid": "vm:100", "group": "no"}, "HA group 'no' does not exist"),
    ],
)
def test_what_eight_refuses(
    eight: MemoryClient, method: str, path: str, params: dict[str, object], text: str
) -> None:
    reply = eight.reply(method, path, params)
    assert (reply.status, reply.reason) == (500, text)


def test_a_group_is_defined_once(eight: MemoryClient) -> None:
    eight.post(GROUPS, group="gg", nodes="pve1")
    with pytest.raises(ApiError, match="ha group ID 'gg' already defined"):
        eight.post(GROUPS, group="gg", nodes="pve1")


def test_a_rule_is_told_in_one_form(nine: MemoryClient) -> None:
    for vmid in (100, 101):
        nine.post(RESOURCES, sid=f"vm:{vmid}")
    nine.post(
        RULES, rule="rr", type="node-affinity", nodes="pve2,pve1:3", resources="vm:101,vm:100"
    )
    reply = nine.get(f"{RULES}/rr")
    assert (reply["nodes"], reply["resources"], reply["order"]) == (
        "pve1:3,pve2",
        "vm:100,vm:101",
        1,
    )
    nine.put(f"{RULES}/rr", type="node-affinity", strict=1, disable=1)
    nine.put(f"{RULES}/rr", type="node-affinity", delete="disable")
    changed = nine.get(f"{RULES}/rr")
    assert (changed["strict"], "disable" in changed) == (1, False)
    assert promised(nine, "GET", f"{RULES}/{{rule}}", changed) == []
    nine.delete(f"{RULES}/rr")
    nine.delete(f"{RULES}/rr")
    assert nine.get(RULES) == []


def test_rules_that_cannot_hold_are_refused(nine: MemoryClient) -> None:
    for vmid in (100, 101):
        nine.post(RESOURCES, sid=f"vm:{vmid}")
    nine.post(RULES, rule="one", type="node-affinity", nodes="pve1", resources="vm:100")
    with pytest.raises(ApiError, match="HA rule 'one' already defined"):
        nine.post(RULES, rule="one", type="node-affinity", nodes="pve1", resources="vm:100")
    reply = nine.reply(
        "POST",
        RULES,
        {"rule": "two", "type": "node-affinity", "nodes": "pve1", "resources": "vm:100"},
    )
    assert reply.body is not None
    assert reply.body["message"] == (
        "create ha rule failed: 400 Rule 'two' is invalid.\n"
        "resources: resource 'vm:100' is already used in another node affinity rule\n"
    )
    alone = {"rule": "x1", "type": "resource-affinity", "affinity": "positive"}
    reply = nine.reply("POST", RULES, {**alone, "resources": "vm:101"})
    assert reply.body is not None
    assert "rule is ineffective as there are less than two resources" in str(reply.body["message"])


def test_rules_name_hosts_that_there_are(nine: MemoryClient) -> None:
    nine.post(RESOURCES, sid="vm:100")
    with pytest.raises(ApiError, match=r"cannot use non-existent node\(s\) pve9\."):
        nine.post(RULES, rule="rr", type="node-affinity", nodes="pve9", resources="vm:100")
    with pytest.raises(ApiError, match="missing value for required option 'nodes'"):
        nine.post(RULES, rule="rr", type="node-affinity", resources="vm:100")
    with pytest.raises(ApiError, match="unexpected property 'affinity'"):
        nine.post(
            RULES,
            rule="rr",
            type="node-affinity",
            nodes="pve1",
            resources="vm:100",
            affinity="positive",
        )


def test_a_deleted_resource_leaves_its_rules(nine: MemoryClient) -> None:
    for vmid in (100, 101):
        nine.post(RESOURCES, sid=f"vm:{vmid}")
    nine.post(RULES, rule="rr", type="node-affinity", nodes="pve1", resources="vm:100,vm:101")
    nine.delete(f"{RESOURCES}/vm:100")
    assert _rows(nine, RULES)[0]["resources"] == "vm:101"
    nine.delete(f"{RESOURCES}/vm:101")
    assert nine.get(RULES) == []


def test_a_move_tells_who_goes_along_and_who_is_in_the_way(nine: MemoryClient) -> None:
    for vmid in (100, 101, 102):
        nine.post(RESOURCES, sid=f"vm:{vmid}")
    nine.cluster.state.guests[102].node = "pve2"
    same = {"type": "resource-affinity", "resources": "vm:100,vm:101", "affinity": "positive"}
    nine.reply("POST", RULES, {"rule": "same", **same})
    other = {"type": "resource-affinity", "resources": "vm:100,vm:102", "affinity": "negative"}
    nine.reply("POST", RULES, {"rule": "other", **other})
    assert nine.post(f"{RESOURCES}/vm:100/migrate", node="pve2") == {
        "sid": "vm:100",
        "requested-node": "pve2",
        "comigrated-resources": ["vm:101"],
        "blocking-resources": [{"sid": "vm:102", "cause": "resource-affinity"}],
    }


def test_a_move_says_nothing_on_eight(eight: MemoryClient) -> None:
    eight.post(RESOURCES, sid="vm:100")
    assert eight.post(f"{RESOURCES}/vm:100/relocate", node="pve2") is None


def _rows(api: MemoryClient, path: str, **params: object) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = api.get(path.removesuffix("?"), **params)
    return rows
