"""What somebody does with proxmoxer: each answer is held against what the schema promises."""

from __future__ import annotations

import io
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast

from proxmoxer import ProxmoxAPI, ResourceException
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.testing.thread import ProxmoxLab

from lab.tests.departures import unpromised
from lab.tests.populated import image

_PATIENCE = 200


class Script:
    """Operations one after another, counted and judged."""

    def __init__(self, lab: ProxmoxLab, profile: str) -> None:
        self.lab = lab
        self.count = 0
        self.wrong: list[str] = []
        self._schema = Schema.of(profile)
        user, _, token = lab.token_id.partition("!")
        self.api = ProxmoxAPI(
            lab.endpoint.removeprefix("https://"),
            user=user,
            token_name=token,
            token_value=lab.token_secret,
            verify_ssl=str(lab.ca),
            timeout=60,
        )

    def get(self, path: str, /, **params: object) -> Any:  # what JSON holds
        return self.do("GET", path, **params)

    def post(self, path: str, /, **params: object) -> Any:
        return self.do("POST", path, **params)

    def put(self, path: str, /, **params: object) -> Any:
        return self.do("PUT", path, **params)

    def delete(self, path: str, /, **params: object) -> Any:
        return self.do("DELETE", path, **params)

    def do(self, method: str, path: str, /, **params: object) -> Any:
        """One operation; a task that it starts is waited for and has to end well."""
        values = {name.replace("__", "-"): value for name, value in params.items()}
        send = cast("Callable[..., object]", getattr(self.api(path), method.lower()))
        found = send(**values)
        self.count += 1
        operation = self._schema.route(method, f"/{path}").operation
        self.wrong += [f"{method} {path}: {one}" for one in unpromised(operation, found)]
        if isinstance(found, str) and found.startswith("UPID:"):
            self._ended(found)
        return found

    def refused(self, status: int, text: str, method: str, path: str, /, **params: object) -> None:
        """One operation that has to be refused in these words."""
        self.count += 1
        try:
            cast("Callable[..., object]", getattr(self.api(path), method.lower()))(**params)
        except ResourceException as error:
            said = f"{error.status_code} {error.content} {error.errors}"
            if error.status_code != status or text not in said:
                self.wrong.append(f"{method} {path}: {said}, not {status} {text}")
            return
        self.wrong.append(f"{method} {path}: it was not refused")

    def _ended(self, upid: str) -> None:
        node = upid.split(":")[1]
        for _ in range(_PATIENCE):
            status = self.get_status(node, upid)
            if status["status"] == "stopped":
                if status["exitstatus"] != "OK":
                    self.wrong.append(f"{upid}: {status['exitstatus']}")
                return
            self.lab.settle()
        self.wrong.append(f"{upid}: it never ends")

    def get_status(self, node: str, upid: str) -> dict[str, object]:
        return cast("dict[str, object]", self.api.nodes(node).tasks(upid).status.get())


def whole(script: Script, *, nine: bool) -> None:
    """Everything, from people to guests and back."""
    _look(script)
    _people(script)
    _storage(script)
    _network(script)
    _cluster(script, nine=nine)
    _machines(script, nine=nine)
    _containers(script)
    _leave(script, nine=nine)


def _look(s: Script) -> None:
    s.get("version")
    s.get("cluster/status")
    s.get("cluster/resources")
    for kind in ("vm", "node", "storage"):
        s.get("cluster/resources", type=kind)
    s.get("cluster/nextid")
    s.get("cluster/tasks")
    s.get("cluster/options")
    s.get("nodes")
    for node in ("pve1", "pve2", "pve3"):
        s.get(f"nodes/{node}/status")
        s.get(f"nodes/{node}/network")
    s.get("nodes/pve1/version")
    s.get("nodes/pve1/hardware/pci")
    s.get("nodes/pve1/hardware/usb")
    s.get("nodes/pve1/disks/list")
    s.get("nodes/pve1/dns")
    s.get("nodes/pve1/time")
    s.get("nodes/pve1/tasks", source="all")
    s.refused(HTTPStatus.NOT_IMPLEMENTED, "not implemented", "GET", "no/such/path")
    s.refused(500, "hostname lookup 'pve9' failed", "GET", "nodes/pve9/status")


def _people(s: Script) -> None:
    s.post("access/groups", groupid="staff", comment="who works here")
    s.get("access/groups")
    s.get("access/groups/staff")
    s.post("access/roles", roleid="Keeper", privs="VM.Audit,VM.PowerMgmt")
    s.get("access/roles")
    s.get("access/roles/Keeper")
    s.put("access/roles/Keeper", privs="VM.Console", append=1)
    s.post("access/users", userid="ann@pve", groups="staff", email="ann@stockman.invalid")
    s.get("access/users")
    s.get("access/users", full=1)
    s.get("access/users/ann@pve")
    s.put("access/users/ann@pve", comment="first of all")
    token = s.post("access/users/ann@pve/token/robot", privsep=0)
    s.get("access/users/ann@pve/token")
    s.get("access/users/ann@pve/token/robot")
    s.put("access/acl", path="/vms", roles="Keeper", users="ann@pve")
    s.get("access/acl")
    s.get("access/permissions", userid="ann@pve")
    s.get("access/domains")
    s.refused(500, "user 'ann@pve' already exists", "POST", "access/users", userid="ann@pve")
    if token["full-tokenid"] != "ann@pve!robot":
        s.wrong.append(f"a token called {token['full-tokenid']}")


def _storage(s: Script) -> None:
    s.get("storage")
    s.post("storage", storage="more", type="dir", path="/srv/files", content="iso,import,images")
    s.get("storage/more")
    s.put("storage/more", content="iso,images,vztmpl")
    s.get("nodes/pve1/storage")
    s.get("nodes/pve1/storage", content="images")
    s.get("nodes/pve1/storage/local/status")
    name = s.post(
        "nodes/pve1/storage/local-zfs/content", vmid=9999, filename="vm-9999-pvc-1", size="1G"
    )
    s.get("nodes/pve1/storage/local-zfs/content")
    s.get(f"nodes/pve1/storage/local-zfs/content/{name}")
    s.delete(f"nodes/pve1/storage/local-zfs/content/{name}")
    upload = io.BytesIO(image())
    upload.name = "cd.iso"
    s.post("nodes/pve1/storage/local/upload", content="iso", filename=upload)
    disk = io.BytesIO(image())
    disk.name = "image.qcow2"
    s.post("nodes/pve1/storage/local/upload", content="import", filename=disk)
    s.get("nodes/pve1/storage/local/content", content="iso")
    s.get("nodes/pve1/storage/local/content", content="import")
    s.refused(500, "storage 'absent' does not exist", "GET", "storage/absent")


def _network(s: Script) -> None:
    s.post("nodes/pve1/network", iface="vmbr5", type="bridge", autostart=1)
    s.get("nodes/pve1/network/vmbr5")
    s.put("nodes/pve1/network/vmbr5", type="bridge", comments="for tests", autostart=1)
    s.put("nodes/pve1/network")
    s.get("nodes/pve1/network", type="any_bridge")
    s.refused(400, "interface already exists", "POST", "nodes/pve1/network", iface="vmbr5",
              type="bridge")  # fmt: skip
    s.delete("nodes/pve1/network/vmbr5")
    s.put("nodes/pve1/network")


def _cluster(s: Script, *, nine: bool) -> None:
    s.post("pools", poolid="farm", comment="all of it")
    s.get("pools")
    s.get("pools/farm")
    entry = "id=10de:1eb8,iommugroup=1,node=pve1,path=0000:01:00.0"
    s.post("cluster/mapping/pci", id="gpu", map=[entry], description="one card")
    s.get("cluster/mapping/pci")
    s.get("cluster/mapping/pci", **{"check-node": "pve1"})
    s.get("cluster/mapping/pci/gpu")
    s.post("cluster/mapping/usb", id="stick", map=["id=1a86:7523,node=pve1"])
    s.get("cluster/mapping/usb/stick")
    s.post("cluster/backup", id="nightly", schedule="02:00", storage="local", all=1)
    s.get("cluster/backup")
    s.get("cluster/backup/nightly")
    s.put("cluster/backup/nightly", comment="every night", enabled=0)
    s.get("cluster/ha/status/current")
    if not nine:
        s.post("cluster/ha/groups", group="near", nodes="pve1,pve2")
        s.get("cluster/ha/groups")
        s.get("cluster/ha/groups/near")


def _machines(s: Script, *, nine: bool) -> None:
    on = "nodes/pve1/qemu"
    s.post(
        on, vmid=100, name="base", memory=512, cores=1, scsihw="virtio-scsi-single",
        scsi0="local-zfs:0,import-from=local:import/image.qcow2", net0="virtio,bridge=vmbr0",
        agent="enabled=1", ide2="local-zfs:cloudinit", ipconfig0="ip=dhcp",
    )  # fmt: skip
    s.get(on)
    s.get(f"{on}/100/config")
    s.get(f"{on}/100/pending")
    s.get(f"{on}/100/status/current")
    s.put(f"{on}/100/config", description="what others are made of", tags="b;a")
    s.put(f"{on}/100/resize", disk="scsi0", size="3G")
    s.post(f"{on}/100/template")
    s.post(f"{on}/100/clone", newid=101, name="web", pool="farm")
    s.post(f"{on}/100/clone", newid=102, name="db", full=1, storage="thin")
    s.post(f"{on}/101/config", cores=2, scsi1="local-zfs:1", net1="virtio,bridge=vmbr0,tag=7")
    s.get(f"{on}/101/config", current=1)
    s.post(f"{on}/101/status/start")
    s.lab.advance(120)
    s.get(f"{on}/101/status/current")
    s.get(f"{on}/101/agent/network-get-interfaces")
    s.get(f"{on}/101/agent/get-osinfo")
    s.post(f"{on}/101/agent/ping")
    s.get(f"{on}/101/cloudinit")
    s.get(f"{on}/101/cloudinit/dump", type="network")
    s.refused(500, "VM 101 is running - destroy failed", "DELETE", f"{on}/101")
    s.post(f"{on}/101/status/reboot")
    s.lab.advance(120)
    s.post(f"{on}/101/status/shutdown")
    s.post(f"{on}/101/snapshot", snapname="before", description="all is well")
    s.get(f"{on}/101/snapshot")
    s.get(f"{on}/101/snapshot/before/config")
    s.post(f"{on}/101/snapshot/before/rollback")
    s.delete(f"{on}/101/snapshot/before")
    s.put(f"{on}/101/unlink", idlist="scsi1")
    s.post(f"{on}/102/move_disk", disk="scsi0", storage="local-zfs", delete=1)
    s.post("cluster/ha/resources", sid="vm:101", state="stopped")
    s.get("cluster/ha/resources")
    s.get("cluster/ha/resources/vm:101")
    if nine:
        s.post("cluster/ha/rules", rule="near", type="node-affinity", resources="vm:101",
               nodes="pve1,pve2")  # fmt: skip
        s.get("cluster/ha/rules")
        s.get("cluster/ha/rules/near")
    s.get(f"{on}/101/firewall/options")
    s.put(f"{on}/101/firewall/options", enable=1)
    s.post(f"{on}/101/firewall/rules", type="in", action="ACCEPT", enable=1)
    s.get(f"{on}/101/firewall/rules")
    s.post("cluster/replication", id="101-0", type="local", target="pve2", schedule="*/15")
    s.get("cluster/replication")
    s.get("cluster/replication/101-0")


def _containers(s: Script) -> None:
    from stockman_lab.images.system_archive import system_archive

    archive = io.BytesIO(system_archive("debian", "12"))
    archive.name = "debian-12-standard_12.7-1_amd64.tar.gz"
    s.post("nodes/pve2/storage/local/upload", content="vztmpl", filename=archive)
    on = "nodes/pve2/lxc"
    s.post(
        on, vmid=200, ostemplate=f"local:vztmpl/{archive.name}", rootfs="local-zfs:1",
        hostname="box", net0="name=eth0,bridge=vmbr0,ip=dhcp", memory=256, unprivileged=1,
    )  # fmt: skip
    s.get(on)
    s.get(f"{on}/200/config")
    s.put(f"{on}/200/config", description="small")
    s.post(f"{on}/200/status/start")
    s.get(f"{on}/200/status/current")
    s.get(f"{on}/200/interfaces")
    s.put(f"{on}/200/resize", disk="rootfs", size="2G")
    s.post(f"{on}/200/status/shutdown")
    s.delete(f"{on}/200")


def _leave(s: Script, *, nine: bool) -> None:
    on = "nodes/pve1/qemu"
    s.delete("cluster/replication/101-0", force=1)
    if nine:
        s.delete("cluster/ha/rules/near")
    s.delete("cluster/ha/resources/vm:101")
    if not nine:
        s.delete("cluster/ha/groups/near")
    s.delete(f"{on}/101", purge=1)
    s.delete(f"{on}/102", purge=1)
    s.delete(f"{on}/100", purge=1)
    s.delete("cluster/backup/nightly")
    s.delete("cluster/mapping/usb/stick")
    s.delete("cluster/mapping/pci/gpu")
    s.delete("pools/farm")
    for name in ("iso/cd.iso", "import/image.qcow2"):
        s.delete(f"nodes/pve1/storage/local/content/local:{name}")
    s.delete("storage/more")
    s.delete("access/users/ann@pve")
    s.delete("access/roles/Keeper")
    s.delete("access/groups/staff")
