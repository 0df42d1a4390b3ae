"""Tables of services, of what is behind them and of what leads to them."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.printing import (
    NONE,
    UNSET,
    Cells,
    Object,
    at,
    cells_of,
    created,
    labels,
    listed,
    name_of,
    selector,
    shortened,
    text,
)

_MOST = 3
_DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"


@cells_of("v1/services")
def service_cells(service: Object, ages: Ages) -> Cells:
    """Name, type, addresses, ports, age, selector."""
    addresses = listed(service, "spec", "clusterIPs")
    return [
        name_of(service),
        text(service, "spec", "type"),
        addresses[0] if addresses else NONE,
        _outside(service),
        ",".join(_port(one) for one in listed(service, "spec", "ports")) or NONE,
        ages.since(created(service)),
        labels(at(service, "spec", "selector")),
    ]


def _port(port: Object) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port['port']}{node}/{port.get('protocol', 'TCP')}"


def _outside(service: Object) -> str:
    own = listed(service, "spec", "externalIPs")
    match text(service, "spec", "type"):
        case "ClusterIP" | "NodePort":
            return ",".join(own) or NONE
        case "LoadBalancer":
            return ",".join([*filter(None, [_balanced(service)]), *own]) or "<pending>"
        case "ExternalName":
            return text(service, "spec", "externalName")
    return "<unknown>"


def _balanced(content: Object) -> str:
    found = listed(content, "status", "loadBalancer", "ingress")
    return ",".join(sorted({one.get("ip") or one.get("hostname") or "" for one in found} - {""}))


@cells_of("v1/endpoints")
def endpoints_cells(content: Object, ages: Ages) -> Cells:
    """Name, addresses with ports, age."""
    found = NONE
    if listed(content, "subsets"):
        found = shortened(_reached(content), _MOST)
    return [name_of(content), found, ages.since(created(content))]


def _reached(content: Object) -> Iterator[str]:
    for subset in listed(content, "subsets"):
        for port in listed(subset, "ports") or [None]:
            for one in listed(subset, "addresses"):
                address = one["ip"]
                if port is None:
                    yield address
                else:
                    bare = f"[{address}]" if ":" in address else address
                    yield f"{bare}:{port['port']}"


@cells_of("discovery.k8s.io/v1/endpointslices")
def endpoint_slice_cells(content: Object, ages: Ages) -> Cells:
    """Name, kind of addresses, ports, addresses, age."""
    ports = (_slice_port(one) for one in listed(content, "ports"))
    addresses = (
        address for one in listed(content, "endpoints") for address in listed(one, "addresses")
    )
    return [
        name_of(content),
        text(content, "addressType"),
        shortened(ports, _MOST) or UNSET,
        shortened(addresses, _MOST) or UNSET,
        ages.since(created(content)),
    ]


def _slice_port(port: Object) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    return "*" if port.get("name") is None else str(port["name"])


@cells_of("networking.k8s.io/v1/ingresses")
def ingress_cells(content: Object, ages: Ages) -> Cells:
    """Name, class, hosts, address, ports, age."""
    return [
        name_of(content),
        text(content, "spec", "ingressClassName", default=NONE),
        _hosts(content),
        _balanced(content),
        "80, 443" if listed(content, "spec", "tls") else "80",
        ages.since(created(content)),
    ]


def _hosts(content: Object) -> str:
    rules = listed(content, "spec", "rules")
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == _MOST:
            return f"{','.join(hosts)} + {len(rules) - _MOST} more..."
        if rule.get("host"):
            hosts.append(rule["host"])
    return ",".join(hosts) or "*"


@cells_of("networking.k8s.io/v1/ingressclasses")
def ingress_class_cells(content: Object, ages: Ages) -> Cells:
    """Name, controller, parameters, age."""
    name = name_of(content)
    if at(content, "metadata", "annotations", _DEFAULT_CLASS) == "true":
        name += " (default)"
    given = at(content, "spec", "parameters")
    parameters = NONE
    if given is not None:
        group = f".{given['apiGroup']}" if given.get("apiGroup") is not None else ""
        parameters = f"{given['kind']}{group}/{given['name']}"
    age = ages.since(created(content))
    return [name, text(content, "spec", "controller"), parameters, age]


@cells_of("networking.k8s.io/v1/networkpolicies")
def network_policy_cells(content: Object, ages: Ages) -> Cells:
    """Name, pods, age."""
    age = ages.since(created(content))
    return [name_of(content), selector(at(content, "spec", "podSelector")), age]


@cells_of("networking.k8s.io/v1/servicecidrs")
def service_network_cells(content: Object, ages: Ages) -> Cells:
    """Name, networks, age."""
    networks = ",".join(listed(content, "spec", "cidrs"))
    return [name_of(content), networks, ages.since(created(content))]


@cells_of("networking.k8s.io/v1/ipaddresses")
def address_cells(content: Object, ages: Ages) -> Cells:
    """Name, whose it is, age."""
    found = at(content, "spec", "parentRef")
    owner = NONE
    if found is not None:
        words = (text(found, "resource"), text(found, "group"))
        places = (".".join(filter(None, words)).lower(), text(found, "namespace"))
        owner = "/".join([*filter(None, places), text(found, "name")])
    return [name_of(content), owner, ages.since(created(content))]
