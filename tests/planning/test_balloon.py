"""Changes of memory ballooning that stay pending while a VM runs."""

from __future__ import annotations

import pytest

from tests.planning.estate import Estate


@pytest.mark.parametrize(
    ("before", "after", "steps"),
    [
        (0, 2048, ["vms/configure/talos-trinity", "vms/restart/talos-trinity"]),
        (2048, 0, ["vms/configure/talos-trinity", "vms/restart/talos-trinity"]),
        (2048, 4096, ["vms/configure/talos-trinity"]),
    ],
)
async def test_a_vm_gets_or_loses_its_balloon_at_a_restart(
    estate: Estate, before: int, after: int, steps: list[str]
) -> None:
    estate.edit("nodes.yaml", r"vmid: 1030, ", f"vmid: 1030, balloon: {before}, ")
    await estate.apply()
    estate.edit("nodes.yaml", rf"balloon: {before}, ", f"balloon: {after}, ")

    outcome = await estate.apply()

    assert [step.id for step in outcome.plan.steps] == steps
    assert (await estate.plan()).changes == ()
