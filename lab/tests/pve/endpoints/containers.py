"""Containers for tests, and what they are made of."""

from __future__ import annotations

from typing import cast

import pytest
from stockman_lab.images.system_archive import system_archive
from stockman_lab.pve import space
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest import Guest
from stockman_lab.servers.memory import MemoryClient

from lab.tests.worlds import door, small_world

LXC = "/nodes/pve1/lxc"
CT = f"{LXC}/200"
TEMPLATE = "local:vztmpl/debian-13.tar.gz"


def put_template(api: MemoryClient, name: str = "debian-13.tar.gz", content: bytes = b"") -> str:
    """Put an archive of a system on every host; returns the name of the volume."""
    content = content or system_archive("debian", "13")
    cluster = api.cluster
    blob = cluster.around.blobs.put(content)
    for host in cluster.state.hosts.values():
        new = space.NewVolume(
            f"vztmpl/{name}", "vztmpl", "tgz", len(content), 0, len(content), blob
        )
        space.allocate(cluster, cluster.state.storages["local"], host, new)
    return f"local:vztmpl/{name}"


def with_template(profile: str = "9.1", hosts: int = 3) -> MemoryClient:
    """A cluster that has a system to make containers of."""
    template = door(small_world(profile, hosts))
    put_template(template)
    return template


def made(api: MemoryClient, vmid: int = 200, /, **settings: object) -> Guest:
    """A container that is there."""
    given = {"rootfs": "local-zfs:8", "hostname": "web", **settings}
    upid = api.post(LXC, vmid=vmid, ostemplate=TEMPLATE, **given)
    assert api.done(upid) == "OK"
    return api.cluster.state.guests[vmid]


def one_container(profile: str = "9.1", /, **settings: object) -> MemoryClient:
    """A cluster with container 200."""
    api = with_template(profile)
    made(api, **settings)
    return api


def running_container(**settings: object) -> MemoryClient:
    """A cluster with container 200, running."""
    api = one_container(**settings)
    assert api.done(api.post(f"{CT}/status/start")) == "OK"
    return api


def values(api: MemoryClient, vmid: int = 200) -> dict[str, str]:
    """What is written down of a container."""
    return api.cluster.state.guests[vmid].config.values


def shown(api: MemoryClient, path: str, **params: object) -> dict[str, object]:
    """An object that the API answers."""
    return cast("dict[str, object]", api.get(path, **params))


def rows(api: MemoryClient, path: str, **params: object) -> list[dict[str, object]]:
    """Rows that the API answers."""
    return cast("list[dict[str, object]]", api.get(path, **params))


def refused(api: MemoryClient, method: str, path: str, **params: object) -> ApiError:
    """How a request is refused."""
    with pytest.raises(ApiError) as caught:
        api.call(method, path, **params)
    return caught.value


def volumes(api: MemoryClient, content: str = "rootdir") -> list[str]:
    """Names of volumes of a kind, sorted."""
    found = api.cluster.state.volumes.values()
    return sorted(one.id for one in found if one.content == content)
