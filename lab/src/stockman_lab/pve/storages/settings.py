"""Options of a storage: what may be said about it, how it is written down and shown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.storage import ALWAYS_SHARED, Storage
from stockman_lab.pve.storage_kinds import KINDS

_NUMBERS = frozenset({"boolean", "integer", "number"})
_USUAL_PATH = re.compile(r"/[-/a-zA-Z0-9_.@]+", re.ASCII)
_OWN_FOLDERS = frozenset({"nfs", "cifs", "cephfs", "glusterfs"})
_PATHS = frozenset({"dir", "btrfs"})


def checked_settings(
    kind: str, given: Mapping[str, object], *, storage: str = ""
) -> dict[str, str]:
    """Options as they are written down; `storage` is the id of a new one, empty: it exists."""
    rules = KINDS[kind]
    known = dict(given)
    if storage and kind in _OWN_FOLDERS and not known.get("path"):
        known["path"] = f"/mnt/pve/{storage}"
    for name in known:
        if not storage and name in rules.fixed:
            raise die(f"can't change value of fixed parameter '{name}'")
        if not rules.knows(name):
            raise die(f"unexpected property '{name}'")
    settings = {name: _written(kind, name, str(value)) for name, value in known.items()}
    if storage:
        for name in rules.required:
            if name not in settings:
                raise die(f"missing value for required option '{name}'")
    if storage and kind in _PATHS:
        settings["path"] = _canonical(settings["path"])
    return settings


def _written(kind: str, name: str, value: str) -> str:
    if "\n" in value or "\r" in value:
        raise die("property contains a line feed")
    if name == "content":
        return _content(kind, value)
    if name in ("nodes", "content-dirs"):
        return ",".join(dict.fromkeys(split_list(value)))
    return value


def _content(kind: str, value: str) -> str:
    allowed = KINDS[kind].content
    kept = [one for one in dict.fromkeys(split_list(value)) if one in allowed]
    if "none" in kept and len(kept) > 1:
        raise die("unable to combine 'none' with other content types")
    if not kept and "none" not in allowed:
        raise die("storage does not support content type 'none'")
    return ",".join(kept) or "none"


def _canonical(path: str) -> str:
    if not _USUAL_PATH.fullmatch(path):
        raise die(f"illegal path for directory storage: {path}")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return posixpath.join("/", *parts)


def kept_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """What of options is found again after they were written down."""
    return {
        name: value
        for name, value in settings.items()
        if value != "" and not (name == "disable" and value == "0")
    }


def shown_settings(profile: str, storage: Storage) -> dict[str, object]:
    """Options as the API shows them: numbers as numbers, and what goes without saying."""
    shapes = Schema.of(profile).operation("POST", "/storage").parameters
    shown: dict[str, object] = {}
    for name, value in storage.options.items():
        shape = shapes.get(name)
        is_number = shape is not None and shape.shape.kind in _NUMBERS and _is_number(value)
        shown[name] = int(value) if is_number else value
    if "content-dirs" in storage.options:
        pairs = storage.options["content-dirs"].split(",")
        shown["content-dirs"] = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    if not storage.options.get("content"):
        shown["content"] = ",".join(KINDS[storage.type].default_content)
    if storage.path:
        shown["path"] = storage.path
    if storage.type in ALWAYS_SHARED:
        shown["shared"] = 1
    return shown


def _is_number(value: str) -> bool:
    return value.removeprefix("-").isascii() and value.removeprefix("-").isdigit()
