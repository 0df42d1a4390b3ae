"""Virtual machines for tests, and what they boot from."""

from __future__ import annotations

from typing import Any

from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image
from stockman_lab.pve import space
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import GIB
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.servers.memory import MemoryClient

from lab.tests.returns import misfits

IMAGE = "local:import/linux.qcow2"
QEMU = "/nodes/pve1/qemu"


def put_image(client: MemoryClient, host: str = "pve1", storage: str = "local") -> str:
    """A bootable image of 2 GiB that can be imported from; returns its id."""
    content = disk_image(ImageFacts(platform="linux", virtual_size=2 * GIB), Form.QCOW2)
    return put_file(client, "import/linux.qcow2", content, host=host, storage=storage)


def put_file(
    client: MemoryClient, name: str, content: bytes, *, host: str = "pve1", storage: str = "local"
) -> str:
    """A file on a storage; returns its id."""
    cluster = client.cluster
    kind, _, file = name.partition("/")
    new = space.NewVolume(
        name=name,
        content=kind,
        format=file.rpartition(".")[2],
        size=len(content),
        written=len(content),
        blob=cluster.around.blobs.put(content),
    )
    state = cluster.state
    return space.allocate(cluster, state.storages[storage], state.hosts[host], new).id


def create(client: MemoryClient, vmid: int = 100, **values: object) -> Guest:
    """A machine with these values."""
    upid = client.post(QEMU, vmid=vmid, **values)
    assert client.done(upid) == "OK"
    return client.cluster.state.guests[vmid]


def create_linux(client: MemoryClient, vmid: int = 100, **values: object) -> Guest:
    """A machine that boots Linux and has an agent."""
    if client.cluster.state.volumes.get(f"pve1/{IMAGE}") is None:
        put_image(client)
    by_name: dict[str, object] = {
        "name": f"vm{vmid}",
        "memory": "2048",
        "scsi0": f"local-zfs:0,import-from={IMAGE}",
        "net0": "virtio,bridge=vmbr0",
        "agent": "1",
    }
    return create(client, vmid, **(by_name | values))


def start(client: MemoryClient, vmid: int = 100) -> None:
    """Switch a machine on, and let it come up."""
    assert client.done(client.post(f"{QEMU}/{vmid}/status/start")) == "OK"
    client.world.advance(60)


def ended(client: MemoryClient, method: str, path: str, /, **params: object) -> str:
    """How the task ended that a request started."""
    return client.done(client.call(method, path, **params))


def user(client: MemoryClient, *privileges: str, path: str = "/") -> MemoryClient:
    """The door for somebody who has some privileges."""
    client.post("/access/roles", roleid="Some", privs=",".join(privileges))
    client.post("/access/users", userid="ann@pve")
    client.put("/access/acl", path=path, roles="Some", users="ann@pve")
    return client.as_caller(Caller("ann@pve"))


def replied(client: MemoryClient, method: str, path: str, /, **params: object) -> Any:
    """The data of a reply that was found to be as the schema promises."""
    data = client.call(method, path, **params)
    operation = Schema.of(client.cluster.state.profile).route(method, path).operation
    assert misfits(operation.returns, data) == []
    return data
