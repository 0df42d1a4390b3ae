"""What rules say about a file that is not there yet."""

from __future__ import annotations

from stockman.crypto.sops.selectors import Selector
from stockman.model.record import record

DEFAULT_INDENT = 4


@record
class Recipe:
    """For whom, and how, a new file is encrypted."""

    recipients: tuple[str, ...]
    selector: Selector = Selector()
    only_encrypted: bool = False
    """Whether the check sum covers encrypted values only."""
    indent: int = DEFAULT_INDENT
    """Of the `sops` entry in YAML files."""
