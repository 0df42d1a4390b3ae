"""What a value looks like after it went through the configuration file."""

from __future__ import annotations

from stockman_lab.pve.guest_config.keys import Kind, container_kind, machine_kind

_TRUE = frozenset({"1", "on", "yes", "true"})
_UNQUOTED = frozenset({"args", "ciuser", "cipassword", "searchdomain"})


def stored_in_machine(key: str, value: str) -> str:
    """A value of a virtual machine, read back: an empty one has become a blank."""
    if key == "description":
        return value.rstrip()
    read = _normal(machine_kind(key), value)
    if key in _UNQUOTED and len(read) > 1 and read[0] == read[-1] == '"':
        read = read[1:-1]
    return read


def stored_in_container(key: str, value: str) -> str:
    """A value of a container, read back: every line of a description ends with a line feed."""
    if key == "description":
        text = value.rstrip("\n")
        return f"{text}\n" if text else ""
    if key == "env":
        return value
    return _normal(container_kind(key), value)


def _normal(kind: Kind, value: str) -> str:
    if kind == "boolean":
        return "1" if value.lower() in _TRUE else "0"
    if kind == "integer" and value.isascii() and value.isdecimal():
        return value.lstrip("0") or "0"
    return value.strip() or " "
