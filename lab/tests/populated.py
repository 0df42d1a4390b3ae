"""A world in which there is something of everything, for requests that need something to act on."""

from __future__ import annotations

from http import HTTPStatus

from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image
from stockman_lab.images.system_archive import system_archive
from stockman_lab.pve import space
from stockman_lab.pve.host import GIB
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.world import World

from lab.tests.outside import Shelf
from lab.tests.worlds import NAME, small_world

IMAGE_URL = "http://127.0.0.1/image.qcow2"
TEMPLATE = "debian-12-standard_12.7-1_amd64.tar.gz"
USER = "ann@pve"


def image() -> bytes:
    """A small disk that boots."""
    return disk_image(ImageFacts(platform="linux", virtual_size=GIB), Form.QCOW2)


def populated(profile: str, seed: int) -> MemoryClient:
    """The API of a cluster with guests, users, pools and all the rest."""
    content = image()
    world = World(
        small_world(profile, seed=seed).state,
        Shelf({IMAGE_URL: content, "http://127.0.0.1/cd.iso": content}),
    )
    client = MemoryClient(world, NAME)
    _put_file(client, "local", "import/image.qcow2", content)
    _put_file(client, "local", "iso/cd.iso", content)
    _put_file(client, "local", f"vztmpl/{TEMPLATE}", system_archive("debian", "12"))
    _people(client)
    _machines(client)
    _containers(client)
    _cluster(client)
    return client


def _put_file(client: MemoryClient, storage: str, name: str, content: bytes) -> None:
    blob = client.world.around.blobs.put(content)
    kind = name.partition("/")[0]
    for host in client.cluster.state.hosts.values():
        new = space.NewVolume(
            name=name,
            content=kind,
            format="qcow2" if kind == "import" else {"iso": "iso"}.get(kind, "tgz"),
            size=len(content),
            written=len(content),
            blob=blob,
        )
        space.allocate(client.cluster, client.cluster.state.storages[storage], host, new)


def _ask(client: MemoryClient, method: str, path: str, /, **params: object) -> None:
    """Ask for something, and let it be done; what the lab does not have is left out."""
    reply = client.reply(method, path, params)
    if reply.status == HTTPStatus.NOT_IMPLEMENTED:
        return
    if reply.status != HTTPStatus.OK:
        raise AssertionError(f"{method} {path}: {reply.status} {reply.reason} {reply.body}")
    data = (reply.body or {}).get("data")
    if isinstance(data, str) and data.startswith("UPID:"):
        status = client.done(data)
        if status != "OK" and not status.startswith("WARNINGS"):
            raise AssertionError(f"{method} {path}: {status}")


def _people(client: MemoryClient) -> None:
    _ask(client, "POST", "/access/groups", groupid="staff")
    _ask(client, "POST", "/access/roles", roleid="Keeper", privs="VM.Audit,VM.PowerMgmt")
    _ask(client, "POST", "/access/users", userid=USER, groups="staff", password="secret-word")
    _ask(client, "POST", f"/access/users/{USER}/token/robot", privsep=0)
    _ask(client, "PUT", "/access/acl", path="/vms", roles="PVEVMAdmin", users=USER)
    _ask(client, "PUT", "/access/acl", path="/storage", roles="PVEDatastoreUser", groups="staff")
    _ask(client, "POST", "/pools", poolid="farm")


def _machines(client: MemoryClient) -> None:
    disk = "local-zfs:0,import-from=local:import/image.qcow2"
    _ask(
        client, "POST", "/nodes/pve1/qemu", vmid=100, name="base", scsi0=disk,
        scsihw="virtio-scsi-single", net0="virtio,bridge=vmbr0",
    )  # fmt: skip
    _ask(client, "POST", "/nodes/pve1/qemu/100/template")
    _ask(client, "POST", "/nodes/pve1/qemu/100/clone", newid=101, name="linked")
    _ask(
        client, "POST", "/nodes/pve1/qemu", vmid=102, name="web", pool="farm", agent="1",
        scsi0=disk.replace("local-zfs", "files"), scsi1="local-zfs:1", ide2="local-zfs:cloudinit",
        net0="virtio,bridge=vmbr0,tag=5", ipconfig0="ip=dhcp", memory=64, start=1,
    )  # fmt: skip
    _ask(client, "POST", "/nodes/pve1/qemu/102/snapshot", snapname="before")
    _ask(
        client, "POST", "/nodes/pve2/qemu", vmid=103, name="db", scsi0="ceph:2", boot="order=scsi0"
    )
    _ask(client, "POST", "/nodes/pve2/qemu", vmid=104, scsi0="thin:1", efidisk0="thin:1")


def _containers(client: MemoryClient) -> None:
    template = f"local:vztmpl/{TEMPLATE}"
    for vmid, node in ((200, "pve1"), (201, "pve3")):
        _ask(
            client, "POST", f"/nodes/{node}/lxc", vmid=vmid, ostemplate=template,
            rootfs="local-zfs:1", hostname=f"box{vmid}", net0="name=eth0,bridge=vmbr0,ip=dhcp",
        )  # fmt: skip
    _ask(client, "POST", "/nodes/pve1/lxc/200/status/start")


def _cluster(client: MemoryClient) -> None:
    _ask(client, "POST", "/cluster/ha/resources", sid="vm:103", state="stopped")
    if client.cluster.is_nine:
        _ask(
            client, "POST", "/cluster/ha/rules", rule="near", type="node-affinity",
            resources="vm:103", nodes="pve1,pve2",
        )  # fmt: skip
    else:
        _ask(client, "POST", "/cluster/ha/groups", group="near", nodes="pve1,pve2")
    entry = "id=10de:1eb8,iommugroup=1,node=pve1,path=0000:01:00.0"
    _ask(client, "POST", "/cluster/mapping/pci", id="gpu", map=[entry])
    _ask(client, "POST", "/cluster/mapping/usb", id="stick", map=["id=1a86:7523,node=pve1"])
    _ask(client, "POST", "/cluster/backup", id="nightly", schedule="02:00", storage="local", all=1)
    _ask(
        client, "POST", "/cluster/replication", id="101-0", type="local", target="pve2",
        schedule="*/15",
    )  # fmt: skip
    _ask(client, "POST", "/nodes/pve1/qemu/102/firewall/rules", type="in", action="ACCEPT")
