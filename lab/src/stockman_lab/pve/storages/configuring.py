"""Options of storages; adding, changing and removing storages."""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from stockman_lab.pve.access.acl import forget_path
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.config_file import digest
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import Host
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.space import find_storage
from stockman_lab.pve.storage import ALWAYS_SHARED, KINDS, Storage
from stockman_lab.pve.storages import places

_NUMBERS = frozenset({"boolean", "integer", "number"})
_USUAL_PATH = re.compile(r"/[-/a-zA-Z0-9_.@]+", re.ASCII)
_OWN_FOLDERS = frozenset({"nfs", "cifs", "cephfs"})
_PATHS = frozenset({"dir", "btrfs"})


def check_settings(kind: str, given: Mapping[str, object], *, storage: str = "") -> dict[str, str]:
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


AUTOGEN = "autogen"


def new_key(cluster: Cluster) -> str:
    """A key as `proxmox-backup-client key create --kdf none` writes it."""
    secret = cluster.around.dice.random_bytes(32)
    mark = hashlib.sha256(secret).digest()
    moment = datetime.fromtimestamp(cluster.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps(
        {
            "kdf": None,
            "created": moment,
            "modified": moment,
            "data": base64.b64encode(secret).decode(),
            "fingerprint": ":".join(f"{byte:02x}" for byte in mark),
        },
        separators=(",", ":"),
    )


def fingerprint_of(key: str) -> str:
    """What the configuration keeps of a key."""
    try:
        decoded = json.loads(key)
    except ValueError:
        decoded = None
    if not isinstance(decoded, dict) or "data" not in decoded:
        raise die("Value does not seems like a valid, JSON formatted encryption key!")
    return str(decoded.get("fingerprint") or "1")


T = TypeVar("T")
_LOCAL = {
    "path": "/var/lib/vz",
    "prune-backups": "keep-all=1",
    "content": "backup,images,iso,rootdir,snippets,vztmpl",
}
"""What every cluster has, whatever its configuration says."""


def add_storage(
    cluster: Cluster, host: Host, storage_id: str, kind: str, given: Mapping[str, object]
) -> dict[str, object]:
    """Add a storage; returns what its owner has to know."""
    if kind not in KINDS:
        raise ApiError(501, f"Method 'POST /storage' with type '{kind}' not implemented")
    known = {name: value for name, value in given.items() if name != "nodes" or value != ""}
    secrets = {name: known.pop(name) for name in KINDS[kind].secrets if name in known}
    settings = check_settings(kind, known, storage=storage_id)

    def add() -> dict[str, object] | None:
        if storage_id in cluster.state.storages:
            raise die(f"storage ID '{storage_id}' already defined")
        shown = _keep_secrets(cluster, kind, settings, secrets)
        storage = Storage(storage_id, kind, kept_settings(settings))
        places.reach(cluster, storage)
        if storage.is_enabled and storage.is_on(host.name):
            problem = places.activation_problem(cluster, storage, host)
            if problem:
                raise die(problem)
        cluster.state.storages[storage_id] = storage
        places.find_again(cluster, storage)
        return shown

    return _reply(storage_id, kind, _with_lock(cluster, "create storage failed", add))


def change_storage(
    cluster: Cluster, storage_id: str, given: Mapping[str, object], delete: list[str], digest: str
) -> dict[str, object]:
    """Change options of a storage; returns what its owner has to know."""

    def change() -> tuple[str, dict[str, object] | None]:
        if digest and digest != config_digest(cluster.state.storages):
            raise die("detected modified configuration - file changed by other user? Try again.")
        storage = find_storage(cluster, storage_id)
        known = dict(given)
        secrets = _secrets(storage.type, known, delete)
        settings = check_settings(storage.type, known)
        _check_deletions(storage.type, settings, delete)
        was_shared = storage.is_shared
        shown = _keep_secrets(cluster, storage.type, settings, secrets)
        for name in delete:
            storage.options.pop(name, None)
        storage.options = kept_settings({**storage.options, **settings})
        if storage_id == "local":
            storage.options.pop("nodes", None)  # it is for every host, whatever somebody says
        places.share(cluster, storage, was_shared=was_shared)
        places.reach(cluster, storage)
        return storage.type, shown

    kind, shown = _with_lock(cluster, "update storage failed", change)
    return _reply(storage_id, kind, shown)


def remove_storage(cluster: Cluster, storage_id: str) -> None:
    """Forget a storage; its volumes stay where they are."""

    def remove() -> None:
        storage = find_storage(cluster, storage_id)
        based = f"{storage_id}:"
        storages = cluster.state.storages.values()
        if any(one.options.get("base", "").startswith(based) for one in storages):
            raise die("can't remove storage - storage is used as base of another storage")
        places.set_aside(cluster, storage)
        del cluster.state.storages[storage_id]
        if storage_id == "local":
            local = Storage("local", "dir", dict(_LOCAL))
            cluster.state.storages = {"local": local, **cluster.state.storages}
            places.find_again(cluster, local)

    _with_lock(cluster, "delete storage failed", remove)
    forget_path(cluster.state.access, f"/storage/{storage_id}")
    for pool in cluster.state.resource_pools.values():
        pool.storages = [storage for storage in pool.storages if storage != storage_id]


def _with_lock(cluster: Cluster, prefix: str, work: Callable[[], T]) -> T:
    try:
        cluster.require_quorum("file-storage_cfg")
        result = work()
    except ApiError as error:
        raise die(f"{prefix}: {error.message}") from None
    cluster.changed()
    return result


def _secrets(kind: str, given: dict[str, object], delete: list[str]) -> dict[str, object]:
    names = KINDS[kind].secrets
    gone: dict[str, object] = {name: None for name in names if name in delete}
    return gone | {name: given.pop(name) for name in names if name in given}


def _check_deletions(kind: str, settings: Mapping[str, str], delete: list[str]) -> None:
    rules = KINDS[kind]
    for name in delete:
        if not rules.knows(name):
            raise die(f"no such option '{name}'")
        if name in rules.required:
            raise die(f"unable to delete required option '{name}'")
        if name in rules.fixed:
            raise die(f"unable to delete fixed option '{name}'")
        if name in settings:
            raise die(f"cannot set and delete property '{name}' at the same time!")


def _keep_secrets(
    cluster: Cluster, kind: str, settings: dict[str, str], secrets: Mapping[str, object]
) -> dict[str, object] | None:
    """What of secrets the configuration shows; returns what is told this one time."""
    if kind != "pbs":
        return None
    shown: dict[str, object] = {}
    key = secrets.get("encryption-key")
    if key is not None:
        text = new_key(cluster) if key == AUTOGEN else str(key)
        settings["encryption-key"] = fingerprint_of(text)
        shown["encryption-key"] = text
    if secrets.get("master-pubkey") is not None:
        if "server" in settings and key is None:
            raise die("'master-pubkey' can only be used together with 'encryption-key'")
        settings["master-pubkey"] = "1"
    return shown


def _reply(storage: str, kind: str, shown: dict[str, object] | None) -> dict[str, object]:
    reply: dict[str, object] = {"storage": storage, "type": kind}
    if shown is not None:
        reply["config"] = shown
    return reply
