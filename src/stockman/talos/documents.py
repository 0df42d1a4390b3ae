"""A machine configuration as its documents, each with its place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from stockman.config.source.tree import Mapping, Node, Scalar
from stockman.config.source.yaml_reader import read_yaml

V1ALPHA1 = "v1alpha1"
"""The name of the document that has no `kind:`."""

_START = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)


def documents(file: str, text: str) -> dict[str, list[Mapping]]:
    """Documents by kind, in the order written; `Unreadable` for what is no YAML."""
    found: dict[str, list[Mapping]] = {}
    for part in _parts(text):
        document = read_yaml(file, part)
        if document.entries:
            kind = text_at(document, "kind")
            found.setdefault(V1ALPHA1 if kind is None else kind.text, []).append(document)
    return found


def at(node: Node | None, path: str) -> Node | None:
    """What stands at a path of keys, `machine.ca.crt`; None: nothing."""
    for key in path.split("."):
        if not isinstance(node, Mapping):
            return None
        node = node.get(key)
    return node


def text_at(node: Node | None, path: str) -> Scalar | None:
    """The text at a path of keys; None: nothing, or nothing in it."""
    found = at(node, path)
    if not isinstance(found, Scalar) or found.is_null or not found.text:
        return None
    return found


def _parts(text: str) -> Iterator[str]:
    """The documents, each below so many empty lines that its lines keep their numbers."""
    starts = [0, *(found.start() for found in _START.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        yield "\n" * text.count("\n", 0, start) + text[start:end]
