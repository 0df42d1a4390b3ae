"""Options and rules of the firewall of a machine."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient

from lab.tests.guests import put_guest
from lab.tests.pve.endpoints.containers import rows
from lab.tests.worlds import door

VM = "/nodes/pve1/qemu/100/firewall"
RULES = f"{VM}/rules"


@pytest.fixture
def lab() -> MemoryClient:
    lab = door()
    put_guest(lab, 100)
    return lab


def test_rules_are_inserted_on_top_and_moved_in_front_of_others(lab: MemoryClient) -> None:
    for name in ("c", "b", "a"):
        lab.post(RULES, type="in", action="ACCEPT", comment=name, pos=7)
    lab.put(f"{RULES}/0", moveto=2)
    assert [row["comment"] for row in rows(lab, RULES)] == ["b", "a", "c"]
    lab.put(f"{RULES}/0", moveto=9)
    assert [row["comment"] for row in rows(lab, RULES)] == ["a", "c", "b"]


def test_rules_are_changed_and_deleted(lab: MemoryClient) -> None:
    lab.post(RULES, type="in", action="ACCEPT", source="10.0.0.0/8", comment="x", iface="net0")
    digest = rows(lab, RULES)[0]["digest"]
    lab.put(f"{RULES}/0", action="DROP", delete="comment,iface", digest=digest)
    rule = lab.get(f"{RULES}/0")
    assert (rule["action"], rule["pos"], "comment" in rule) == ("DROP", "0", False)
    with pytest.raises(ApiError, match="detected modified configuration"):
        lab.delete(f"{RULES}/0", digest=digest)
    lab.delete(f"{RULES}/0")
    assert lab.get(RULES) == []


def test_options_are_set_and_deleted(lab: MemoryClient) -> None:
    lab.put(f"{VM}/options", enable=1)
    options = lab.get(f"{VM}/options")
    assert options["enable"] == 1
    with pytest.raises(ApiError, match="detected modified configuration"):
        lab.put(f"{VM}/options", enable=0, digest="0" * 40)
    lab.put(f"{VM}/options", delete="enable", digest=options["digest"])
    options = lab.get(f"{VM}/options")
    assert list(options) == ["digest"]


@pytest.mark.parametrize(
    ("method", "path", "params", "message"),
    [
        ("GET", f"{RULES}/3", {}, "no rule at position 3"),
        ("POST", RULES, {"type": "in", "action": "NO"}, "unknown action 'NO'"),
        ("PUT", f"{VM}/options", {"delete": "wool"}, "no such option 'wool'"),
    ],
)
def test_invalid_requests_are_refused(
    lab: MemoryClient, method: str, path: str, params: dict[str, object], message: str
) -> None:
    with pytest.raises(ApiError) as refused:
        lab.call(method, path, **params)
    assert message in (refused.value.message, *refused.value.errors.values())


def test_rules_need_quorum(lab: MemoryClient) -> None:
    lab.world.faults.add(Fault(Point.QUORUM, Effect.FAIL, times=None))
    with pytest.raises(ApiError, match="cfs-lock 'firewall-vm-100' error: no quorum!"):
        lab.post(RULES, type="in", action="ACCEPT")
