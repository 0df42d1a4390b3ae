"""Whether nodes are what a pod selects, and whether it bears their taints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman_lab.kube.nodes.scheduling.picture import Place
from stockman_lab.kube.objects import Object, entries_of, part_of

REPELLING = frozenset({"NoSchedule", "NoExecute"})
_NODE_AFFINITY = "nodeAffinity"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def tolerates(tolerations: Iterable[Object], taint: Object) -> bool:
    """Whether one of the tolerations bears a taint."""
    return any(_bears(toleration, taint) for toleration in tolerations)


def _bears(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    value, wanted = taint.get("value", ""), toleration.get("value", "")
    match toleration.get("operator") or "Equal":
        case "Exists":
            return True
        case "Equal":
            return bool(toleration.get("key")) and value == wanted
        case "Lt" | "Gt" as how:
            return _compared(value, wanted, how)
    return False


def untolerated(place: Place, pod_spec: Object) -> Object | None:
    """The first taint of a node that keeps a pod away. None: there is none."""
    if not place.taints:
        return None
    tolerations = entries_of(pod_spec, "tolerations")
    for taint in place.taints:
        if taint.get("effect") in REPELLING and not tolerates(tolerations, taint):
            return taint
    return None


def selects_node(pod_spec: Object, place: Place) -> bool:
    """Whether the selector and the required affinity of a pod mean a node."""
    selector = pod_spec.get("nodeSelector") or {}
    if any(place.labels.get(name) != value for name, value in selector.items()):
        return False
    required = part_of(pod_spec, "affinity", _NODE_AFFINITY).get(_REQUIRED)
    if required is None:
        return True
    terms = entries_of(required, "nodeSelectorTerms")
    return any(matches_term(term, place) for term in terms)


def matches_term(term: Object, place: Place) -> bool:
    """Whether a term means a node; one that says nothing means none."""
    expressions, fields = (entries_of(term, name) for name in ("matchExpressions", "matchFields"))
    if not expressions and not fields:
        return False
    names = {"metadata.name": place.name}
    return all(_holds(expression, place.labels) for expression in expressions) and all(
        _holds(field, names) for field in fields
    )


def _holds(expression: Object, labels: Mapping[str, str]) -> bool:
    label = labels.get(expression.get("key", ""))
    values = expression.get("values") or []
    match expression.get("operator"):
        case "In":
            return label is not None and label in values
        case "NotIn":
            return label is None or label not in values
        case "Exists":
            return label is not None
        case "DoesNotExist":
            return label is None
        case "Gt" | "Lt" as how:
            return label is not None and bool(values) and _compared(label, values[0], how)
    return False


def _compared(found: str, wanted: str, how: str) -> bool:
    try:
        left, right = int(found), int(wanted)
    except ValueError:
        return False
    return left > right if how == "Gt" else left < right


def only_names(pod_spec: Object) -> set[str] | None:
    """Names of the only nodes that a pod can be on, as pods of DaemonSets say. None: any."""
    required = part_of(pod_spec, "affinity", _NODE_AFFINITY).get(_REQUIRED)
    terms = entries_of(required, "nodeSelectorTerms") if isinstance(required, dict) else []
    if not terms:
        return None
    found: set[str] = set()
    for term in terms:
        names: set[str] | None = None
        for entry in entries_of(term, "matchFields"):
            if entry.get("key") == "metadata.name" and entry.get("operator") == "In":
                values = set(entry.get("values") or [])
                names = values if names is None else names & values
        if names is None:
            return None
        found |= names
    return found
