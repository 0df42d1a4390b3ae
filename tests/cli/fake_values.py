"""Values that fake commands offer to a shell."""

import sys
import warnings
from pathlib import Path


def pet_names() -> list[str]:
    return ["Bella", "Bingo", "Zoë"]


def places(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def broken() -> list[str]:
    raise OSError("the file is gone")


def buggy() -> list[str]:
    warnings.warn("noise", stacklevel=1)
    sys.stderr.write("noise\n")
    raise RuntimeError("nobody expected this")
