"""A very small Proxmox VE with real state: two hosts, two storages, and what is made of them.

It answers in the shapes of the real one, for as much as the contract touches. Tasks run as long as
they are not looked at, and have ended at the second look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha1
from uuid import UUID

from tests.adapters.http_proxmox.scripted import Answer, Asked, died, wrong
from tests.contract.proxmox.small_access import SmallAccess
from tests.contract.proxmox.small_routes import SHAPES, on

HOSTS = ("pve1", "pve2")
GIB = 1 << 30


@dataclass
class Guest:
    """A VM or container."""

    host: str
    kind: str
    config: dict[str, str]
    running: bool = False
    lock: str = ""

    @property
    def digest(self) -> str:
        return sha1(repr(sorted(self.config.items())).encode()).hexdigest()


@dataclass
class Task:
    """A task that has ended, though it does not say so at once."""

    status: str
    log: list[str]
    looks: int = 0


class SmallPve(SmallAccess):
    """The state, and one method for each call."""

    def __init__(self) -> None:
        super().__init__()
        self.guests: dict[int, Guest] = {}
        self.tasks: dict[str, Task] = {}
        self.volumes: dict[str, dict[str, object]] = {}
        self.release = "9.1.4"
        self.quorate = True
        self.offline: set[str] = set()
        self.bridges = {host: ["vmbr0"] for host in HOSTS}
        self.vnets: list[str] = []
        self.time = 1893456000
        """The beginning of 2030."""
        self.replication: dict[str, dict[str, object]] = {}

    def __call__(self, request: Asked) -> Answer:
        for method, form, name in SHAPES:
            found = form.fullmatch(request.path)
            if found is not None and method == request.method:
                answer: Answer = getattr(self, name)(request, **found.groupdict())
                return answer
        told = f"Method '{request.method} {request.path}' not implemented"
        return Answer(status=501, reason=told, message=told)

    def _task(self, host: str, kind: str, subject: object, status: str = "OK") -> Answer:
        number = len(self.tasks) + 1
        upid = f"UPID:{host}:{number:08X}:{number:08X}:70DBD880:{kind}:{subject}:root@pam:"
        end = f"TASK {status}" if status == "OK" else f"TASK ERROR: {status}"
        self.tasks[upid] = Task(status, [f"began {kind}", end])
        return Answer(upid)

    def _guest(self, host: str, kind: str, vmid: str) -> Guest | None:
        guest = self.guests.get(int(vmid))
        return guest if guest and (guest.host, guest.kind) == (host, kind) else None

    @on("GET", "/version")
    def version(self, request: Asked) -> Answer:
        release = self.release.rpartition(".")[0]
        return Answer({"version": self.release, "release": release, "repoid": "5ac30304265fbd8e"})

    @on("GET", "/nodes/{host}/time")
    def clock(self, request: Asked, host: str) -> Answer:
        return Answer({"time": self.time, "localtime": self.time + 3600, "timezone": "CET"})

    @on("GET", "/cluster/replication")
    def replication_jobs(self, request: Asked) -> Answer:
        return Answer([
            {"id": name, "guest": facts["guest"], "target": facts["target"], "type": "local"}
            for name, facts in self.replication.items()
        ])  # fmt: skip

    @on("GET", "/nodes/{host}/replication")
    def replication_states(self, request: Asked, host: str) -> Answer:
        return Answer([{"id": name, **facts} for name, facts in self.replication.items()])

    @on("GET", "/cluster/status")
    def cluster_status(self, request: Asked) -> Answer:
        rows: list[dict[str, object]] = [
            {
                "type": "cluster",
                "id": "cluster",
                "name": "lab",
                "nodes": 2,
                "quorate": int(self.quorate),
                "version": 2,
            }
        ]
        rows += [
            {"type": "node", "id": f"node/{name}", "name": name, "nodeid": number, "online": 1,
             "ip": f"127.66.0.{number}", "local": int(number == 1), "level": ""}
            for number, name in enumerate(HOSTS, 1)
        ]  # fmt: skip
        return Answer(rows)

    @on("GET", "/cluster/resources")
    def cluster_resources(self, request: Asked) -> Answer:
        return Answer([*self._host_rows(), *self._guest_rows(), *self._storage_rows()])

    def _host_rows(self) -> Iterable[dict[str, object]]:
        for name in HOSTS:
            yield {
                "type": "node", "id": f"node/{name}", "node": name,
                "status": "offline" if name in self.offline else "online",
                "maxcpu": 16, "cpu": 0.02, "maxmem": 64 * GIB, "mem": 4 * GIB, "uptime": 8000,
            }  # fmt: skip

    def _guest_rows(self) -> Iterable[dict[str, object]]:
        for vmid, guest in self.guests.items():
            yield {
                "type": guest.kind, "id": f"{guest.kind}/{vmid}", "vmid": vmid,
                "node": guest.host, "status": "running" if guest.running else "stopped",
                "name": guest.config.get("name", f"VM {vmid}"),
                "template": int(guest.config.get("template", "0")),
                "maxcpu": int(guest.config.get("cores", "1")), "tags": guest.config.get("tags", ""),
                "maxmem": int(guest.config.get("memory", "512")) << 20,
            }  # fmt: skip

    def _storage_rows(self) -> Iterable[dict[str, object]]:
        for host in HOSTS:
            for row in self._storages():
                yield {
                    "type": "storage", "id": f"storage/{host}/{row['storage']}", "node": host,
                    "storage": row["storage"], "status": "available", "plugintype": row["type"],
                    "shared": 0, "content": row["content"],
                    "maxdisk": row["total"], "disk": row["used"],
                }  # fmt: skip

    def _storages(self) -> list[dict[str, object]]:
        state = {"active": 1, "enabled": 1, "shared": 0, "total": 100 * GIB, "used": GIB}
        return [
            {"storage": "local", "type": "dir", "content": "iso,vztmpl,import", **state,
             "avail": 99 * GIB},
            {"storage": "local-zfs", "type": "zfspool", "content": "images,rootdir", **state,
             "avail": 99 * GIB},
        ]  # fmt: skip

    @on("GET", "/cluster/nextid")
    def nextid(self, request: Asked) -> Answer:
        vmid = request.values.get("vmid")
        if vmid is None:
            return Answer(str(next(n for n in range(100, 10**6) if n not in self.guests)))
        return wrong(vmid=f"VM {vmid} already exists") if int(vmid) in self.guests else Answer(vmid)

    @on("GET", "/nodes/{host}/network")
    def network(self, request: Asked, host: str) -> Answer:
        vnets = [{"iface": name, "type": "vnet", "active": 1} for name in self.vnets]
        if request.values.get("type") == "any_bridge":
            return Answer([*({"iface": name} for name in self.bridges[host]), *vnets])
        port = {"iface": "eno1", "type": "eth", "active": 1, "exists": 1, "priority": 3}
        return Answer([port, *(
            {"iface": name, "type": "bridge", "active": 1, "autostart": 1, "mtu": "1500",
             "cidr": "127.66.0.1/24", "bridge_ports": "eno1", "bridge_vlan_aware": 1,
             "bridge_vids": "2-4094"}
            for name in self.bridges[host]
        )])  # fmt: skip

    @on("GET", "/nodes/{host}/storage")
    def storages(self, request: Asked, host: str) -> Answer:
        return Answer(self._storages())

    @on("GET", "/nodes/{host}/storage/{storage}/status")
    def storage_status(self, request: Asked, host: str, storage: str) -> Answer:
        storages = [row for row in self._storages() if row["storage"] == storage]
        if not storages:
            return wrong(storage="No such storage.")
        return Answer({key: value for key, value in storages[0].items() if key != "storage"})

    @on("GET", "/nodes/{host}/storage/{storage}/content")
    def content(self, request: Asked, host: str, storage: str) -> Answer:
        kind = request.values.get("content")
        return Answer([
            row for volid, row in self.volumes.items()
            if volid.startswith(f"{storage}:") and kind in (None, row["content"])
        ])  # fmt: skip

    @on("POST", "/nodes/{host}/storage/{storage}/content")
    def allocate(self, request: Asked, host: str, storage: str) -> Answer:
        values = request.values
        volid = f"{storage}:{values['filename']}"
        self.volumes[volid] = {
            "volid": volid, "content": "images", "format": "raw",
            "size": int(values["size"]) * 1024, "vmid": int(values["vmid"]),
        }  # fmt: skip
        return Answer(volid)

    @on("DELETE", "/nodes/{host}/storage/{storage}/content/{rest}")
    def delete_volume(self, request: Asked, host: str, storage: str, rest: str) -> Answer:
        missing = self.volumes.pop(rest, None) is None
        return self._task(host, "imgdel", storage, "volume does not exist" if missing else "OK")

    @on("POST", "/nodes/{host}/storage/{storage}/upload")
    def upload(self, request: Asked, host: str, storage: str) -> Answer:
        name = re.search(rb'filename="([^"]+)"', request.body)
        kind = re.search(rb'name="content"\r\n\r\n(\w+)', request.body)
        if name is None or kind is None or request.body.index(b'"content"') > name.start():
            return wrong(content="property is missing and it is not optional")
        sent = request.body.split(b"\r\n\r\n")[-1].rsplit(b"\r\n--", 1)[0]
        volid = f"{storage}:{kind[1].decode()}/{name[1].decode()}"
        self.volumes[volid] = {
            "volid": volid, "content": kind[1].decode(), "format": "iso", "size": len(sent),
        }  # fmt: skip
        return self._task("pve1", "imgcopy", "")

    @on("POST", "/nodes/{host}/qemu")
    def create(self, request: Asked, host: str) -> Answer:
        config = request.values
        vmid = int(config.pop("vmid"))
        if vmid in self.guests:
            at = self.guests[vmid].host
            return died(f"unable to create VM {vmid} - VM {vmid} already exists on node '{at}'")
        config.setdefault("smbios1", f"uuid={UUID(int=vmid)}")
        self.guests[vmid] = Guest(host=host, kind="qemu", config=config)
        return self._task(host, "qmcreate", vmid)

    @on("GET", "/nodes/{host}/{kind}/{vmid}/config")
    def config(self, request: Asked, host: str, kind: str, vmid: str) -> Answer:
        guest = self._guest(host, kind, vmid)
        if guest is None:
            return self._no_guest(host, vmid)
        numbers = {
            key: int(value) if key in ("cores", "sockets") else value
            for key, value in guest.config.items()
        }
        return Answer({**numbers, "digest": guest.digest})

    def _no_guest(self, host: str, vmid: str) -> Answer:
        return died(f"Configuration file 'nodes/{host}/qemu-server/{vmid}.conf' does not exist")

    @on("POST", "/nodes/{host}/{kind}/{vmid}/config")
    def update(self, request: Asked, host: str, kind: str, vmid: str) -> Answer:
        guest = self._guest(host, kind, vmid)
        if guest is None:
            return self._no_guest(host, vmid)
        if guest.lock:
            return died(f"VM is locked ({guest.lock})")
        values = request.values
        if values.pop("digest", guest.digest) != guest.digest:
            return died("checksum mismatch (file change by other user?)")
        for key in filter(None, values.pop("delete", "").split(",")):
            guest.config.pop(key, None)
        guest.config.update(values)
        return self._task(host, "qmconfig", vmid)

    @on("PUT", "/nodes/{host}/{kind}/{vmid}/config")
    def update_at_once(self, request: Asked, host: str, kind: str, vmid: str) -> Answer:
        answer = self.update(request, host, kind, vmid)
        return Answer() if answer.reason == "OK" else answer

    @on("GET", "/nodes/{host}/{kind}/{vmid}/status/current")
    def current(self, request: Asked, host: str, kind: str, vmid: str) -> Answer:
        guest = self._guest(host, kind, vmid)
        if guest is None:
            return self._no_guest(host, vmid)
        status = "running" if guest.running else "stopped"
        return Answer({
            "vmid": int(vmid), "status": status, "qmpstatus": status, "ha": {"managed": 0},
            "name": guest.config.get("name", f"VM {vmid}"), "cpus": 1, "maxmem": 512 << 20,
            "uptime": 0, **({"lock": guest.lock} if guest.lock else {}),
            **({"template": 1} if guest.config.get("template") == "1" else {}),
        })  # fmt: skip

    @on("POST", "/nodes/{host}/{kind}/{vmid}/status/{command}")
    def switch(self, request: Asked, host: str, kind: str, vmid: str, command: str) -> Answer:
        guest = self._guest(host, kind, vmid)
        if guest is None:
            return self._no_guest(host, vmid)
        if command == "start" and guest.running:
            return self._task(host, "qmstart", vmid, f"VM {vmid} already running")
        if command in ("reboot", "reset") and not guest.running:
            return died(f"VM {vmid} not running")
        guest.running = command not in ("stop", "shutdown")
        return self._task(host, f"qm{command}", vmid)

    @on("DELETE", "/nodes/{host}/{kind}/{vmid}")
    def destroy(self, request: Asked, host: str, kind: str, vmid: str) -> Answer:
        guest = self._guest(host, kind, vmid)
        if guest is None:
            return self._no_guest(host, vmid)
        if guest.running:
            return died(f"VM {vmid} is running - destroy failed")
        del self.guests[int(vmid)]
        return self._task(host, "qmdestroy", vmid)

    @on("POST", "/nodes/{host}/qemu/{vmid}/agent/ping")
    def ping(self, request: Asked, host: str, vmid: str) -> Answer:
        guest = self._guest(host, "qemu", vmid)
        if guest is None:
            return self._no_guest(host, vmid)
        if not guest.running:
            return died(f"VM {vmid} is not running")
        return died("No QEMU guest agent configured")

    @on("GET", "/nodes/{host}/tasks/{upid}/status")
    def task_status(self, request: Asked, host: str, upid: str) -> Answer:
        task = self.tasks.get(upid)
        if task is None or not upid.startswith(f"UPID:{host}:"):
            return wrong(upid="no such task")
        task.looks += 1
        if task.looks == 1:
            return Answer({"upid": upid, "status": "running"})
        return Answer({"upid": upid, "status": "stopped", "exitstatus": task.status})

    @on("GET", "/nodes/{host}/tasks/{upid}/log")
    def task_log(self, request: Asked, host: str, upid: str) -> Answer:
        lines = self.tasks[upid].log
        start, limit = int(request.values.get("start", "0")), int(request.values.get("limit", "50"))
        rows = [{"n": number, "t": line} for number, line in enumerate(lines, 1)]
        return Answer(rows[start : start + limit], more={"total": len(lines)})
