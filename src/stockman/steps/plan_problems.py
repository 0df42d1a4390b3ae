"""Problems of plans and of saved plans."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import Problem


def duplicate_step(step: str) -> Problem:
    return Problem(
        code="plan.step-twice",
        what=f"two steps of the plan are called {step}",
        where=step,
        why="dependencies and the journal refer to steps by id, so ids are unique",
        fix="plan again with `stockman plan --out FILE`",
    )


def unknown_need(step: str, need: str) -> Problem:
    return Problem(
        code="plan.unknown-need",
        what=f"step {step} needs a step that is not in the plan",
        where=step,
        why=f"there is no step {need}",
        fix="plan again with `stockman plan --out FILE`",
    )


def dependency_cycle(steps: Sequence[str]) -> Problem:
    return Problem(
        code="plan.circle",
        what="steps of the plan wait for each other",
        where=steps[0],
        why=" needs ".join(reversed(steps)),
        fix="plan again with `stockman plan --out FILE`",
    )


def unconfirmed_destruction(names: Sequence[str]) -> Problem:
    every = ", ".join(names)
    options = " ".join(f"--allow-destroy {name}" for name in names)
    return Problem(
        code="plan.destroys",
        what=f"the plan destroys {every}",
        where=every,
        why="--yes does not cover the destruction of guests; each of them has to be named",
        fix=f"if this is intended, run `stockman apply --yes {options}`; otherwise correct the"
        " files. `stockman destroy` deletes the whole cluster",
    )


def unknown_step(step: str, known: Sequence[str]) -> Problem:
    return Problem(
        code="plan.no-such-step",
        what=f"the plan has no step {step}",
        where=step,
        why=f"its steps are {_list_some(known)}" if known else "it has no steps at all",
        fix="name one of its steps, or a stage (access, images, vms, talos, kubernetes)",
    )


def unknown_node(node: str, known: Sequence[str]) -> Problem:
    return Problem(
        code="plan.no-such-node",
        what=f"there is no node {node}",
        where=node,
        why=f"there are {_list_some(known)}" if known else "the configuration has none",
        fix="name one of these nodes, or give the address of one",
    )


def invalid_plan(file: str, why: str) -> Problem:
    return Problem(
        code="plan.unreadable",
        what="the file is not a plan",
        where=file,
        why=why,
        fix="plan again with `stockman plan --out FILE`",
    )


def unknown_schema(file: str, schema: object, known: str) -> Problem:
    return Problem(
        code="plan.schema",
        what="the plan was written by another version of stockman",
        where=file,
        why=f"its schema is {schema!r}, and this version reads {known!r}",
        fix="plan again with `stockman plan --out FILE`",
    )


def unknown_kind(file: str, kind: object) -> Problem:
    return Problem(
        code="plan.kind",
        what="the plan contains a step that this version of stockman does not support",
        where=file,
        why=f"there is no action, gate or hold of the kind {kind!r}",
        fix="apply it with the version that wrote it, or plan again",
    )


def plan_digest_mismatch(file: str) -> Problem:
    return Problem(
        code="plan.damaged",
        what="the plan was changed after it was made",
        where=file,
        why="the digest in the file is not that of its content",
        fix="plan again with `stockman plan --out FILE`; plans are not edited",
    )


def _list_some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
