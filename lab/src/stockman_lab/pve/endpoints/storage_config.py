"""`/storage`: which storages the cluster has."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.space import configured
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storages.configuring import (
    add_storage,
    change_storage,
    config_digest,
    remove_storage,
)
from stockman_lab.pve.storages.settings import shown_settings, split_list

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
    return _shown(call, configured(call.cluster, call.text("storage")))


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
