"""Options and rules of the firewall of a machine."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient

from lab.tests.guests import put_guest
from lab.tests.worlds import door

VM = "/nodes/pve1/qemu/100/firewall"
RULES = f"{VM}/rules"


@pytest.fixture
def lab() -> MemoryClient:
    lab = door()
    put_guest(lab, 100)
    return lab


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
