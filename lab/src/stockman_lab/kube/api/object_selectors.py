"""Selectors as objects hold them."""

from __future__ import annotations

from stockman_lab.kube.objects import Tree


def selects(selector: Tree, labels: Tree) -> bool:
    """Whether a selector of an object means these labels; none means nothing, an empty one all."""
    if not isinstance(selector, dict):
        return False
    found = labels if isinstance(labels, dict) else {}
    wanted = selector.get("matchLabels") or {}
    if any(found.get(name) != one for name, one in wanted.items()):
        return False
    return all(_holds(one, found) for one in selector.get("matchExpressions") or [])


def _holds(expression: Tree, labels: Tree) -> bool:
    found, values = labels.get(expression["key"]), expression.get("values") or []
    match expression["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
    return found is None
