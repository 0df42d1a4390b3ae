"""The plan that ends a cluster."""

from __future__ import annotations

from dataclasses import replace

from stockman.app.session import Session
from stockman.model.problem import Problems
from stockman.planning import proxmox_plan
from stockman.planning.destruction import Extent, destruction
from stockman.planning.planned import Planned
from stockman.planning.proxmox_change import lanes
from stockman.planning.proxmox_change import steps as steps_of
from stockman.steps.digest import digest
from stockman.steps.plan import Plan, planned


async def destruction_plan(session: Session, extent: Extent) -> Planned:
    """Everything that goes, by identity; machines are not asked: they go with their VMs."""
    desired, problems = session.workspace.desired, Problems()
    seen = await session.planner.observe_proxmox(session.ports)
    changes = destruction(desired, seen.proxmox, problems, extent)
    made = steps_of(changes)
    plan = Plan(
        cluster=session.workspace.cluster_name,
        made_at=session.ports.clock.now(),
        steps=made,
        desired=digest(desired),
        lanes=lanes(made),
    )
    touched = proxmox_plan.touched(seen.proxmox, plan.touches)
    whole = planned(replace(plan, touched=touched))
    return Planned(changes=changes, plan=whole, problems=problems, observed=seen)
