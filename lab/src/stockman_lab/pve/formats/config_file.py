"""Configuration files of guests as Proxmox VE writes them, and their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b":%")


def encode_text(text: str) -> str:
    """One line as it is written down."""
    return "".join(
        chr(byte) if byte in _PLAIN else f"%{byte:02X}"
        for byte in text.encode("utf-8", "surrogatepass")
    )


Section = Mapping[str, str]

_NOT_LINES = frozenset({"digest", "description"})


def machine_text(
    values: Section,
    pending: Section,
    snapshots: Mapping[str, Section],
    special: Mapping[str, Section] | None = None,
) -> str:
    """The file of a virtual machine. `pending` holds its deletions under `delete`."""
    text = _description(values) + _lines(values)
    if pending:
        empty = "#\n" if pending.get("description") == "" else ""
        text += f"\n[PENDING]\n{empty}{_description(pending)}{_lines(pending)}"
    for name in sorted(special or {}):
        text += f"\n[special:{name}]\n{_lines((special or {})[name])}"
    return text + _snapshots(snapshots)


def container_text(
    values: Section,
    pending: Section,
    snapshots: Mapping[str, Section],
    raw: Sequence[tuple[str, str]] = (),
) -> str:
    """The file of a container. `raw` holds settings of LXC itself."""
    text = _description(values) + _lines(values)
    text += "".join(f"{key}: {value}\n" for key, value in raw)
    if pending:
        text += f"\n[pve:pending]\n{_description(pending)}{_lines(pending)}"
    return text + _snapshots(snapshots)


def digest(text: str) -> str:
    """What tells two states of a file apart."""
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _snapshots(snapshots: Mapping[str, Section]) -> str:
    return "".join(
        f"\n[{name}]\n{_description(snapshots[name])}{_lines(snapshots[name])}"
        for name in sorted(snapshots)
    )


def _description(section: Section) -> str:
    text = section.get("description", "").rstrip("\n")
    return "".join(f"#{encode_text(line)}\n" for line in text.split("\n")) if text else ""


def _lines(section: Section) -> str:
    environment = section.get("env", "")
    return "".join(
        [
            *(
                f"{key}: {section[key]}\n"
                for key in sorted(section)
                if key not in _NOT_LINES and key != "env"
            ),
            *(
                f"lxc.environment.runtime: {variable}\n"
                for variable in environment.split("\0")
                if variable
            ),
        ]
    )
