"""Files that lie beside the code.

Read by the loader that found the code, wherever that is: `importlib.resources` takes longer to
import than most of these files to read.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


def read_package_text(package: str, name: str) -> str:
    """The text of a file of a package."""
    return read_package_bytes(package, name).decode("utf-8")


def read_package_bytes(package: str, name: str) -> bytes:
    """The content of a file of a package."""
    module = import_module(package)
    if module.__spec__ is None:
        raise ValueError(f"{package} was not imported from anywhere")
    loader = cast("ResourceLoader", module.__spec__.loader)
    return loader.get_data(f"{module.__path__[0]}/{name}")
