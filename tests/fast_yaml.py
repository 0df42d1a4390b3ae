"""Read and write YAML with libyaml if it is installed: the same results, ten times as fast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def load_yaml(text: str | bytes) -> Any:
    """Return the value of the only document."""
    return yaml.load(text, _LOADER)  # noqa: S506  # both are safe loaders


def load_all_yaml(text: str | bytes) -> Iterator[Any]:
    """Return the values of all documents."""
    return yaml.load_all(text, _LOADER)


def dump_yaml(*documents: object, sort_keys: bool = True) -> str:
    """Return documents as text."""
    return str(yaml.dump_all(documents, Dumper=_DUMPER, sort_keys=sort_keys))
