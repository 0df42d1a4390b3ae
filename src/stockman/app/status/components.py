"""Components: whether each does what it is for."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.status import cluster_problems as say
from stockman.app.status.finding import Check, Finding, Item, Part, off, part, unknown
from stockman.app.status.health import Health
from stockman.app.status.kubernetes import api_silent
from stockman.app.status.seen import Seen
from stockman.planning.kube_wish import FOLLOWED
from stockman.planning.observed_kubernetes import ObservedKubernetes


def judged_components(seen: Seen) -> Part:
    """Every component that is on, by the conditions of the catalog."""
    if seen.desired.cluster is None or seen.wish is None:
        return off(Check.COMPONENTS, "no cluster is configured")
    names = [one for one in seen.wish.conditions if one != FOLLOWED]
    kubernetes = seen.kubernetes
    if kubernetes is None:
        text = "not known: the API does not answer"
        items = [Item(name=one, health=Health.UNKNOWN, seen="not known") for one in names]
        return part(Check.COMPONENTS, text, [api_silent(seen)], items, Health.UNKNOWN)
    items = [_item(kubernetes, one) for one in names]
    good = sum(one.health is Health.OK for one in items)
    findings = [finding for name in names for finding in _findings(kubernetes, name)]
    return part(Check.COMPONENTS, f"{good} of {len(names)} work", findings, items)


def _item(kubernetes: ObservedKubernetes, name: str) -> Item:
    found = kubernetes.working.get(name)
    if found is None:
        return Item(name=name, health=Health.UNKNOWN, seen="not known")
    missing = [one for one in found if not one.holds]
    told = "; ".join(f"{one.condition.says} ({one.seen})" for one in missing)
    return Item(
        name=name,
        health=Health.ERROR if missing else Health.OK,
        seen=f"not yet: {told}" if missing else "works",
    )


def _findings(kubernetes: ObservedKubernetes, name: str) -> Iterator[Finding]:
    found = kubernetes.working.get(name)
    if found is None:
        why = "what it consists of could not be read"
        yield unknown(f"component {name}", why, "look again with `stockman status`")
        return
    for one in found:
        if not one.holds:
            problem = say.component(name, one.condition.says, one.seen)
            yield Finding(subject=name, problem=problem)
            return
