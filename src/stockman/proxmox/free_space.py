"""Free space of storages: what a host says is available, which is less than size minus use.

ZFS, ext4 and Ceph reserve space. `/cluster/resources` has only size and use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from stockman.model.errors import StockmanError
from stockman.model.names import HostName
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import Resources
from stockman.proxmox.storages import StorageState

ReadStorages = Callable[[HostName], Awaitable[tuple[StorageState, ...]]]


async def with_free_space(
    pve: ProxmoxClient, resources: Resources, read: ReadStorages | None = None
) -> Resources:
    """Return resources with the free space of the storages of each host that answers.

    `read` lists the storages of a host. None: `pve` does.
    """
    hosts = list(dict.fromkeys(storage.host for storage in resources.storages))
    online = {host.host for host in resources.hosts if host.status != "offline"}

    async def free(host: HostName) -> dict[tuple[str, str], int]:
        try:
            states = await (read or pve.storages)(host)
        except StockmanError:
            return {}
        return {(host, state.storage): state.free for state in states if state.active}

    answers = await asyncio.gather(*(free(host) for host in hosts if host in online))
    known = {key: size for answer in answers for key, size in answer.items()}
    storages = tuple(
        replace(storage, free=known.get((storage.host, storage.storage)))
        for storage in resources.storages
    )
    return replace(resources, storages=storages)
