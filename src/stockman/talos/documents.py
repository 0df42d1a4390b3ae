"""Documents of a machine configuration that only controllers may have, since 1.14."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from stockman.config.source.tree import MappingNode, ScalarNode, TreeNode
from stockman.config.source.yaml_reader import read_yaml

CONTROLLER_KINDS = frozenset(
    f"Kube{name}Config"
    for name in (
        "AdmissionControl",
        "AggregatorCA",
        "APIServer",
        "AuditPolicy",
        "Authentication",
        "Authorizer",
        "ControllerManager",
        "CoreDNS",
        "EtcdEncryption",
        "FlannelCNI",
        "Proxy",
        "Scheduler",
        "ServiceAccount",
        "TalosAPIAccess",
    )
)
"""Kinds that Talos refuses on workers."""


V1ALPHA1 = "v1alpha1"
"""The name of the document that has no `kind:`."""

_START = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)


def parse_documents(file: str, text: str) -> dict[str, list[MappingNode]]:
    """Documents by kind, in the order written; `Unreadable` for what is no YAML."""
    found: dict[str, list[MappingNode]] = {}
    for part in _split_documents(text):
        document = read_yaml(file, part)
        if document.entries:
            kind = text_at(document, "kind")
            found.setdefault(V1ALPHA1 if kind is None else kind.text, []).append(document)
    return found


def node_at(node: TreeNode | None, path: str) -> TreeNode | None:
    """What stands at a path of keys, `machine.ca.crt`; None: nothing."""
    for key in path.split("."):
        if not isinstance(node, MappingNode):
            return None
        node = node.get(key)
    return node


def text_at(node: TreeNode | None, path: str) -> ScalarNode | None:
    """The text at a path of keys; None: nothing, or nothing in it."""
    found = node_at(node, path)
    if not isinstance(found, ScalarNode) or found.is_null or not found.text:
        return None
    return found


def _split_documents(text: str) -> Iterator[str]:
    """The documents, each below so many empty lines that its lines keep their numbers."""
    starts = [0, *(found.start() for found in _START.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        yield "\n" * text.count("\n", 0, start) + text[start:end]
