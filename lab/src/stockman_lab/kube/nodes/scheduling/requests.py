"""What pods ask for and what nodes have, in whole numbers: thousandths of cores, bytes, pieces."""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.kube.objects import Object, Tree, entries_of, part_of
from stockman_lab.kube.schema.quantity import amount

Amounts = dict[str, int]
CPU, MEMORY, PODS = "cpu", "memory", "pods"
_LEAST_CPU, _LEAST_MEMORY = 100, 200 << 20
"""What a container counts for that asks for nothing, where nodes are compared."""


def amounts(resources: Mapping[str, Tree]) -> Amounts:
    """Quantities as whole numbers, rounded up."""
    return {name: whole(name, value) for name, value in resources.items()}


def whole(name: str, value: Tree) -> int:
    """A quantity as a whole number, rounded up."""
    much = amount(value) * (1000 if name == CPU else 1)
    return -(-much.numerator // much.denominator)


def requests(pod: Object) -> Amounts:
    """What a pod needs on its node."""
    return _sum_requests(pod, {})


def believed_requests(pod: Object) -> Amounts:
    """What a pod is believed to need where it does not say so."""
    return _sum_requests(pod, {CPU: _LEAST_CPU, MEMORY: _LEAST_MEMORY})


def _sum_requests(pod: Object, least: Amounts) -> Amounts:
    spec = part_of(pod, "spec")
    total: Amounts = {}
    for container in entries_of(spec, "containers"):
        _add(total, _container_requests(container, least))
    beside: Amounts = {}
    highest: Amounts = {}
    for container in entries_of(spec, "initContainers"):
        requested = _container_requests(container, least)
        if container.get("restartPolicy") == "Always":
            _add(total, requested)
            _add(beside, requested)
            requested = dict(beside)
        else:
            _add(requested, beside)
        _raise(highest, requested)
    _raise(total, highest)
    whole_pod = amounts(part_of(spec, "resources", "requests"))
    total.update(whole_pod)
    _add(total, amounts(part_of(spec, "overhead")))
    return total


def _container_requests(container: Object, least: Amounts) -> Amounts:
    return {**least, **amounts(part_of(container, "resources", "requests"))}


def _add(total: Amounts, more: Amounts) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _raise(total: Amounts, other: Amounts) -> None:
    for name, value in other.items():
        total[name] = max(total.get(name, 0), value)
