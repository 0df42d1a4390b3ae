"""`/storage` and `/nodes/NODE/storage`: which storages the cluster has, and how hosts see them."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.space import find_storage
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storages.configuring import (
    add_storage,
    change_storage,
    config_digest,
    remove_storage,
    shown_settings,
)
from stockman_lab.pve.storages.rows import storage_row

READERS = ("Datastore.Audit", "Datastore.AllocateSpace")
"""Privileges of which one is enough to see a storage."""


@endpoint("GET", "/storage")
def storages(call: Call) -> object:
    kind = call.text("type")
    return [
        _shown(call, storage)
        for storage in call.cluster.state.storages.values()
        if (not kind or storage.type == kind)
        and call.may(f"/storage/{storage.id}", *READERS, any_of=True)
    ]


@endpoint("POST", "/storage")
def create(call: Call) -> object:
    values = {name: value for name, value in call.params.items() if name not in ("storage", "type")}
    return add_storage(call.cluster, call.host, call.text("storage"), call.text("type"), values)


@endpoint("GET", "/storage/{storage}")
def read(call: Call) -> object:
    return _shown(call, find_storage(call.cluster, call.text("storage")))


@endpoint("PUT", "/storage/{storage}")
def update(call: Call) -> object:
    own = ("storage", "digest", "delete")
    values = {name: value for name, value in call.params.items() if name not in own}
    delete = split_list(call.text("delete"))
    return change_storage(call.cluster, call.text("storage"), values, delete, call.text("digest"))


@endpoint("DELETE", "/storage/{storage}")
def delete(call: Call) -> object:
    remove_storage(call.cluster, call.text("storage"))
    return None


def _shown(call: Call, storage: Storage) -> dict[str, object]:
    return {
        **shown_settings(call.cluster.state.profile, storage),
        "storage": storage.id,
        "type": storage.type,
        "digest": config_digest(call.cluster.state.storages),
    }


_FOLDERS = (
    "content", "download-url", "file-restore", "import-metadata", "oci-registry-pull",
    "prunebackups", "rrd", "rrddata", "status", "upload",
)  # fmt: skip


@endpoint("GET", "/nodes/{node}/storage")
def host_storages(call: Call) -> object:
    text = call.text("storage")
    listed = {one.id for one in _with_content(call)}
    if text and text not in listed:
        raise bad_parameters({"storage": "No such storage."})
    taken = space.taken(call.cluster)
    return [
        _row(call, storage, taken)
        for storage in call.cluster.state.storages.values()
        if storage.id in listed
        and (not text or storage.id == text)
        and call.may(f"/storage/{storage.id}", *READERS, any_of=True)
        and _is_asked_for(call, storage)
    ]


@endpoint("GET", "/nodes/{node}/storage/{storage}/status")
def status(call: Call) -> object:
    storage = call.cluster.state.storages.get(call.text("storage"))
    if storage is None:
        raise bad_parameters({"storage": "No such storage."})
    return storage_row(call.cluster, storage, call.node)


def _with_content(call: Call) -> Iterator[Storage]:
    """Storages of the kinds of content that are asked for, where there is such a filter."""
    kinds = split_list(call.text("content"))
    for storage in call.cluster.state.storages.values():
        enabled = storage.is_enabled and storage.is_on(call.node.name)
        if not call.has("content") or (enabled and storage.content & set(kinds)):
            yield storage


def _is_asked_for(call: Call, storage: Storage) -> bool:
    if call.flag("enabled") and not storage.is_enabled:
        return False
    target = call.text("target")
    if target in ("", "localhost", call.node.name):
        return True
    return storage.is_shared and storage.is_on(call.node.name) and storage.is_on(target)


def _row(call: Call, storage: Storage, taken: space.Taken) -> dict[str, object]:
    row = storage_row(call.cluster, storage, call.node, taken, with_formats=call.flag("format"))
    total, used = row["total"], row["used"]
    if isinstance(total, int) and isinstance(used, int) and total:
        row["used_fraction"] = used / total
    row["storage"] = storage.id
    return row
