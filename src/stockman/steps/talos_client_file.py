"""A file that clients of a cluster use, and what it is for."""

from __future__ import annotations

from stockman.model.record import record
from stockman.steps.secret_ref import SecretRef

TALOSCONFIG, KUBECONFIG = "talosconfig", "kubeconfig"


@record
class ClientFile:
    """The talosconfig or the kubeconfig of a cluster."""

    cluster: str
    file: str
    """`talosconfig` or `kubeconfig`."""
    place: SecretRef
    """Where it is: `private:kubeconfig`."""
    contract: str
    """Of Talos: which roles there are, `1.13`."""
    endpoints: tuple[str, ...]
    """Of the talosconfig: addresses of controllers."""
    nodes: tuple[str, ...]
    """Of the talosconfig: addresses that commands act on."""
    api: str
    """Of the kubeconfig: `https://10.42.0.10:6443`."""
