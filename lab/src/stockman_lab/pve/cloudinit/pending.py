"""What changed since the drive was made, as rows about a section of the configuration.

The section holds values that the drive was made of, and under `added` names of new keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ADDED = "added"
OPTIONS = (
    "cicustom",
    "cipassword",
    "citype",
    "ciupgrade",
    "ciuser",
    "nameserver",
    "searchdomain",
    "sshkeys",
)
_SEPARATORS = re.compile(r"[\s,;]+")
_MASK = "**********"


def pending_rows(values: Mapping[str, str], section: Mapping[str, str]) -> list[dict[str, object]]:
    """What `GET cloudinit` answers. Addresses are rows only where they were added or taken away."""

    def shown(key: str, holder: Mapping[str, str]) -> str:
        return _MASK if key == "cipassword" else holder.get(key, "")

    added = section.get(ADDED, "")
    rows: list[dict[str, object]] = [
        {"key": key, "pending": shown(key, values)} for key in _SEPARATORS.split(added) if key
    ]
    for key in OPTIONS:
        if values.get(key, "0") in ("", "0") or key in added:
            continue
        if section.get(key, "0") not in ("", "0"):
            rows.append({"key": key, "value": shown(key, section), "pending": shown(key, values)})
        else:
            rows.append({"key": key, "value": shown(key, values)})
    gone = (key for key in sorted(section) if key != ADDED)
    rows += [{"key": key, "delete": 1} for key in gone if values.get(key, "0") in ("", "0")]
    return rows
