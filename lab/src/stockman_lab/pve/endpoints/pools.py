"""`/pools`: guests and storages that belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman_lab.pve import guest_rows, space
from stockman_lab.pve.access.acl import check_may_change, forget_pool
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import ResourcePool
from stockman_lab.pve.errors import die, failing
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.storage import Storage

_LETTER = re.compile(r"[A-Za-z]")


@endpoint("GET", "/pools")
def pools(call: Call) -> object:
    """All pools that the caller may see, or one of them with its members."""
    if call.has("poolid"):
        return [{**_with_members(call), "poolid": call.text("poolid")}]
    state = call.cluster.state
    return [
        {"poolid": name} | ({"comment": pool.comment} if pool.comment else {})
        for name, pool in sorted(state.resource_pools.items())
        if call.may(f"/pool/{name}", "Pool.Audit")
    ]


@endpoint("GET", "/pools/{poolid}")
def pool(call: Call) -> object:
    return _with_members(call)


@endpoint("POST", "/pools")
def create(call: Call) -> object:
    with failing("create pool failed"):
        call.cluster.require_quorum("file-user_cfg")
        _create(call)
    _notify_change(call)
    return None


@endpoint("PUT", "/pools")
def update(call: Call) -> object:
    with failing("update pools failed"):
        call.cluster.require_quorum("file-user_cfg")
        _Update(call).run()
    _notify_change(call)
    return None


@endpoint("PUT", "/pools/{poolid}")
def update_by_path(call: Call) -> object:
    return update(call)


@endpoint("DELETE", "/pools")
def delete(call: Call) -> object:
    with failing("delete pool failed"):
        call.cluster.require_quorum("file-user_cfg")
        found = _pool(call)
        _refuse_used(call, found)
        del call.cluster.state.resource_pools[found.id]
        forget_pool(call.cluster.state.access, found.id)
    _notify_change(call)
    return None


@endpoint("DELETE", "/pools/{poolid}")
def delete_by_path(call: Call) -> object:
    return delete(call)


def _notify_change(call: Call) -> None:
    call.cluster.changed()
    call.cluster.state.access.changed()


def _pool(call: Call) -> ResourcePool:
    name = call.text("poolid")
    resource_pool = call.cluster.state.resource_pools.get(name)
    if resource_pool is None:
        raise die(f"pool '{name}' does not exist")
    return resource_pool


def _create(call: Call) -> None:
    existing, name = call.cluster.state.resource_pools, call.text("poolid")
    if name in existing:
        raise die(f"pool '{name}' already exists")
    parent, slash, leaf = name.rpartition("/")
    if slash and parent not in existing:
        raise die(f"parent '{parent}' of pool '{name}' does not exist")
    if not _LETTER.match(leaf):
        raise die("pool name must start with a letter")
    existing[name] = ResourcePool(name, comment=call.text("comment"))


class _Update:
    """A change of one pool: all of it, or nothing."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.pool = _pool(call)
        self.guests = list(self.pool.guests)
        self.storages = list(self.pool.storages)
        self.left: list[tuple[ResourcePool, int]] = []

    def run(self) -> None:
        removes = self.call.flag("delete")
        for text in split_list(self.call.text("vms")):
            self._check_may_change(f"/vms/{text}")
            (self._remove_guest if removes else self._add_guest)(int(text))
        for name in split_list(self.call.text("storage")):
            self._check_may_change(f"/storage/{name}")
            (self._remove_storage if removes else self._add_storage)(name)
        for other, vmid in self.left:
            other.guests.remove(vmid)
        self.pool.guests, self.pool.storages = self.guests, self.storages
        if self.call.has("comment"):
            self.pool.comment = self.call.text("comment")

    def _check_may_change(self, path: str) -> None:
        check_may_change(self.call.authority, self.call.caller, path, quiet=False)

    def _remove_guest(self, vmid: int) -> None:
        if vmid not in self.guests:
            raise die(f"VM {vmid} is not a pool member")
        self.guests.remove(vmid)

    def _add_guest(self, vmid: int) -> None:
        if vmid in self.guests:
            raise die(f"VM {vmid} is already a pool member")
        other = self.call.cluster.pool_of(vmid)
        if other:
            if not self.call.flag("allow-move"):
                raise die(
                    f"VM {vmid} belongs already to pool '{other}' and 'allow-move' is not set"
                )
            self.call.check(f"/pool/{other}", "Pool.Allocate")
            self.left.append((self.call.cluster.state.resource_pools[other], vmid))
        self.guests.append(vmid)

    def _remove_storage(self, name: str) -> None:
        if name not in self.storages:
            raise die(f"Storage '{name}' is not a pool member")
        self.storages.remove(name)

    def _add_storage(self, name: str) -> None:
        if name in self.storages:
            raise die(f"Storage '{name}' is already a pool member")
        self.storages.append(name)


def _refuse_used(call: Call, found: ResourcePool) -> None:
    state = call.cluster.state
    inner = sorted(
        resource_pool
        for resource_pool in state.resource_pools
        if resource_pool.startswith(f"{found.id}/")
    )
    for name in inner:
        raise die(f"pool '{found.id}' is not empty (contains pool '{name}')")
    for vmid in sorted(found.guests, key=str):
        if vmid in state.guests:
            raise die(f"pool '{found.id}' is not empty (contains VM {vmid})")
    for name in sorted(found.storages):
        if name in state.storages:
            raise die(f"pool '{found.id}' is not empty (contains storage '{name}')")


def _with_members(call: Call) -> dict[str, object]:
    found = _pool(call)
    members: list[dict[str, object]] = []
    text = call.text("type")
    members += (row for row in _guests(call, found) if text in ("", row["type"]))
    if text in ("", "storage"):
        members += _storages(call, found)
    row: dict[str, object] = {"members": members}
    if found.comment:
        row["comment"] = found.comment
    return row


def _guests(call: Call, found: ResourcePool) -> Iterator[dict[str, object]]:
    for vmid in sorted(found.guests, key=str):
        guest = call.cluster.state.guests.get(vmid)
        if guest is not None:
            yield guest_rows.resource_row(call.cluster, guest, may_see_pool=False)


def _storages(call: Call, found: ResourcePool) -> Iterator[dict[str, object]]:
    for name in sorted(found.storages):
        storage = call.cluster.state.storages.get(name)
        if storage is not None:
            yield _storage_row(call, storage)


def _storage_row(call: Call, storage: Storage) -> dict[str, object]:
    """The storage as the host that was asked sees it, or the first that has it."""
    node = call.host.name if storage.is_on(call.host.name) else min(storage.nodes)
    host = call.cluster.host(node)
    room = space.space(call.cluster, storage, host)
    return {
        "id": f"storage/{node}/{storage.id}",
        "storage": storage.id,
        "node": node,
        "type": "storage",
        "plugintype": storage.type,
        "shared": int(storage.is_shared),
        "content": guest_rows.storage_content(storage),
        "status": "available" if host.has_power and room.total else "unknown",
        "disk": room.used,
        "maxdisk": room.total,
    }
