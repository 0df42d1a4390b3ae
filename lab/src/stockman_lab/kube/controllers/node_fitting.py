"""Whether a node is one on which a pod of a daemon set belongs."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_EXECUTE, _SCHEDULE = "NoExecute", "NoSchedule"
DAEMON_TOLERATIONS: tuple[Object, ...] = (
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": _EXECUTE},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": _EXECUTE},
    {"key": "node.kubernetes.io/disk-pressure", "operator": "Exists", "effect": _SCHEDULE},
    {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": _SCHEDULE},
    {"key": "node.kubernetes.io/pid-pressure", "operator": "Exists", "effect": _SCHEDULE},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": _SCHEDULE},
)
_HOST_NETWORK: Object = {
    "key": "node.kubernetes.io/network-unavailable",
    "operator": "Exists",
    "effect": _SCHEDULE,
}


def daemon_tolerations(spec: Object) -> list[Object]:
    """What pods of daemon sets tolerate beyond what their template says."""
    result = list(DAEMON_TOLERATIONS)
    return [*result, _HOST_NETWORK] if spec.get("hostNetwork") else result


def tolerates(toleration: Object, taint: Object) -> bool:
    """Whether a toleration means a taint."""
    effect = toleration.get("effect")
    if effect and effect != taint.get("effect"):
        return False
    key, operator = toleration.get("key", ""), toleration.get("operator") or "Equal"
    if key and key != taint.get("key"):
        return False
    if operator == "Exists":
        return True
    return bool(key) and toleration.get("value", "") == taint.get("value", "")


def untolerated(spec: Object, node: Object, effects: frozenset[str]) -> bool:
    """Whether a node has a taint that a pod does not tolerate."""
    tolerations = [*entries_of(spec, "tolerations"), *daemon_tolerations(spec)]
    return any(
        taint.get("effect") in effects
        and not any(tolerates(toleration, taint) for toleration in tolerations)
        for taint in entries_of(node, "spec", "taints")
    )


def should_run(spec: Object, node: Object) -> tuple[bool, bool]:
    """Whether a pod of a daemon set belongs on a node, and whether one there may stay."""
    if not selects_node(spec, node):
        return False, False
    both = frozenset({_EXECUTE, _SCHEDULE})
    stays = not untolerated(spec, node, frozenset({_EXECUTE}))
    return not untolerated(spec, node, both), stays


def selects_node(spec: Object, node: Object) -> bool:
    """Whether the node name, the selector and the required affinity of a pod mean a node."""
    labels = metadata_of(node).get("labels") or {}
    name = metadata_of(node)["name"]
    if spec.get("nodeName") and spec["nodeName"] != name:
        return False
    if any(labels.get(key) != one for key, one in (spec.get("nodeSelector") or {}).items()):
        return False
    required = part_of(
        spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms = entries_of(required, "nodeSelectorTerms")
    return not terms or any(matches_term(term, labels, name) for term in terms)


def matches_term(term: Object, labels: Object, name: str) -> bool:
    """Whether a node fits all parts of a term of an affinity."""
    expressions, fields = entries_of(term, "matchExpressions"), entries_of(term, "matchFields")
    if not expressions and not fields:
        return False
    return all(_holds(expression, labels) for expression in expressions) and all(
        _holds(field, {"metadata.name": name}) for field in fields
    )


def _holds(content: Object, labels: Object) -> bool:
    label, values = labels.get(content["key"]), content.get("values") or []
    match content["operator"]:
        case "In":
            return label in values
        case "NotIn":
            return label not in values
        case "Exists":
            return label is not None
        case "DoesNotExist":
            return label is None
    if label is None or not str(label).lstrip("-").isdigit() or not values:
        return False
    return (
        int(label) > int(values[0]) if content["operator"] == "Gt" else int(label) < int(values[0])
    )
