"""The drive that a guest looks for at its first boot: by its label, in whatever slot it is."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.model.errors import Refused
from stockman.talos.nocloud.iso_reader import read_image
from stockman.talos.nocloud.iso_writer import LABEL


def seed_files(drives: Iterable[bytes]) -> dict[str, bytes] | None:
    """Files of the first drive with the label, by path. None: no drive has it."""
    for content in drives:
        try:
            image = read_image("drive", content)
        except Refused:
            continue
        if image.label.lower() == LABEL:
            return image.files
    return None
