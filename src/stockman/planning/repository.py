"""Files of the repository that a run renders: they differ, or tokens are made that go into them."""

from __future__ import annotations

from stockman.model.desired import Desired
from stockman.model.record import record
from stockman.planning.change import Change, ChangeKind, ProxmoxChange
from stockman.steps.repository import WriteRenderedFiles
from stockman.steps.step import Stage, Step

RENDER_STEP = "access/render"


@record
class RenderInputs(Change):
    """Files of the repository that are not as they would be rendered."""

    @property
    def made_by(self) -> tuple[str, ...]:
        return (RENDER_STEP,)


def plan_rendering(
    desired: Desired, unrendered: tuple[str, ...], proxmox: tuple[ProxmoxChange, ...]
) -> tuple[tuple[Change, Step], ...]:
    """The change and its step; none where files are as they should be and stay so."""
    if desired.cluster is None:
        return ()
    ids = [step.id for change in proxmox for step in change.steps]
    tokens = any(one.startswith("access/token/") for one in ids)
    if not unrendered and not tokens:
        return ()
    many = "1 file differs" if len(unrendered) == 1 else f"{len(unrendered)} files differ"
    why = f"{many} from what is rendered" if unrendered else ""
    if tokens:
        why = "; ".join(filter(None, (why, "tokens that this plan makes go into secrets")))
    change = RenderInputs(
        what="rendered files of the repository", why=why, mark=ChangeKind.CHANGE, stage=Stage.ACCESS
    )
    step = Step(
        id=RENDER_STEP,
        action=WriteRenderedFiles(cluster=desired.cluster.name),
        stage=Stage.ACCESS,
        reason=why,
        needs=tuple(one for one in ids if one.startswith("access/ready/")),
        seconds=2.0,
    )
    return ((change, step),)
