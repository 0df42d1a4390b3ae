"""Documents of a machine configuration: as YAML with positions, and as plain values."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import pairwise

from stockman.config.source.tree import MappingNode, ScalarNode, TreeNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.pattern import pattern

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
"""Kinds that Talos refuses on workers, since 1.14."""


V1ALPHA1 = "v1alpha1"
"""Name of the document without `kind:`."""

_START = pattern(r"^---(?=\s|\Z)", re.MULTILINE)


def parse_documents(file: str, text: str) -> dict[str, list[MappingNode]]:
    """Return documents by kind, in their order; raises Unreadable for invalid YAML."""
    documents: dict[str, list[MappingNode]] = {}
    for section in _split_documents(text):
        document = read_yaml(file, section)
        if document.entries:
            kind = text_at(document, "kind")
            documents.setdefault(V1ALPHA1 if kind is None else kind.text, []).append(document)
    return documents


def node_at(node: TreeNode | None, path: str) -> TreeNode | None:
    """Return the node at a path of keys such as `machine.ca.crt`; None: there is none."""
    for key in path.split("."):
        if not isinstance(node, MappingNode):
            return None
        node = node.get(key)
    return node


def text_at(node: TreeNode | None, path: str) -> ScalarNode | None:
    """Return the text at a path of keys; None: it is missing or empty."""
    scalar = node_at(node, path)
    if not isinstance(scalar, ScalarNode) or scalar.is_null or not scalar.text:
        return None
    return scalar


def _split_documents(text: str) -> Iterator[str]:
    """Yield the documents, each prefixed by empty lines so that line numbers stay correct."""
    starts = [0, *(match.start() for match in _START.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        yield "\n" * text.count("\n", 0, start) + text[start:end]


Document = dict[str, object]
"""One document as plain values: mappings, lists and scalars."""


def as_mapping(value: object) -> Document:
    """Return a mapping; empty for other values."""
    return value if isinstance(value, dict) else {}


def as_mappings(value: object) -> list[Document]:
    """Return the mappings of a list; empty for other values."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_texts(value: object) -> list[str]:
    """Return the items of a list as texts; empty for other values."""
    return [str(item) for item in value] if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return a text; empty for other values."""
    return value if isinstance(value, str) else ""


def encode_base64(text: str) -> str:
    """Return a text in base64, as many formats of Talos store PEM."""
    return base64.b64encode(text.encode()).decode("ascii")
