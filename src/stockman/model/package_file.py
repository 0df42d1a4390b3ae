"""Data files that are part of a package.

They are read with the loader of the package: importing `importlib.resources` takes longer than
reading most of these files.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


def read_package_text(package: str, name: str) -> str:
    """Return the text of a file in a package."""
    return read_package_bytes(package, name).decode("utf-8")


def read_package_bytes(package: str, name: str) -> bytes:
    """Return the content of a file in a package."""
    module = import_module(package)
    if module.__spec__ is None:
        raise ValueError(f"{package} was not imported from anywhere")
    loader = cast("ResourceLoader", module.__spec__.loader)
    return loader.get_data(f"{module.__path__[0]}/{name}")
