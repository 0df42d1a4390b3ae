"""Finds Kubernetes Secrets whose values are not encrypted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Severity

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAYBE = pattern(r"""\bkind["']?\s*:\s*["']?(Secret|List|SecretList)\b""")
_VALUES = ("data", "stringData")
_NOT_PLAIN = pattern(r"(ENC\[.*\]|\$\{[^}]*\}|)")
"""Encrypted by SOPS, a variable that Flux replaces, or empty."""


def find_plain_secrets(path: str, text: str) -> Iterator[Problem]:
    """Return a problem for each Secret with a plain value; none for text that is not YAML."""
    if not _MAYBE.search(text):
        return
    try:
        documents = list(yaml.compose_all(text, Loader=_LOADER))
    except (yaml.YAMLError, RecursionError):
        return
    for document in documents:
        for node in _objects(document):
            yield from _problems(path, node)


def _objects(node: yaml.Node | None) -> Iterator[yaml.MappingNode]:
    """Return a mapping and, if it is a list of objects, its items."""
    if not isinstance(node, yaml.MappingNode):
        return
    yield node
    items = _entry(node, "items")
    for item in items.value if isinstance(items, yaml.SequenceNode) else ():
        yield from _objects(item)


def _problems(path: str, node: yaml.MappingNode) -> Iterator[Problem]:
    if (_text(_entry(node, "apiVersion")), _text(_entry(node, "kind"))) != ("v1", "Secret"):
        return
    metadata = _entry(node, "metadata")
    name = _text(_entry(metadata, "name")) or "without a name"
    for field in _VALUES:
        values = _entry(node, field)
        for key, value in values.value if isinstance(values, yaml.MappingNode) else ():
            if not _NOT_PLAIN.fullmatch(_text(value)):
                yield _plain_value(path, name, f"{field}.{_text(key)}", key)
                return


def _entry(node: yaml.Node | None, name: str) -> yaml.Node | None:
    entries = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in entries if _text(key) == name), None)


def _text(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def _plain_value(path: str, name: str, key: str, node: yaml.Node) -> Problem:
    mark = node.start_mark
    return Problem(
        code="leak.plain-secret",
        what=f"Secret {name} has the plain value {key}",
        where=Position(file=path, line=mark.line + 1, column=mark.column + 1),
        why="whoever can read the repository can read it; base64 is no encryption",
        fix="encrypt it as a *.sops.yaml file with `stockman secrets create`, and change the value"
        " if it was committed",
        severity=Severity.WARNING,
    )
