"""What the cloud-init drive does not know yet."""

from __future__ import annotations

from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.guest_config.keys import CLOUD_INIT_SOURCES
from stockman_lab.pve.guest_config.state import GuestConfig


def record_change(config: GuestConfig, key: str, old: str | None, new: str | None) -> None:
    """Writes down that a value changed which the drive was made of."""
    if key not in CLOUD_INIT_SOURCES or (old is None and new is None):
        return
    record = config.cloud_init
    added = set(split_list(record.pop("added", "")))
    if new is None:
        _record_removal(record, added, key, old or "")
    elif record.get(key) == new:
        del record[key]
        added.discard(key)
    elif key not in record and key not in added:
        if old is None:
            added.add(key)
        else:
            record[key] = old
    if added:
        record["added"] = ",".join(sorted(added))


def _record_removal(record: dict[str, str], added: set[str], key: str, old: str) -> None:
    if key in record:
        return
    if key in added:
        added.remove(key)
    else:
        record[key] = old
