"""Firewalls of the cluster, of hosts and of guests share one implementation."""

from __future__ import annotations

import pytest
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.errors import ApiError

from lab.tests.guests import put_guest
from lab.tests.worlds import door

CLUSTER = "/cluster/firewall"
VM = "/nodes/pve1/qemu/100/firewall"
CONTAINER = "/nodes/pve2/lxc/200/firewall"
PLACES = [CLUSTER, "/nodes/pve1/firewall", VM, CONTAINER]


@pytest.fixture
def lab() -> MemoryDoor:
    lab = door()
    put_guest(lab, 100)
    put_guest(lab, 200, node="pve2", kind="lxc")
    return lab


def test_rules_are_moved_in_front_of_others(lab: MemoryDoor) -> None:
    for name in ("c", "b", "a"):
        lab.post(f"{VM}/rules", type="in", action="ACCEPT", comment=name)
    lab.put(f"{VM}/rules/0", moveto=2)
    assert [row["comment"] for row in _rows(lab, f"{VM}/rules")] == ["b", "a", "c"]
    lab.put(f"{VM}/rules/0", moveto=9)
    assert [row["comment"] for row in _rows(lab, f"{VM}/rules")] == ["a", "c", "b"]


def test_rules_are_changed_and_deleted(lab: MemoryDoor) -> None:
    rules = f"{VM}/rules"
    lab.post(rules, type="in", action="ACCEPT", source="10.0.0.0/8", comment="x", iface="net0")
    digest = _rows(lab, rules)[0]["digest"]
    lab.put(f"{rules}/0", action="DROP", delete="comment,iface", digest=digest)
    rule = lab.get(f"{rules}/0")
    assert isinstance(rule, dict)
    assert (rule["action"], rule["pos"], "comment" in rule) == ("DROP", "0", False)
    with pytest.raises(ApiError, match="detected modified configuration"):
        lab.delete(f"{rules}/0", digest=digest)
    lab.delete(f"{rules}/0")
    assert lab.get(rules) == []


@pytest.mark.parametrize("place", PLACES)
def test_options_are_set_and_deleted(lab: MemoryDoor, place: str) -> None:
    lab.put(f"{place}/options", enable=1)
    options = lab.get(f"{place}/options")
    assert isinstance(options, dict)
    assert options["enable"] == 1
    with pytest.raises(ApiError, match="detected modified configuration"):
        lab.put(f"{place}/options", enable=0, digest="0" * 40)
    lab.put(f"{place}/options", delete="enable")
    options = lab.get(f"{place}/options")
    assert isinstance(options, dict)
    assert list(options) == ["digest"]


@pytest.mark.parametrize("place", [CLUSTER, VM, CONTAINER])
def test_aliases_and_ip_sets_are_created_renamed_and_deleted(lab: MemoryDoor, place: str) -> None:
    aliases, sets = f"{place}/aliases", f"{place}/ipset"
    lab.post(aliases, name="Office", cidr="10.0.0.1/32", comment="one")
    assert lab.get(f"{aliases}/office") == {
        "name": "Office",
        "cidr": "10.0.0.1",
        "ipversion": 4,
        "comment": "one",
    }
    lab.put(f"{aliases}/Office", cidr="10.0.0.0/8", rename="site")
    assert [row["name"] for row in _rows(lab, aliases)] == ["site"]
    lab.delete(f"{aliases}/site")
    assert lab.get(aliases) == []

    lab.post(sets, name="web", comment="all")
    lab.post(f"{sets}/web", cidr="10.0.0.0/8", comment="net")
    lab.post(f"{sets}/web", cidr="10.0.0.1", nomatch=1)
    lab.put(f"{sets}/web/10.0.0.1", comment="changed")
    rows = _rows(lab, f"{sets}/web")
    assert [(row["cidr"], row["comment"]) for row in rows] == [
        ("10.0.0.0/8", "net"),
        ("10.0.0.1", "changed"),
    ]
    lab.post(sets, name="www", rename="web")
    assert [(row["name"], row["comment"]) for row in _rows(lab, sets)] == [("www", "all")]
    lab.delete(f"{sets}/www/10.0.0.1")
    with pytest.raises(ApiError, match="IPSet 'www' is not empty"):
        lab.delete(f"{sets}/www")
    lab.delete(f"{sets}/www", force=1)
    assert lab.get(sets) == []


def test_groups_hold_rules_for_others(lab: MemoryDoor) -> None:
    groups = f"{CLUSTER}/groups"
    lab.post(groups, group="web", comment="pages")
    lab.post(f"{groups}/web", type="in", action="ACCEPT", macro="HTTPS")
    lab.post(f"{VM}/rules", type="group", action="web", enable=1)
    with pytest.raises(ApiError, match="Security group 'web' is not empty"):
        lab.delete(f"{groups}/web")
    lab.post(groups, group="site", rename="web")
    assert [(row["group"], row["comment"]) for row in _rows(lab, groups)] == [("site", "pages")]
    lab.delete(f"{groups}/site/0")
    lab.delete(f"{groups}/site")
    with pytest.raises(ApiError, match="no such security group 'site'"):
        lab.get(f"{groups}/site")


@pytest.mark.parametrize(
    ("method", "path", "params", "message"),
    [
        ("GET", f"{VM}/rules/3", {}, "no rule at position 3"),
        ("POST", f"{VM}/rules", {"type": "in", "action": "NO"}, "unknown action 'NO'"),
        ("PUT", f"{VM}/options", {"delete": "wool"}, "no such option 'wool'"),
        ("GET", f"{VM}/aliases/office", {}, "no such alias"),
        ("POST", f"{CLUSTER}/ipset", {"name": "web"}, "IPSet 'web' already exists"),
        (
            "POST",
            f"{CLUSTER}/ipset",
            {"name": "two", "rename": "old"},
            "IPSet 'old' does not exist",
        ),
        ("GET", f"{CLUSTER}/ipset/no", {}, "no such IPSet 'no'"),
        ("GET", f"{CLUSTER}/ipset/web/10.0.0.1", {}, "no such IP/Network"),
    ],
)
def test_invalid_requests_are_refused(
    lab: MemoryDoor, method: str, path: str, params: dict[str, object], message: str
) -> None:
    lab.post(f"{CLUSTER}/ipset", name="web")
    reply = lab.reply(method, path, params)
    errors = (reply.body or {}).get("errors", {})
    assert isinstance(errors, dict)
    assert message in (reply.reason, *errors.values())


def _rows(lab: MemoryDoor, path: str) -> list[dict[str, object]]:
    rows = lab.get(path)
    assert isinstance(rows, list)
    return rows
