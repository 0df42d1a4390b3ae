"""Web proxy of a site: the variables of Talos, for programs that fetch charts and sources.

containerd uses the proxy and mirrors of Talos; Helm, Flux and its operator know neither.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from stockman.model.desired import Cluster, Desired

_PROXIES = ("http_proxy", "https_proxy")
_EXCEPTIONS = "no_proxy"


def proxy_variables(desired: Desired) -> dict[str, str]:
    """Return variables for the proxy of the control plane. Empty: there is none.

    A proxy with a password is left out: what is rendered here is not encrypted.
    """
    cluster = desired.cluster
    if cluster is None:
        return {}
    written = _written(desired)
    proxies = {
        name.upper(): url
        for name in _PROXIES
        if (url := written.get(name, "")) and not has_password(url)
    }
    if not proxies:
        return {}
    exceptions = [item for item in written.get(_EXCEPTIONS, "").split(",") if item.strip()]
    return {**proxies, "NO_PROXY": ",".join(dict.fromkeys((*exceptions, *_inside(cluster))))}


def has_hidden_proxy(desired: Desired) -> bool:
    """Return whether a proxy is left out because its address contains a password."""
    written = _written(desired)
    return any(has_password(written.get(name, "")) for name in _PROXIES)


def has_password(url: str) -> bool:
    """Return whether an address contains a user or a password."""
    return "@" in urlsplit(url if "://" in url else f"//{url}").netloc


def _written(desired: Desired) -> dict[str, str]:
    """Return the variables of the first controller, by name in lower case."""
    controllers = (node for node in desired.nodes if node.is_controller)
    first = next(controllers, None)
    environment = first.settings.environment if first is not None else {}
    return {name.lower(): value for name, value in environment.items()}


def _inside(cluster: Cluster) -> tuple[str, ...]:
    """Return what is reached without a proxy: everything inside of the cluster."""
    kubernetes = cluster.kubernetes
    return (
        "localhost",
        "127.0.0.1",
        ".svc",
        ".cluster.local",
        str(cluster.network.node_cidr),
        str(kubernetes.api_addr),
        str(kubernetes.pod_cidr),
        str(kubernetes.svc_cidr),
    )
