"""Configuration template for autoscaled workers: a worker without settings of one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.secret import Secret
from stockman.talos.go_yaml import dump
from stockman.talos.machine.inputs import Document
from stockman.talos.patches.tree import Branch, plain_value

_NODE_DOCUMENTS = frozenset(
    {
        "BondConfig",
        "DHCPv4Config",
        "HostnameConfig",
        "Layer2VIPConfig",
        "LinkAliasConfig",
        "LinkConfig",
        "VLANConfig",
    }
)
"""Documents of a single machine; without them Talos uses DHCP and metadata."""
_NODE_NETWORK_FIELDS = ("hostname", "interfaces")
_TAINT: Document = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}
"""Keeps pods away until the autoscaler has registered the node."""


def render_worker_template(trees: Iterable[Branch]) -> Secret:
    """Return the configuration of a worker as a Go template without placeholders.

    Double braces are escaped.
    """
    documents = [_add_taint(document) for document in _common_documents(trees)]
    text = "---\n".join(dump(document) for document in documents)
    return Secret(text.replace("{{", '{{ "{{" }}'))


def _common_documents(trees: Iterable[Branch]) -> Iterator[Document]:
    for tree in trees:
        document = plain_value(tree)
        if not isinstance(document, dict) or document.get("kind") in _NODE_DOCUMENTS:
            continue
        machine = document.get("machine")
        if isinstance(machine, dict) and isinstance(machine.get("network"), dict):
            network = {
                key: value
                for key, value in machine["network"].items()
                if key not in _NODE_NETWORK_FIELDS
            }
            document = {**document, "machine": {**machine, "network": network}}
        yield document


def _add_taint(document: Document) -> Document:
    if document.get("kind") == "KubeletConfig":
        return {**document, "config": _taint_settings(document.get("config"))}
    machine = document.get("machine")
    if not isinstance(machine, dict) or not isinstance(machine.get("kubelet"), dict):
        return document
    kubelet = machine["kubelet"]
    settings = {**kubelet, "extraConfig": _taint_settings(kubelet.get("extraConfig"))}
    return {**document, "machine": {**machine, "kubelet": settings}}


def _taint_settings(settings: object) -> Document:
    fields = settings if isinstance(settings, dict) else {}
    taints = fields.get("registerWithTaints")
    return {**fields, "registerWithTaints": [*(taints if isinstance(taints, list) else []), _TAINT]}
