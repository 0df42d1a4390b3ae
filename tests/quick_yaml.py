"""YAML read and written with libyaml where it is there: the same values, ten times as quickly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def load_yaml(text: str | bytes) -> Any:
    """The value of the only document."""
    return yaml.load(text, _LOADER)  # noqa: S506  # both are safe loaders


def load_all_yaml(text: str | bytes) -> Iterator[Any]:
    """The value of every document."""
    return yaml.load_all(text, _LOADER)


def dump_yaml(*documents: object, sort_keys: bool = True) -> str:
    """Documents as text."""
    return str(yaml.dump_all(documents, Dumper=_DUMPER, sort_keys=sort_keys))
