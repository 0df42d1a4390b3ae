"""Plans the rendering of repository files that differ or that new tokens go into."""

from __future__ import annotations

from stockman.model.desired import Desired
from stockman.model.record import record
from stockman.planning.change import Change, ChangeKind, ProxmoxChange
from stockman.steps.repository import WriteRenderedFiles
from stockman.steps.step import Stage, Step

RENDER_STEP = "access/render"


@record
class RenderInputs(Change):
    """Repository files that differ from the rendered ones."""

    @property
    def step_ids(self) -> tuple[str, ...]:
        return (RENDER_STEP,)


def plan_rendering(
    desired: Desired, unrendered: tuple[str, ...], proxmox: tuple[ProxmoxChange, ...]
) -> tuple[tuple[Change, Step], ...]:
    """Return the change and its step; empty if the files match and will still match."""
    if desired.cluster is None:
        return ()
    ids = [step.id for change in proxmox for step in change.steps]
    tokens = any(step_id.startswith("access/token/") for step_id in ids)
    if not unrendered and not tokens:
        return ()
    many = "1 file differs" if len(unrendered) == 1 else f"{len(unrendered)} files differ"
    why = f"{many} from the rendered content" if unrendered else ""
    if tokens:
        why = "; ".join(filter(None, (why, "tokens that this plan creates are written to secrets")))
    change = RenderInputs(
        what="rendered files of the repository", why=why, mark=ChangeKind.CHANGE, stage=Stage.ACCESS
    )
    step = Step(
        id=RENDER_STEP,
        action=WriteRenderedFiles(cluster=desired.cluster.name),
        stage=Stage.ACCESS,
        reason=why,
        needs=tuple(step_id for step_id in ids if step_id.startswith("access/ready/")),
        seconds=2.0,
    )
    return ((change, step),)
