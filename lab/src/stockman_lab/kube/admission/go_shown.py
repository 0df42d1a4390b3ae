"""Objects as the server's own structs show them in messages."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree


def shown_selector(selector: Tree) -> Object | None:
    """A label selector."""
    if not isinstance(selector, dict):
        return None
    return {
        name: selector[name] for name in ("matchLabels", "matchExpressions") if name in selector
    }


def shown_budget(spec: Object) -> Object:
    """The inside of a disruption budget."""
    return {
        "MinAvailable": spec.get("minAvailable"),
        "Selector": shown_selector(spec.get("selector")),
        "MaxUnavailable": spec.get("maxUnavailable"),
        "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
    }


def shown_port(port: Object) -> Object:
    """A port of a service, of which only what tells it apart is shown."""
    return {
        "Name": "",
        "Protocol": port.get("protocol", ""),
        "AppProtocol": None,
        "Port": port.get("port", 0),
        "TargetPort": 0,
        "NodePort": 0,
    }
