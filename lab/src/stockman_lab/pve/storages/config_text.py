"""`storage.cfg` as Proxmox VE writes it, and its digest."""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.pve.formats.config_file import digest
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storage_kinds import KINDS


def config_text(storages: Mapping[str, Storage]) -> str:
    """The whole file."""
    return "".join(f"{_section(storage)}\n" for storage in storages.values())


def config_digest(storages: Mapping[str, Storage]) -> str:
    """What tells two states of the file apart."""
    return digest(config_text(storages))


def _section(storage: Storage) -> str:
    options = storage.options
    lines = [f"{storage.type}: {storage.id}\n"]
    if not storage.is_enabled:
        lines.append("\tdisable\n")
    required = KINDS[storage.type].required
    shown = [name for name in options if name != "disable"]
    ordered = sorted(shown, key=lambda one: (one not in required, one))
    return "".join([*lines, *(f"\t{name} {options[name]}\n" for name in ordered)])
