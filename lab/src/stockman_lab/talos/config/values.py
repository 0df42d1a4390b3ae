"""Values of a YAML tree as a machine reads them; what is not as it has to be counts as missing."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator

import yaml

Tree = dict[str, object]

_TRUE = frozenset({"true", "yes", "on", "y"})


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # either one
    """Reads words as Go does: `off` is a word, a date is a text."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _form, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    (
        "int",
        r"^(?:[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+)$",
        "",
    ),
    ("float", r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9]+|[0-9]+[eE])(?:[eE]?[-+]?[0-9]+)?$", ""),
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN"),
    ("merge", r"^(?:<<)$", "<"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(_form),
        list(_first or "-+0123456789.") + ([""] if _tag == "null" else []),
    )


def loaded(text: bytes | str) -> list[Tree]:
    """The documents of a text that are mappings; none where the text is no YAML."""
    try:
        documents = list(yaml.load_all(text, Loader=_Loader))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError):
        return []
    return [document for document in documents if isinstance(document, dict)]


def at(tree: object, *path: str) -> object:
    """What stands at a path. None: nothing."""
    for step in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(step)
    return tree


def mapping(value: object) -> Tree:
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def mappings(value: object) -> Iterator[Tree]:
    return (value for value in items(value) if isinstance(value, dict))


def text(value: object, default: str = "") -> str:
    """A scalar as a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    return default


def texts(value: object) -> tuple[str, ...]:
    return tuple(text(value) for value in items(value))


def words(value: object) -> dict[str, str]:
    """A mapping of texts."""
    return {str(key): text(one) for key, one in mapping(value).items()}


def flag(value: object, *, default: bool = False) -> bool:
    if isinstance(value, bool):
        return value
    return value.lower() in _TRUE if isinstance(value, str) else default


def number(value: object, default: int = 0) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() else default


def decoded(value: object) -> str:
    """A PEM text that is held in base64."""
    try:
        return base64.b64decode(text(value)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def first(trees: Iterable[Tree]) -> Tree | None:
    return next(iter(trees), None)
