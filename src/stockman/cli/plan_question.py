"""The question before a plan is carried out: it names what is lost for good."""

from __future__ import annotations

from stockman.cli.paint import visible
from stockman.steps.plan import Plan


def destroy_question(plan: Plan) -> str:
    """What the user is asked; everything that is destroyed is in it, each on a line of its own."""
    steps = f"{len(plan.steps)} step{'' if len(plan.steps) == 1 else 's'}"
    go_on = f"carry out {steps} on cluster {visible(plan.cluster)}?"
    lost = [visible(one) for one in dict.fromkeys(plan.destroys)]
    match lost:
        case []:
            return go_on
        case [one]:
            return f"this destroys {one}, for good; {go_on}"
    return "\n".join(["this destroys for good:", *(f"  - {one}" for one in lost), go_on])
