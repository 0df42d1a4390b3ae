"""Files of a directory that belongs to another tool: read, and found to be secret or not."""

from __future__ import annotations

from collections.abc import Callable

from stockman.config.source.text import Unreadable, decoded
from stockman.config.source.tree import Mapping, Node, Scalar, Sequence
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.secret import is_encrypted

Read = Callable[[str], bytes | None]
"""The content of a file by its path in the directory. None: there is no such file."""
Listed = Callable[[str], list[str]]
"""Paths of all files below a directory, in the order of their names."""

SOPS = "sops"


def read_text(read: Read, path: str) -> str | None:
    """The text of a file; raises Unreadable. None: there is no such file."""
    content = read(path)
    return None if content is None else decoded(path, content)


def is_sealed(text: str, path: str) -> bool:
    """Whether a YAML file is encrypted by SOPS, and not merely named so."""
    try:
        tree = read_yaml(path, text)
    except Unreadable:
        return False
    return SOPS in tree.entries


def is_wholly_sealed(tree: Mapping) -> bool:
    """Whether SOPS encrypted every value of a file."""
    return SOPS in tree.entries and all(
        _is_closed(entry.value) for name, entry in tree.entries.items() if name != SOPS
    )


def _is_closed(node: Node) -> bool:
    if isinstance(node, Scalar):
        return node.is_null or not node.text or is_encrypted(node.text)
    if isinstance(node, Sequence):
        return all(_is_closed(item) for item in node.items)
    return all(_is_closed(entry.value) for entry in node.entries.values())
