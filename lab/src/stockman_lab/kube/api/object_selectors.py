"""Selectors as objects hold them."""

from __future__ import annotations

from stockman_lab.kube.objects import Tree


def selects(selector: Tree, labels: Tree) -> bool:
    """Whether a selector of an object means these labels; none means nothing, an empty one all."""
    if not isinstance(selector, dict):
        return False
    result = labels if isinstance(labels, dict) else {}
    match_labels = selector.get("matchLabels") or {}
    if any(result.get(name) != match_label for name, match_label in match_labels.items()):
        return False
    return all(
        _holds(match_expression, result)
        for match_expression in selector.get("matchExpressions") or []
    )


def _holds(expression: Tree, labels: Tree) -> bool:
    label, values = labels.get(expression["key"]), expression.get("values") or []
    match expression["operator"]:
        case "In":
            return label in values
        case "NotIn":
            return label not in values
        case "Exists":
            return label is not None
    return label is None
