"""Machines that come and go: the configuration of a worker, without what only that one has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.secret import Secret
from stockman.talos.go_yaml import dump
from stockman.talos.machine.facts import Document
from stockman.talos.patches.tree import Branch, plain

_OF_ONE = frozenset(
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
"""Documents that name one machine or its cards; without them Talos asks DHCP and the metadata."""
_ALSO_OF_ONE = ("hostname", "interfaces")
_TAINT: Document = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}
"""Keeps pods away until whoever made the machine knows it."""


def fleeting_configuration(trees: Iterable[Branch]) -> Secret:
    """The configuration of a worker as template of others; what looks like a placeholder is none.

    The result is a template of Go: double braces stand for themselves.
    """
    documents = [_tainted(one) for one in _shared(trees)]
    text = "---\n".join(dump(one) for one in documents)
    return Secret(text.replace("{{", '{{ "{{" }}'))


def _shared(trees: Iterable[Branch]) -> Iterator[Document]:
    for tree in trees:
        document = plain(tree)
        if not isinstance(document, dict) or document.get("kind") in _OF_ONE:
            continue
        machine = document.get("machine")
        if isinstance(machine, dict) and isinstance(machine.get("network"), dict):
            network = {
                key: value for key, value in machine["network"].items() if key not in _ALSO_OF_ONE
            }
            document = {**document, "machine": {**machine, "network": network}}
        yield document


def _tainted(document: Document) -> Document:
    if document.get("kind") == "KubeletConfig":
        return {**document, "config": _with_taint(document.get("config"))}
    machine = document.get("machine")
    if not isinstance(machine, dict) or not isinstance(machine.get("kubelet"), dict):
        return document
    kubelet = machine["kubelet"]
    settings = {**kubelet, "extraConfig": _with_taint(kubelet.get("extraConfig"))}
    return {**document, "machine": {**machine, "kubelet": settings}}


def _with_taint(settings: object) -> Document:
    known = settings if isinstance(settings, dict) else {}
    taints = known.get("registerWithTaints")
    return {**known, "registerWithTaints": [*(taints if isinstance(taints, list) else []), _TAINT]}
