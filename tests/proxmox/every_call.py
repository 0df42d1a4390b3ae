"""One call of every method that `ports.Proxmox` has, and a wire that only writes down."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from stockman.model.errors import StockmanError
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.problem import Problem
from stockman.proxmox.access import AccessRole, AccessRule, AccessToken, User
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.ha import HaGroup, HaResource, HaRule
from stockman.proxmox.pools import DeviceMapping
from stockman.proxmox.storages import Checksum, Download, NewVolume, Upload
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Reply, Request
from stockman.proxmox.vms import GuestRef, MigrationRequest, VmUpdate

HOST = HostName("pve1")
LOCAL = Datastore("local")
AT = GuestRef(host=HOST, vmid=Vmid(100))
CONTAINER = GuestRef(host=HOST, vmid=Vmid(200), kind="lxc")
TASK = TaskRef.parse("UPID:pve1:00000001:00000001:70DBD880:qmstart:100:root@pam:")
CHECKSUM = Checksum(algorithm="sha256", digest="0" * 64)
ROLE = AccessRole(name="Stockman", privileges=frozenset({"VM.Audit"}))
RULE = AccessRule(path="/vms", role="Stockman", kind="token", holder="a@pve!b")
GPU = DeviceMapping(
    name="gpu", kind="pci", entries=("id=10de:2204,node=pve1,path=0000:01:00.0",), mediated=True
)
NEAR = HaRule(name="near", kind="node-affinity", resources=("vm:100",), hosts={"pve1": 1})
APART = HaRule(
    name="apart", kind="resource-affinity", resources=("vm:100", "vm:101"), affinity="negative"
)
GROUP = HaGroup(name="near", hosts={"pve1": None}, restricted=True)


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


EVERY: dict[str, tuple[Callable[[ProxmoxClient], Awaitable[object]], ...]] = {
    "version": (lambda pve: pve.version(),),
    "tag_rules": (lambda pve: pve.tag_rules(),),
    "cluster_state": (lambda pve: pve.cluster_state(),),
    "resources": (lambda pve: pve.resources(),),
    "next_vmid": (lambda pve: pve.next_vmid(),),
    "is_vmid_free": (lambda pve: pve.is_vmid_free(Vmid(100)),),
    "host_time": (lambda pve: pve.host_time(HOST),),
    "host_network": (lambda pve: pve.host_network(HOST),),
    "any_bridges": (lambda pve: pve.any_bridges(HOST),),
    "pci_devices": (lambda pve: pve.pci_devices(HOST),),
    "usb_devices": (lambda pve: pve.usb_devices(HOST),),
    "host_certificates": (lambda pve: pve.host_certificates(HOST),),
    "storages": (lambda pve: pve.storages(HOST),),
    "storage_state": (lambda pve: pve.storage_state(HOST, LOCAL),),
    "volumes": (lambda pve: pve.volumes(HOST, LOCAL, content="iso", vmid=Vmid(100)),),
    "allocate_volume": (
        lambda pve: pve.allocate_volume(
            HOST, LOCAL, NewVolume(vmid=Vmid(100), name="vm-100-a.raw", size=1 << 20, format="raw")
        ),
    ),
    "delete_volume": (lambda pve: pve.delete_volume(HOST, "local:iso/a.iso"),),
    "url_facts": (lambda pve: pve.url_facts(HOST, "http://127.0.0.1/a.qcow2"),),
    "download": (
        lambda pve: pve.download(
            HOST,
            LOCAL,
            Download(
                url="http://127.0.0.1/a.iso",
                content="iso",
                name="a.iso",
                checksum=CHECKSUM,
                compression="gz",
            ),
        ),
    ),
    "upload": (
        lambda pve: pve.upload(
            HOST,
            LOCAL,
            Upload(content="iso", name="a.iso", size=0, read=_nothing, checksum=CHECKSUM),
        ),
    ),
    "vm_config": (
        lambda pve: pve.vm_config(AT, current=True),
        lambda pve: pve.vm_config(CONTAINER),
    ),
    "vm_pending": (lambda pve: pve.vm_pending(AT), lambda pve: pve.vm_pending(CONTAINER)),
    "vm_status": (lambda pve: pve.vm_status(AT), lambda pve: pve.vm_status(CONTAINER)),
    "create_vm": (
        lambda pve: pve.create_vm(AT, {"name": "cp-1", "scsi0": "local-zfs:32", "start": True}),
        lambda pve: pve.create_vm(CONTAINER, {"ostemplate": "local:vztmpl/a.tar.zst"}),
    ),
    "update_vm": (
        lambda pve: pve.update_vm(
            AT, VmUpdate(values={"cores": 2}, delete=("net1",), revert=("cpu",), digest="0" * 40)
        ),
        lambda pve: pve.update_vm(AT, VmUpdate(values={"tags": "a"}, delete=("onboot",))),
        lambda pve: pve.update_vm(CONTAINER, VmUpdate(values={"cores": 2})),
    ),
    "delete_vm": (lambda pve: pve.delete_vm(AT), lambda pve: pve.delete_vm(CONTAINER)),
    "make_template": (lambda pve: pve.make_template(AT), lambda pve: pve.make_template(CONTAINER)),
    "resize_disk": (
        lambda pve: pve.resize_disk(AT, "scsi0", "+8G"),
        lambda pve: pve.resize_disk(CONTAINER, "rootfs", "16G"),
    ),
    "unlink_disks": (lambda pve: pve.unlink_disks(AT, ("scsi1",), destroy=True),),
    "check_migration": (lambda pve: pve.check_migration(AT, HOST),),
    "migrate_vm": (
        lambda pve: pve.migrate_vm(
            AT,
            MigrationRequest(
                target=HOST, online=True, with_local_disks=True, target_storage="local"
            ),
        ),
        lambda pve: pve.migrate_vm(
            CONTAINER, MigrationRequest(target=HOST, target_storage="local")
        ),
    ),
    "start_vm": (lambda pve: pve.start_vm(AT), lambda pve: pve.start_vm(CONTAINER)),
    "stop_vm": (lambda pve: pve.stop_vm(AT), lambda pve: pve.stop_vm(CONTAINER)),
    "shutdown_vm": (
        lambda pve: pve.shutdown_vm(AT, force=True),
        lambda pve: pve.shutdown_vm(CONTAINER),
    ),
    "reboot_vm": (lambda pve: pve.reboot_vm(AT), lambda pve: pve.reboot_vm(CONTAINER)),
    "agent_answers": (lambda pve: pve.agent_answers(AT),),
    "agent_interfaces": (lambda pve: pve.agent_interfaces(AT),),
    "ha_resources": (lambda pve: pve.ha_resources(),),
    "add_ha_resource": (
        lambda pve: pve.add_ha_resource(HaResource(id="vm:100", failback=True, comment="a")),
    ),
    "update_ha_resource": (
        lambda pve: pve.update_ha_resource(HaResource(id="vm:100", state="stopped")),
    ),
    "remove_ha_resource": (lambda pve: pve.remove_ha_resource("vm:100"),),
    "ha_rules": (lambda pve: pve.ha_rules(),),
    "create_ha_rule": (
        lambda pve: pve.create_ha_rule(NEAR),
        lambda pve: pve.create_ha_rule(APART),
    ),
    "update_ha_rule": (lambda pve: pve.update_ha_rule(NEAR),),
    "delete_ha_rule": (lambda pve: pve.delete_ha_rule("near"),),
    "ha_groups": (lambda pve: pve.ha_groups(),),
    "create_ha_group": (lambda pve: pve.create_ha_group(GROUP),),
    "delete_ha_group": (lambda pve: pve.delete_ha_group("near"),),
    "pools": (lambda pve: pve.pools(),),
    "pool": (lambda pve: pve.pool("a"),),
    "create_pool": (lambda pve: pve.create_pool("a", "b"),),
    "add_to_pool": (lambda pve: pve.add_to_pool("a", vms=(100,), storages=("local",)),),
    "delete_pool": (lambda pve: pve.delete_pool("a"),),
    "mappings": (lambda pve: pve.mappings("pci"),),
    "create_mapping": (lambda pve: pve.create_mapping(GPU),),
    "update_mapping": (lambda pve: pve.update_mapping(GPU),),
    "users": (lambda pve: pve.users(),),
    "create_user": (lambda pve: pve.create_user(User(id="a@pve", comment="b", groups=("c",))),),
    "delete_user": (lambda pve: pve.delete_user("a@pve"),),
    "roles": (lambda pve: pve.roles(),),
    "create_role": (lambda pve: pve.create_role(ROLE),),
    "update_role": (lambda pve: pve.update_role(ROLE),),
    "delete_role": (lambda pve: pve.delete_role("Stockman"),),
    "tokens": (lambda pve: pve.tokens("a@pve"),),
    "create_token": (
        lambda pve: pve.create_token("a@pve", AccessToken(name="b", comment="c", expires=1)),
    ),
    "delete_token": (lambda pve: pve.delete_token("a@pve", "b"),),
    "access_rules": (lambda pve: pve.access_rules(),),
    "grant": (lambda pve: pve.grant(RULE),),
    "revoke": (lambda pve: pve.revoke(RULE),),
    "permissions": (lambda pve: pve.permissions("/vms"),),
    "replication_jobs": (lambda pve: pve.replication_jobs(),),
    "replication_states": (lambda pve: pve.replication_states(HOST),),
    "task_state": (lambda pve: pve.task_state(TASK),),
    "task_log": (lambda pve: pve.task_log(TASK),),
    "wait_task": (lambda pve: pve.wait_task(TASK),),
    "past_tasks": (lambda pve: pve.past_tasks(HOST),),
}


class Heard(StockmanError):
    """Ends a call once it was written down."""

    def __init__(self) -> None:
        super().__init__(Problem(code="heard", what="", why="", fix=""))


class Notebook:
    """A wire that writes down what it is asked, and answers nothing."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def call(self, request: Request) -> Reply:
        self.asked.append(request)
        raise Heard
