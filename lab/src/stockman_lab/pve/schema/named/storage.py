"""Formats of storages and volumes."""

from __future__ import annotations

import re

from stockman_lab.pve.schema.named.checker import Checker, like

CONTENT = frozenset({"images", "rootdir", "vztmpl", "iso", "backup", "snippets", "none", "import"})
VOLUME = r"[a-z][a-z0-9\-_.]*[a-z0-9]:.+$"
_VOLUME = re.compile(VOLUME, re.IGNORECASE)
_CONTENT_NAME = re.compile(r"[a-z]+$")


def volume_id(text: str) -> str | None:
    """`storage:name`."""
    return None if _VOLUME.match(text) else f"unable to parse volume ID '{text}'"


def volume_or_path(text: str) -> str | None:
    """A volume, or an absolute path."""
    return None if text.startswith("/") else volume_id(text)


def volume_or_medium(text: str) -> str | None:
    """A volume, an absolute path, `none` or `cdrom`."""
    return None if text in {"none", "cdrom"} else volume_or_path(text)


def content_type(text: str) -> str | None:
    """What a storage may hold."""
    return None if text in CONTENT else f"invalid content type '{text}'"


def folder_override(text: str) -> str | None:
    """`iso=my/folder`."""
    content, _, path = text.partition("=")
    is_relative = bool(path) and ".." not in path and not path.endswith(".")
    if _CONTENT_NAME.match(content) and is_relative:
        if (problem := content_type(content)) is not None:
            return problem
        if len(path) < 1023 and all(len(part) < 255 for part in path.split("/")):
            return None
    return f"invalid override '{text}'"


def checkers() -> dict[str, Checker]:
    """The checkers of storages, by format."""
    return {
        "pve-volume-id": volume_id,
        "pve-volume-id-or-absolute-path": volume_or_path,
        "pve-volume-id-or-qm-path": volume_or_medium,
        "pve-storage-content": content_type,
        "pve-dir-override": folder_override,
        "pve-storage-path": like(r"/[^;\(\)]+", "value does not look like a valid absolute path"),
        "pve-storage-path-in-property-string": like(
            r"/[^;,=\(\)]+",
            "Value does not look like a valid absolute path."
            " These symbols are currently not allowed in path: ;,=()",
        ),
        "pve-storage-vgname": like(
            r"[a-z0-9][a-z0-9\-_.]*[a-z0-9]$",
            "lvm name '{}' contains illegal characters",
            ignore_case=True,
        ),
        "pve-storage-options": like(r"\S+$", "invalid options '{}'"),
    }
