"""Tags that the datacenter does not allow are reported before anything is changed."""

from __future__ import annotations

import pytest

from tests.planning.estate import Estate


async def tagged(options: dict[str, str]) -> Estate:
    """Machines of which one gets another tag, while the datacenter restricts tags."""
    estate = Estate("three-node")
    await estate.apply()
    estate.pve.call("PUT", "/cluster/options", **options)
    estate.edit("nodes.yaml", r"vmid: 1030, ", "vmid: 1030, tags: [prod], ")
    return estate


@pytest.mark.parametrize(
    "options",
    [{"user-tag-access": "user-allow=none"}, {"registered-tags": "prod"}],
    ids=["none allowed", "registered"],
)
async def test_a_tag_that_proxmox_refuses_is_an_error_of_the_plan(options: dict[str, str]) -> None:
    outcome = await (await tagged(options)).plan()

    assert "vm.tag-not-allowed" in outcome.codes
    assert "tag prod" in next(p for p in outcome.problems if p.code == "vm.tag-not-allowed").what


async def test_tags_that_guests_have_and_tags_of_an_open_datacenter_are_no_problem() -> None:
    outcome = await (await tagged({"registered-tags": "other"})).plan()

    assert outcome.codes == []
    assert [step.id for step in outcome.plan.steps] == ["vms/configure/talos-trinity"]
