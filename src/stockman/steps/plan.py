"""Plans: immutable graphs of steps, computed from a desired and an observed state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from graphlib import CycleError, TopologicalSorter

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.steps import plan_problems as problems
from stockman.steps.digest import json_digest
from stockman.steps.serialization import InvalidValue, UnknownKind, from_json, to_json
from stockman.steps.step import Stage, Step


@record
class Plan:
    """The steps of a run; `build_plan` checks and orders them."""

    cluster: str
    made_at: datetime
    steps: tuple[Step, ...]
    """Ordered: every step comes after the steps that it needs."""
    desired: str = ""
    """Digest of the desired state."""
    files: str = ""
    """Digest of what the files say, without what runs store. Empty: they may change."""
    touched: Mapping[str, str] = field(default_factory=dict)
    """Digests of the observed objects that its actions change, by identity (`Action.touches`)."""
    lanes: Mapping[str, int] = field(default_factory=dict)
    """Maximum number of parallel steps by lane; 1 for other lanes."""
    ends_cluster: bool = False
    """Whether nothing of the cluster exists once all steps are done, as after `destroy`."""

    @property
    def is_empty(self) -> bool:
        return not self.steps

    @property
    def destroys(self) -> tuple[str, ...]:
        """Everything that is permanently lost."""
        return tuple(step.action.destroys for step in self.steps if step.action.destroys)

    @property
    def destroyed_guests(self) -> tuple[str, ...]:
        """Names of the guests that are deleted, or lose what they store."""
        return tuple(
            sorted({step.node for step in self.steps if step.action.destroys and step.node})
        )

    @property
    def touches(self) -> tuple[str, ...]:
        """All identities that its actions change, sorted."""
        return tuple(sorted({identity for step in self.steps for identity in step.action.touches}))

    def step(self, name: str) -> Step:
        """Return the step with an id; raises `Refused` if there is none."""
        for step in self.steps:
            if step.id == name:
                return step
        raise Refused(problems.unknown_step(name, [step.id for step in self.steps]))

    def only(self, stages: Iterable[Stage]) -> Plan:
        """Return the plan with the steps of some stages and everything that they need."""
        selected = set(stages)
        return self._with(step.id for step in self.steps if step.stage in selected)

    def for_nodes(self, nodes: Iterable[str], known: Iterable[str] = ()) -> Plan:
        """Return the plan with the steps of some nodes and everything that they need.

        Nodes in `known` need not have a step; raises `Refused` for other nodes without one.
        """
        selected = set(nodes)
        known = {*known, *(step.node for step in self.steps if step.node)}
        if strangers := sorted(selected - known):
            raise Refused(problems.unknown_node(strangers[0], sorted(known)))
        return self._with(step.id for step in self.steps if step.node in selected)

    def until(self, last: str) -> Plan:
        """Return the plan up to a step with everything that it needs, or up to a stage."""
        names = [stage.value for stage in Stage]
        if last in names:
            selected = set(names[: names.index(last) + 1])
            return self._with(step.id for step in self.steps if step.stage.value in selected)
        return self._with([self.step(last).id])

    def _with(self, ids: Iterable[str]) -> Plan:
        needs = {step.id: step.needs for step in self.steps}
        cleaners = {step.cleans_up: (step.id,) for step in self.steps if step.cleans_up}
        kept: set[str] = set()
        waiting = list(ids)
        while waiting:
            name = waiting.pop()
            if name not in kept:
                kept.add(name)
                waiting += [*needs[name], *cleaners.get(name, ())]
        steps = tuple(step for step in self.steps if step.id in kept)
        identities = {identity for step in steps for identity in step.action.touches}
        touched = {name: seen for name, seen in self.touched.items() if name in identities}
        return replace(self, steps=steps, touched=touched)


def build_plan(plan: Plan) -> Plan:
    """Return the plan with ordered steps; raises `Refused` for unknown needs and cycles."""
    by_id = {step.id: step for step in plan.steps}
    if len(by_id) != len(plan.steps):
        ids = [step.id for step in plan.steps]
        raise Refused(problems.duplicate_step(next(name for name in ids if ids.count(name) > 1)))
    for step in plan.steps:
        for need in step.needs:
            if need not in by_id:
                raise Refused(problems.unknown_need(step.id, need))
    position = {step.id: number for number, step in enumerate(plan.steps)}
    graph = TopologicalSorter({step.id: step.needs for step in plan.steps})
    ordered: list[Step] = []
    try:
        graph.prepare()
    except CycleError as circle:
        raise Refused(problems.dependency_cycle(circle.args[1])) from None
    ready = sorted(graph.get_ready(), key=position.__getitem__)
    while ready:
        name = ready.pop(0)
        ordered.append(by_id[name])
        graph.done(name)
        ready = sorted([*ready, *graph.get_ready()], key=position.__getitem__)
    return replace(plan, steps=tuple(ordered))


SCHEMA = "stockman.plan/1"


def plan_digest(plan: Plan) -> str:
    """Return a digest that is equal for equal plans."""
    return json_digest(to_json(plan))


PlanSignature = Callable[[str], Mapping[str, str]]
"""Returns the signature of a digest."""


def render_plan(plan: Plan, sign: PlanSignature | None = None) -> str:
    """Return a plan as JSON with its schema, digest and signature; ends with a newline."""
    return render_plan_with_digest(plan, sign)[0]


def render_plan_with_digest(plan: Plan, sign: PlanSignature | None = None) -> tuple[str, str]:
    """Return a plan as JSON, and its digest."""
    spelled = to_json(plan)
    digest = json_digest(spelled)
    content: dict[str, object] = {"schema": SCHEMA, "digest": digest}
    if sign is not None:
        content["signature"] = dict(sign(digest))
    content["plan"] = spelled
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n", digest


def parse_plan(text: str, file: str) -> Plan:
    """Parse a plan; raises `Refused` for invalid text.

    `file` is its name for problems.
    """
    return parse_plan_with_digest(text, file)[0]


def parse_plan_with_digest(text: str, file: str) -> tuple[Plan, str]:
    """Parse a plan, and return it with its verified digest."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise Refused(problems.invalid_plan(file, f"it is not JSON: {error}")) from None
    if not isinstance(content, dict) or "schema" not in content:
        raise Refused(problems.invalid_plan(file, "it has no key `schema`"))
    if content["schema"] != SCHEMA:
        raise Refused(problems.unknown_schema(file, content["schema"], SCHEMA))
    digest = json_digest(content.get("plan"))
    if digest != content.get("digest"):
        raise Refused(problems.plan_digest_mismatch(file))
    try:
        return build_plan(from_json(Plan, content["plan"], "plan")), digest
    except UnknownKind as error:
        raise Refused(problems.unknown_kind(file, error.kind)) from None
    except InvalidValue as error:
        raise Refused(problems.invalid_plan(file, str(error))) from None
