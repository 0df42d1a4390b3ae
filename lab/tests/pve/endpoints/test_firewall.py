"""Firewalls of the cluster, of hosts and of guests: one implementation for all places."""

from __future__ import annotations

import pytest
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.errors import ApiError

from lab.tests.guests import put_guest
from lab.tests.returns import promised
from lab.tests.worlds import door

CLUSTER = "/cluster/firewall"
MACHINE = "/nodes/pve1/qemu/100/firewall"
PLACES = [CLUSTER, "/nodes/pve1/firewall", MACHINE, "/nodes/pve2/lxc/200/firewall"]
WITH_SETS = [CLUSTER, MACHINE, "/nodes/pve2/lxc/200/firewall"]


@pytest.fixture
def lab() -> MemoryDoor:
    found = door()
    put_guest(found, 100)
    put_guest(found, 200, node="pve2", kind="lxc")
    return found


@pytest.mark.parametrize("place", PLACES)
def test_a_new_rule_comes_first(lab: MemoryDoor, place: str) -> None:
    rules = f"{place}/rules"
    lab.post(rules, type="in", action="ACCEPT", proto="tcp", dport="22", enable=1, pos=5)
    lab.post(rules, type="out", action="DROP", comment="last words")
    rows = _rows(lab, rules)
    digest = rows[0]["digest"]
    assert rows == [
        {
            "type": "out",
            "action": "DROP",
            "comment": "last words",
            "enable": 0,
            "pos": 0,
            "digest": digest,
        },
        {
            "type": "in",
            "action": "ACCEPT",
            "proto": "tcp",
            "dport": "22",
            "enable": 1,
            "pos": 1,
            "digest": digest,
        },
    ]


def test_a_rule_alone_has_its_position_as_a_text(lab: MemoryDoor) -> None:
    lab.post(f"{MACHINE}/rules", type="in", action="ACCEPT")
    found = lab.get(f"{MACHINE}/rules/0")
    assert isinstance(found, dict)
    assert found["pos"] == "0"


def test_rules_are_moved_in_front_of_others(lab: MemoryDoor) -> None:
    for name in ("c", "b", "a"):
        lab.post(f"{MACHINE}/rules", type="in", action="ACCEPT", comment=name)
    lab.put(f"{MACHINE}/rules/0", moveto=2)
    assert [row["comment"] for row in _rows(lab, f"{MACHINE}/rules")] == ["b", "a", "c"]
    lab.put(f"{MACHINE}/rules/0", moveto=9)
    assert [row["comment"] for row in _rows(lab, f"{MACHINE}/rules")] == ["a", "c", "b"]


def test_rules_are_changed_and_deleted(lab: MemoryDoor) -> None:
    rules = f"{MACHINE}/rules"
    lab.post(rules, type="in", action="ACCEPT", source="10.0.0.0/8", comment="x", iface="net0")
    digest = _rows(lab, rules)[0]["digest"]
    lab.put(f"{rules}/0", action="DROP", delete="comment,iface", digest=digest)
    row = _rows(lab, rules)[0]
    assert (row["action"], row["ipversion"]) == ("DROP", 4)
    assert "comment" not in row
    with pytest.raises(ApiError, match="detected modified configuration"):
        lab.delete(f"{rules}/0", digest=digest)
    lab.delete(f"{rules}/0")
    assert lab.get(rules) == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_there_has_to_be_a_rule(lab: MemoryDoor, method: str) -> None:
    reply = lab.reply(method, f"{MACHINE}/rules/3")
    assert (reply.status, reply.reason) == (500, "no rule at position 3")


@pytest.mark.parametrize(
    ("place", "params", "errors"),
    [
        (MACHINE, {"type": "in", "action": "NO"}, {"action": "unknown action 'NO'"}),
        (
            MACHINE,
            {"type": "forward", "action": "DROP"},
            {"type": "invalid rule type 'forward' for rule_env 'vm'"},
        ),
        (
            CLUSTER,
            {"type": "forward", "action": "REJECT"},
            {"action": "cannot define REJECT rules on forward chain"},
        ),
        (
            MACHINE,
            {"type": "in", "action": "DROP", "iface": "eth0"},
            {"iface": "value does not match the regex pattern 'net\\d+'"},
        ),
        (
            MACHINE,
            {"type": "in", "action": "DROP", "dport": "22"},
            {"proto": "missing property - 'dport' requires this property"},
        ),
        (
            MACHINE,
            {"type": "in", "action": "DROP", "sport": "22", "proto": "gre"},
            {"sport": "protocol 'gre' does not support ports"},
        ),
        (
            MACHINE,
            {"type": "in", "action": "DROP", "icmp-type": "echo-request"},
            {"proto": "missing property - 'icmp-type' requires this property"},
        ),
        (
            MACHINE,
            {"type": "in", "action": "DROP", "macro": "Wool"},
            {"macro": "unknown macro 'Wool'"},
        ),
        (
            MACHINE,
            {"type": "in", "action": "DROP", "source": "+sheep"},
            {"source": "no such ipset 'sheep'"},
        ),
        (
            MACHINE,
            {"type": "in", "action": "DROP", "dest": "dc/sheep"},
            {"dest": "no such alias 'dc/sheep'"},
        ),
    ],
)
def test_rules_that_cannot_be_are_refused(
    lab: MemoryDoor, place: str, params: dict[str, object], errors: dict[str, str]
) -> None:
    reply = lab.reply("POST", f"{place}/rules", params)
    assert (reply.status, (reply.body or {})["errors"]) == (400, errors)
    assert lab.get(f"{place}/rules") == []


def test_addresses_of_both_kinds_do_not_mix(lab: MemoryDoor) -> None:
    lab.post(f"{CLUSTER}/aliases", name="sheep", cidr="fd00::/64")
    reply = lab.reply(
        "POST",
        f"{MACHINE}/rules",
        {"type": "in", "action": "DROP", "source": "10.0.0.1", "dest": "sheep"},
    )
    assert reply.reason == "detected mixed ipv4/ipv6 addresses in rule"


def test_properties_of_rules_that_cannot_be_deleted(lab: MemoryDoor) -> None:
    lab.post(f"{MACHINE}/rules", type="in", action="DROP")
    reply = lab.reply("PUT", f"{MACHINE}/rules/0", {"delete": "type"})
    assert (reply.body or {})["errors"] == {"delete": "unable to delete required property 'type'"}
    reply = lab.reply("PUT", f"{MACHINE}/rules/0", {"delete": "wool"})
    assert (reply.body or {})["errors"] == {"delete": "no such property ('wool')"}


def test_macros_are_written_as_they_are_known(lab: MemoryDoor) -> None:
    lab.post(f"{MACHINE}/rules", type="in", action="ACCEPT", macro="ssh")
    assert _rows(lab, f"{MACHINE}/rules")[0]["macro"] == "SSH"


@pytest.mark.parametrize("place", PLACES)
def test_options_are_set_and_deleted(lab: MemoryDoor, place: str) -> None:
    lab.put(f"{place}/options", enable=1)
    found = lab.get(f"{place}/options")
    assert isinstance(found, dict)
    assert found["enable"] == 1
    with pytest.raises(ApiError, match="detected modified configuration"):
        lab.put(f"{place}/options", enable=0, digest="0" * 40)
    lab.put(f"{place}/options", delete="enable")
    left = lab.get(f"{place}/options")
    assert isinstance(left, dict)
    assert list(left) == ["digest"]
    reply = lab.reply("PUT", f"{place}/options", {"delete": "wool"})
    assert (reply.body or {})["errors"] == {"delete": "no such option 'wool'"}


@pytest.mark.parametrize("place", WITH_SETS)
def test_aliases_are_made_renamed_and_deleted(lab: MemoryDoor, place: str) -> None:
    aliases = f"{place}/aliases"
    lab.post(aliases, name="Sheep", cidr="10.0.0.1/32", comment="one")
    assert lab.get(f"{aliases}/sheep") == {
        "name": "Sheep",
        "cidr": "10.0.0.1",
        "ipversion": 4,
        "comment": "one",
    }
    reply = lab.reply("POST", aliases, {"name": "sheep", "cidr": "10.0.0.2"})
    assert (reply.body or {})["errors"] == {"name": "alias 'sheep' already exists"}
    lab.put(f"{aliases}/Sheep", cidr="10.0.0.0/8", rename="flock")
    assert [row["name"] for row in _rows(lab, aliases)] == ["flock"]
    reply = lab.reply("GET", f"{aliases}/sheep")
    assert (reply.body or {})["errors"] == {"name": "no such alias"}
    lab.delete(f"{aliases}/flock")
    assert lab.get(aliases) == []


@pytest.mark.parametrize("place", WITH_SETS)
def test_sets_hold_addresses(lab: MemoryDoor, place: str) -> None:
    sets = f"{place}/ipset"
    lab.post(sets, name="flock", comment="all")
    lab.post(f"{sets}/flock", cidr="10.0.0.77/8", comment="net")
    lab.post(f"{sets}/flock", cidr="10.0.0.1", nomatch=1)
    rows = _rows(lab, f"{sets}/flock")
    assert [(row["cidr"], row.get("nomatch", 0)) for row in rows] == [
        ("10.0.0.0/8", 0),
        ("10.0.0.1", 1),
    ]
    lab.put(f"{sets}/flock/10.0.0.1", comment="ram")
    assert _rows(lab, f"{sets}/flock")[1]["comment"] == "ram"
    with pytest.raises(ApiError, match="IPSet 'flock' is not empty"):
        lab.delete(f"{sets}/flock")
    lab.post(sets, name="herd", rename="flock")
    assert [(row["name"], row["comment"]) for row in _rows(lab, sets)] == [("herd", "all")]
    lab.delete(f"{sets}/herd/10.0.0.1")
    lab.delete(f"{sets}/herd", force=1)
    assert lab.get(sets) == []


@pytest.mark.parametrize(
    ("path", "params", "errors"),
    [
        ("", {"name": "flock"}, {"name": "IPSet 'flock' already exists"}),
        ("", {"name": "other", "rename": "none"}, {"name": "IPSet 'none' does not exist"}),
        ("", {"name": "two", "rename": "flock"}, {"name": "IPSet 'two' does already exist"}),
        ("/flock", {"cidr": "10.0.0.1"}, {"cidr": "address '10.0.0.1' already exists"}),
        (
            "/flock",
            {"cidr": "0.0.0.0/0"},
            {"cidr": "a zero prefix is not allowed in ipset entries"},
        ),
    ],
)
def test_sets_that_cannot_be_are_refused(
    lab: MemoryDoor, path: str, params: dict[str, object], errors: dict[str, str]
) -> None:
    for name in ("flock", "two"):
        lab.post(f"{CLUSTER}/ipset", name=name)
    lab.post(f"{CLUSTER}/ipset/flock", cidr="10.0.0.1")
    reply = lab.reply("POST", f"{CLUSTER}/ipset{path}", params)
    assert (reply.body or {})["errors"] == errors


def test_an_address_of_a_set_has_to_be_there(lab: MemoryDoor) -> None:
    with pytest.raises(ApiError, match="no such IPSet 'flock'"):
        lab.get(f"{CLUSTER}/ipset/flock")
    lab.post(f"{CLUSTER}/ipset", name="flock")
    reply = lab.reply("GET", f"{CLUSTER}/ipset/flock/10.0.0.1")
    assert (reply.body or {})["errors"] == {"cidr": "no such IP/Network"}
    with pytest.raises(ApiError, match="no such alias 'dc/sheep'"):
        lab.post(f"{CLUSTER}/ipset/flock", cidr="dc/sheep")


def test_references_are_those_of_the_cluster_and_ones_own(lab: MemoryDoor) -> None:
    lab.post(f"{CLUSTER}/ipset", name="flock")
    lab.post(f"{MACHINE}/aliases", name="ram", cidr="10.0.0.1")
    rows = _rows(lab, f"{MACHINE}/refs")
    assert [(row["ref"], row["scope"]) for row in rows] == [("+flock", "dc"), ("ram", "guest")]
    assert promised(lab, "GET", "/nodes/{node}/qemu/{vmid}/firewall/refs", rows) == []
    assert [row["type"] for row in _rows(lab, f"{MACHINE}/refs", type="alias")] == ["alias"]


def test_groups_hold_rules_for_others(lab: MemoryDoor) -> None:
    groups = f"{CLUSTER}/groups"
    lab.post(groups, group="web", comment="pages")
    lab.post(f"{groups}/web", type="in", action="ACCEPT", macro="HTTPS")
    lab.post(f"{MACHINE}/rules", type="group", action="web", enable=1)
    with pytest.raises(ApiError, match="Security group 'web' is not empty"):
        lab.delete(f"{groups}/web")
    lab.post(groups, group="site", rename="web")
    assert [(row["group"], row["comment"]) for row in _rows(lab, groups)] == [("site", "pages")]
    assert _rows(lab, f"{MACHINE}/rules")[0]["action"] == "site"
    lab.delete(f"{groups}/site/0")
    lab.delete(f"{groups}/site")
    with pytest.raises(ApiError, match="no such security group 'site'"):
        lab.get(f"{groups}/site")


def test_groups_do_not_hold_groups(lab: MemoryDoor) -> None:
    lab.post(f"{CLUSTER}/groups", group="web")
    reply = lab.reply("POST", f"{CLUSTER}/groups/web", {"type": "group", "action": "web"})
    assert (reply.body or {})["errors"] == {
        "type": "invalid rule type 'group' for rule_env 'group'"
    }
    reply = lab.reply("POST", f"{CLUSTER}/groups", {"group": "web"})
    assert (reply.body or {})["errors"] == {"group": "Security group 'web' already exists"}


def test_nothing_is_logged(lab: MemoryDoor) -> None:
    assert lab.get(f"{MACHINE}/log") == [{"n": 1, "t": "no content"}]


@pytest.mark.parametrize(
    ("place", "lock"), [(CLUSTER, "firewall-cluster"), (MACHINE, "firewall-vm-100")]
)
def test_rules_need_quorum(lab: MemoryDoor, place: str, lock: str) -> None:
    for name in ("pve2", "pve3"):
        lab.cluster.state.hosts[name].has_power = False
    with pytest.raises(ApiError, match=f"cfs-lock '{lock}' error: no quorum!"):
        lab.post(f"{place}/rules", type="in", action="ACCEPT")


def _rows(lab: MemoryDoor, path: str, **params: object) -> list[dict[str, object]]:
    rows = lab.get(path, **params)
    assert isinstance(rows, list)
    return rows
