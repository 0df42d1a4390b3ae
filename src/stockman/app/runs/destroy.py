"""Plan the destruction of a cluster."""

from __future__ import annotations

from dataclasses import replace

from stockman.app.runs.session import Session
from stockman.model.problem import Problems
from stockman.planning.change import lane_widths
from stockman.planning.change import unique_steps as steps_of
from stockman.planning.destruction import DestructionScope
from stockman.planning.destruction import plan_destruction as destruction
from stockman.planning.planned import Planned
from stockman.planning.stages.proxmox import digest_touched_guests
from stockman.steps.digest import digest
from stockman.steps.plan import Plan, build_plan


async def plan_destruction(session: Session, extent: DestructionScope) -> Planned:
    """Plan to delete everything by identity; machines are not contacted, they go with their VMs."""
    desired, problems = session.workspace.desired, Problems()
    observed = await session.planner.observe_proxmox(session.ports)
    changes = destruction(desired, observed.proxmox, problems, extent)
    steps = steps_of(changes)
    plan = Plan(
        cluster=session.workspace.cluster_name,
        made_at=session.ports.clock.now(),
        steps=steps,
        desired=digest(desired),
        lanes=lane_widths(steps),
    )
    touched = digest_touched_guests(observed.proxmox, plan.touches)
    complete = build_plan(replace(plan, touched=touched))
    return Planned(changes=changes, plan=complete, problems=problems, observed=observed)
