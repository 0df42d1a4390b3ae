"""Read files of another tool's directory, and detect which of them are encrypted."""

from __future__ import annotations

from collections.abc import Callable

from stockman.config.source.tree import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    Unreadable,
    decode_text,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.problem import Problem, Severity
from stockman.model.secret import is_encrypted
from stockman.talos.imports.foreign import ForeignCluster

ReadFile = Callable[[str], bytes | None]
"""The content of a file by its path in the directory. None: there is no such file."""
ListFiles = Callable[[str], list[str]]
"""Paths of all files below a directory, in the order of their names."""

SOPS = "sops"


def read_text(read: ReadFile, path: str) -> str | None:
    """Return the text of a file; raises Unreadable. None: there is no such file."""
    content = read(path)
    return None if content is None else decode_text(path, content)


def is_sops_encrypted(text: str, path: str) -> bool:
    """Whether a YAML file is encrypted by SOPS, whatever its name says."""
    try:
        tree = read_yaml(path, text)
    except Unreadable:
        return False
    return SOPS in tree.entries


def is_fully_encrypted(tree: MappingNode) -> bool:
    """Whether SOPS encrypted every value of a file."""
    return SOPS in tree.entries and all(
        _is_encrypted_node(entry.value) for name, entry in tree.entries.items() if name != SOPS
    )


def _is_encrypted_node(node: TreeNode) -> bool:
    if isinstance(node, ScalarNode):
        return node.is_null or not node.text or is_encrypted(node.text)
    if isinstance(node, SequenceNode):
        return all(_is_encrypted_node(item) for item in node.items)
    return all(_is_encrypted_node(entry.value) for entry in node.entries.values())


BUNDLE = "the secrets bundle"
"""Placeholder for the file name, which depends on the format."""
BUNDLE_NAMES = {False: "talos/talsecret.sops.yaml", True: "talos/secrets.sops.yaml"}
"""File name in a classic directory, and beside `cluster.toml`."""


def import_bundle(foreign: ForeignCluster, read: ReadFile, names: tuple[str, ...]) -> None:
    """Import the first of some files that exists; an unencrypted bundle is never copied."""
    for name in names:
        try:
            text = read_text(read, name)
            tree = None if text is None else read_yaml(name, text)
        except Unreadable as error:
            foreign.problems.add(error.problem)
            return
        if text is None or tree is None:
            continue
        at = Position(name, 1, 1)
        if is_fully_encrypted(tree):
            foreign.files[BUNDLE] = text
            foreign.record(name, at, "taken", f"{BUNDLE}, byte for byte")
        else:
            foreign.record(name, at, "left out", "it is not encrypted, and was not copied")
            foreign.problems.add(_plain_text_problem(name))
        return
    foreign.notes.append(
        f"neither {' nor '.join(names[:2])} exists: import the bundle from the running cluster"
    )


def _plain_text_problem(name: str) -> Problem:
    return Problem(
        code="import.open-bundle",
        what=f"{name} holds the secrets of the cluster unencrypted",
        where=name,
        why="anyone who can read it controls the cluster; it was not copied",
        fix=f"encrypt it with SOPS and save it as {BUNDLE_NAMES[False]} (beside cluster.toml: "
        f"{BUNDLE_NAMES[True]})",
        severity=Severity.WARNING,
    )
