"""Plans: a frozen graph of steps, made from one desired and one observed state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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
    """What a run is going to do. Made by `planned`, which checks it."""

    cluster: str
    made_at: datetime
    steps: tuple[Step, ...]
    """In an order in which every step comes after those it needs."""
    desired: str = ""
    """Digest of the desired state that it was made for."""
    touched: Mapping[str, str] = field(default_factory=dict)
    """Digests of what its actions touch, as it was seen, by identity (see `Action.touches`)."""
    lanes: Mapping[str, int] = field(default_factory=dict)
    """How many steps may be on a lane at once, by its name; one where it is not here."""

    @property
    def is_empty(self) -> bool:
        return not self.steps

    @property
    def destroys(self) -> tuple[str, ...]:
        """Everything that is lost for good, in plain words."""
        return tuple(step.action.destroys for step in self.steps if step.action.destroys)

    @property
    def touches(self) -> tuple[str, ...]:
        """Every identity that its actions touch, once, sorted."""
        return tuple(sorted({identity for step in self.steps for identity in step.action.touches}))

    def step(self, name: str) -> Step:
        """The step of this id; `Refused` where there is none."""
        for step in self.steps:
            if step.id == name:
                return step
        raise Refused(problems.unknown_step(name, [step.id for step in self.steps]))

    def only(self, stages: Iterable[Stage]) -> Plan:
        """The steps of these stages and everything that they need."""
        selected = set(stages)
        return self._with(step.id for step in self.steps if step.stage in selected)

    def for_nodes(self, nodes: Iterable[str], known: Iterable[str] = ()) -> Plan:
        """The steps about these nodes and everything that they need.

        Those that are `known` need not have a step; `Refused` for others that have none.
        """
        selected = set(nodes)
        known = {*known, *(step.node for step in self.steps if step.node)}
        if strangers := sorted(selected - known):
            raise Refused(problems.unknown_node(strangers[0], sorted(known)))
        return self._with(step.id for step in self.steps if step.node in selected)

    def until(self, last: str) -> Plan:
        """A step by id and what it needs, or all stages up to the one of this name."""
        names = [stage.value for stage in Stage]
        if last in names:
            selected = set(names[: names.index(last) + 1])
            return self._with(step.id for step in self.steps if step.stage.value in selected)
        return self._with([self.step(last).id])

    def _with(self, ids: Iterable[str]) -> Plan:
        needs = {step.id: step.needs for step in self.steps}
        kept: set[str] = set()
        waiting = list(ids)
        while waiting:
            name = waiting.pop()
            if name not in kept:
                kept.add(name)
                waiting += needs[name]
        steps = tuple(step for step in self.steps if step.id in kept)
        identities = {identity for step in steps for identity in step.action.touches}
        touched = {name: seen for name, seen in self.touched.items() if name in identities}
        return replace(self, steps=steps, touched=touched)


def build_plan(plan: Plan) -> Plan:
    """The plan with its steps in order; `Refused` where its needs are unknown or form a circle."""
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
    """Says whether two plans are the same."""
    return json_digest(to_json(plan))


def render_plan(plan: Plan) -> str:
    """A plan as JSON with its schema and digest; ends with a new line."""
    return render_plan_with_digest(plan)[0]


def render_plan_with_digest(plan: Plan) -> tuple[str, str]:
    """The same, and the digest alone."""
    spelled = to_json(plan)
    digest = json_digest(spelled)
    content = {"schema": SCHEMA, "digest": digest, "plan": spelled}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n", digest


def parse_plan(text: str, file: str) -> Plan:
    """The plan that a text spells; `Refused` with what is wrong about it.

    `place` is the name of the file, for problems.
    """
    return parse_plan_with_digest(text, file)[0]


def parse_plan_with_digest(text: str, file: str) -> tuple[Plan, str]:
    """The same, and its digest, which was compared with what the text says."""
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
