"""Whether rules of high availability can all hold at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.ha.placement import node_priorities


def problems_of(rule: Section, rules: Mapping[str, Section], hosts: int) -> dict[str, str]:
    """What is wrong with one rule among others, by its option."""
    if rule.options.get("disable", "0") == "1":
        return {}
    others = [
        one
        for one in rules.values()
        if one.id != rule.id and one.options.get("disable", "0") != "1"
    ]
    nodes = list(
        _of_nodes(rule, others) if rule.type == "node-affinity" else _of_resources(rule, others)
    )
    if _is(rule, "negative") and len(resources_of(rule)) > hosts:
        nodes.append("rule defines more resources than available nodes")
    return {"resources": ", ".join(nodes)} if nodes else {}


def resources_of(rule: Section) -> list[str]:
    """The resources of a rule, sorted."""
    return rule.options["resources"].split(",")


def _of_nodes(rule: Section, others: list[Section]) -> Iterator[str]:
    mine = set(resources_of(rule))
    for other in others:
        if other.type == "node-affinity":
            for sid in sorted(mine & set(resources_of(other))):
                yield f"resource '{sid}' is already used in another node affinity rule"
    affine = (one for one in others if one.type == "resource-affinity")
    if _has_several_priorities(rule) and any(mine & set(resources_of(one)) for one in affine):
        yield (
            "resources are in a resource affinity rule and cannot be in a node affinity rule"
            " with multiple priorities"
        )


def _of_resources(rule: Section, others: list[Section]) -> Iterator[str]:
    mine = set(resources_of(rule))
    if len(mine) < 2:  # a pair
        yield "rule is ineffective as there are less than two resources"
    opposite = "positive" if _is(rule, "negative") else "negative"
    for other in others:
        shared = mine & set(resources_of(other))
        if _is(other, opposite) and len(shared) > 1:
            yield f"rule shares two or more resources with a {opposite} resource affinity rule"
        if other.type == "node-affinity" and shared and _has_several_priorities(other):
            yield "resources are in node affinity rules with multiple priorities"


def _is(rule: Section, affinity: str) -> bool:
    return rule.type == "resource-affinity" and rule.options.get("affinity") == affinity


def _has_several_priorities(rule: Section) -> bool:
    return len(set(node_priorities(rule.options["nodes"]).values())) > 1
