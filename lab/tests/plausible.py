"""Values that a parameter of a request could have: such as make sense in a world, and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from stockman_lab.core.dice import Dice
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.drive_names import is_drive
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.schema.shape import NUMBERED, Shape

from lab.tests.populated import IMAGE_URL, TEMPLATE, USER


@dataclass(slots=True)
class Scene:
    """A world to find values in, and what a request has so far."""

    cluster: Cluster
    dice: Dice
    path: str
    chosen: dict[str, object] = field(default_factory=dict)

    def some(self, found: Iterable[object], other: object) -> object:
        """One of what was found, and something else where that is nothing."""
        items = list(found)
        return self.dice.one_of(items) if items else other

    @property
    def kind(self) -> str:
        """The kind of guests that the path is about. Empty: any."""
        return next((kind for kind in ("qemu", "lxc") if f"/{kind}" in self.path), "")

    @property
    def about_agent(self) -> bool:
        return "/agent" in self.path

    @property
    def guest(self) -> Guest | None:
        vmid = self.chosen.get("vmid")
        return self.cluster.state.guests.get(vmid) if isinstance(vmid, int) else None

    def guests(self) -> list[Guest]:
        return [
            guest for guest in self.cluster.state.guests.values() if self.kind in ("", guest.kind)
        ]


def value(scene: Scene, name: str, shape: Shape) -> object:
    """Something that could be meant."""
    stem = name.rstrip("0123456789") if name[-1:].isdigit() else name
    in_path = IN_PATHS.get((scene.path, name))
    in_path = in_path or VALUES.get(name) or VALUES.get(stem) or VALUES.get(f"{stem}{NUMBERED}")
    if in_path is not None:
        return in_path(scene)
    return by_shape(scene, shape)


def by_shape(scene: Scene, shape: Shape) -> object:
    """Something that fits a shape as far as the shape itself tells."""
    dice = scene.dice
    if shape.options:
        return dice.one_of(shape.options)
    match shape.kind:
        case "boolean":
            return dice.below(2)
        case "integer" | "number":
            least = int(float(shape.least)) if shape.least is not None else 0
            most = int(float(shape.most)) if shape.most is not None else least + 64
            return least + dice.below(min(most - least, 4096) + 1)
        case "array":
            item = by_shape(scene, shape.items) if shape.items is not None else "item"
            return [item]
        case "null":
            return None
        case _:
            return _by_form(scene, shape)


def _by_form(scene: Scene, shape: Shape) -> object:
    form = FORMS.get(shape.form)
    if form is not None:
        return form(scene)
    if shape.form.endswith("-list") and shape.form.removesuffix("-list") in FORMS:
        return FORMS[shape.form.removesuffix("-list")](scene)
    return scene.dice.one_of(("word", "two", "some-name", "1", "enabled=1"))


def _node(scene: Scene) -> object:
    guest = scene.guest
    if guest is not None and scene.dice.below(10):
        return guest.node
    return scene.some(scene.cluster.state.hosts, "pve1")


def _vmid(scene: Scene) -> object:
    if scene.about_agent and scene.dice.below(4):
        return 102
    return scene.some((guest.vmid for guest in scene.guests()), 100)


def _new_vmid(scene: Scene) -> object:
    return 100 + scene.dice.below(60)


def _storage(scene: Scene) -> object:
    return scene.some(scene.cluster.state.storages, "local")


def _volume(scene: Scene) -> object:
    state = scene.cluster.state
    storage = scene.chosen.get("storage")
    mine = [volume for volume in state.volumes.values() if storage in (None, volume.storage)]
    return scene.some((one.id for one in mine), "local-zfs:vm-100-disk-0")


def _volume_of_guest(scene: Scene) -> str:
    state = scene.cluster.state
    ids = [volume.id for volume in state.volumes.values() if volume.content in ("images", "iso")]
    return str(scene.some(ids, "local-zfs:vm-100-disk-0"))


def _drive(scene: Scene) -> object:
    images = ("local-zfs", "thin", "files", "ceph", str(_storage(scene)))
    store = scene.dice.one_of(images)
    return scene.dice.one_of(
        (
            f"{store}:1",
            f"{store}:1,discard=on,ssd=1",
            f"{store}:0.5,iothread=1",
            f"{store}:0,import-from=local:import/image.qcow2",
            f"{store}:1,format=qcow2",
            f"{store}:cloudinit",
            "local:iso/cd.iso,media=cdrom",
            "none,media=cdrom",
            "none",
            "cdrom",
            "/dev/sdb",
            _volume_of_guest(scene),
            f"{_volume_of_guest(scene)},backup=0,wwn=0x5056432d49443031",
        )
    )


def _nic(scene: Scene) -> object:
    if scene.kind == "lxc":
        return scene.dice.one_of(
            (
                "name=eth0,bridge=vmbr0,ip=dhcp",
                "name=eth1,bridge=vmbr0,ip=127.66.9.9/16,gw=127.66.0.1,tag=5",
                "name=eth0,bridge=vmbr9",
            )
        )
    return scene.dice.one_of(
        (
            "virtio,bridge=vmbr0",
            "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=7,firewall=1",
            "model=e1000,bridge=vmbr0,link_down=1",
            "virtio,bridge=vmbr9",
        )
    )


def _mount(scene: Scene) -> object:
    place = "" if "rootfs" in scene.chosen or scene.dice.below(2) else ",mp=/srv"
    return scene.dice.one_of(("local-zfs:1", "files:1", "thin:1", "/mnt,mp=/mnt")) + place


def _keys_of_guest(scene: Scene) -> object:
    guest = scene.guest
    keys = list(guest.config.values) if guest is not None else []
    return scene.some(keys, "scsi1")


def _disk_key(scene: Scene) -> object:
    guest = scene.guest
    if guest is None:
        return "scsi0"
    if guest.kind == "lxc":
        return "rootfs"
    return scene.some((key for key in guest.config.values if is_drive(key)), "scsi0")


def _snapshot(scene: Scene) -> object:
    guest = scene.guest
    names = list(guest.config.snapshots) if guest is not None else []
    return scene.some([*names, "before", "after"], "before")


def _upid(scene: Scene) -> object:
    tasks = scene.cluster.state.tasks.values()
    node = scene.chosen.get("node")
    return scene.some((task.upid for task in tasks if node in (None, task.node)), "UPID:pve1:x")


def _identifier(scene: Scene) -> object:
    state = scene.cluster.state
    if "/mapping/" in scene.path:
        kind = scene.path.split("/")[3]
        return scene.some([*state.mappings.get(kind, {}), "extra"], "extra")
    if "/backup" in scene.path:
        return scene.some([*state.backup_jobs, "weekly"], "weekly")
    if "/replication" in scene.path:
        new = f"{_vmid(scene)}-{scene.dice.below(2)}"
        return scene.some([*state.replication, new], new)
    return "some-id"


def _tokens(scene: Scene) -> object:
    users = scene.cluster.state.access.users.values()
    return scene.some((name for user in users for name in user.tokens), "robot")


def _name(scene: Scene) -> object:
    if "/firewall/" in scene.path:
        return scene.dice.one_of(("blue", "red", "green"))
    return scene.dice.one_of(("web", "db-1", "not_a_name"))


def _group(scene: Scene) -> object:
    state = scene.cluster.state
    if "/firewall" in scene.path:
        return scene.some([*state.firewall_groups, "web2"], "web")
    return scene.some([*state.ha_groups, "far"], "far")


def _said(*texts: object) -> Callable[[Scene], object]:
    return lambda scene: scene.dice.one_of(texts)


def _of_state(attribute: str, *new: object) -> Callable[[Scene], object]:
    return lambda scene: scene.some([*getattr(scene.cluster.state, attribute), *new], new[0])


def _of_access(attribute: str, *new: object) -> Callable[[Scene], object]:
    return lambda scene: scene.some([*getattr(scene.cluster.state.access, attribute), *new], new[0])


VALUES: dict[str, Callable[[Scene], object]] = {
    "node": _node,
    "target": _node,
    "target_node": _node,
    "vmid": _vmid,
    "vms": _vmid,
    "guest": _vmid,
    "newid": _new_vmid,
    "target-vmid": _vmid,
    "storage": _storage,
    "targetstorage": _storage,
    "target-storage": _storage,
    "vmstatestorage": _storage,
    "volume": _volume,
    "archive": _volume,
    "upid": _upid,
    "userid": _of_access("users", USER, "new@pve"),
    "username": _of_access("users", USER),
    "users": _of_access("users", USER),
    "groupid": _of_access("groups", "staff", "new"),
    "groups": _of_access("groups", "staff"),
    "roleid": _of_access("roles", "Keeper", "Other"),
    "roles": _of_access("roles", "PVEAuditor"),
    "tokenid": _tokens,
    "tokens": _said(f"{USER}!robot", "root@pam!none"),
    "privs": _said("VM.Audit", "VM.Audit,VM.Console", "VM.Monitor", "Nothing.Real"),
    "path": _said("/", "/vms", "/vms/100", "/storage/local", "/access", "/nowhere", "/srv/files"),
    "poolid": _of_state("resource_pools", "farm", "field"),
    "pool": _of_state("resource_pools", "farm"),
    "snapname": _snapshot,
    "snapshot": _snapshot,
    "sid": _of_state("ha_resources", "vm:101", "ct:200", "102"),
    "rule": _of_state("ha_rules", "near", "far"),
    "resources": _said("vm:103", "vm:101,vm:103", "ct:200"),
    "nodes": _said("pve1", "pve1,pve2", "pve1:2,pve3", "pve9"),
    "group": _group,
    "id": _identifier,
    "iface": _said("vmbr0", "vmbr1", "vmbr0.5", "eno1", "bond0"),
    "bridge_ports": _said("eno1", "none", ""),
    "map": _said(
        ["id=10de:1eb8,iommugroup=1,node=pve1,path=0000:01:00.0"],
        ["id=1a86:7523,node=pve2"],
        ["node=pve1,path=/srv"],
        "node=pve1",
    ),
    "content": _said("iso", "images", "import", "images,rootdir", "vztmpl", "snippets", "backup"),
    "filename": _said("vm-102-disk-5", "cd2.iso", "image.qcow2", "../x.iso", "vm-9999-pvc-1.raw"),
    "url": _said(IMAGE_URL, "http://127.0.0.1/missing.iso"),
    "size": _said("1G", "+1G", "512M", "1024", "1T", "900T"),
    "disk": _disk_key,
    "target-disk": _disk_key,
    "idlist": _disk_key,
    "delete": _keys_of_guest,
    "revert": _keys_of_guest,
    "memory": _said("64", "512", "16"),
    "net[n]": _nic,
    "scsi[n]": _drive,
    "virtio[n]": _drive,
    "sata[n]": _drive,
    "ide[n]": _drive,
    "efidisk0": _said("local-zfs:1,efitype=4m", "files:1", "ceph:1,pre-enrolled-keys=1"),
    "tpmstate0": _said("local-zfs:1,version=v2.0", "thin:1"),
    "unused[n]": _volume,
    "rootfs": _mount,
    "mp[n]": _mount,
    "ostemplate": _said(f"local:vztmpl/{TEMPLATE}", "local:iso/cd.iso"),
    "ipconfig[n]": _said("ip=dhcp", "ip=127.66.1.5/16,gw=127.66.0.1", "ip6=auto"),
    "hostpci[n]": _said("mapping=gpu", "0000:01:00.0,pcie=1"),
    "usb[n]": _said("mapping=stick", "host=1a86:7523", "spice"),
    "serial[n]": _said("socket", "/dev/ttyS0"),
    "boot": _said("order=scsi0", "order=scsi0;ide2;net0", "order=virtio9"),
    "tags": _said("b;a", "A,b b", "x"),
    "agent": _said("1", "enabled=1,fstrim_cloned_disks=1", "0"),
    "cpu": _said("host", "x86-64-v2-AES,flags=+aes", "kvm64"),
    "smbios1": _said("uuid=00000000-0000-4000-8000-000000000001", "base64=1,serial=aGk="),
    "name": _name,
    "pos": _said(0, 0, 1, 7),
    "hostname": _said("box", "box-2"),
    "command": _said("start", "stop", "shutdown", "reboot", ["echo", "hi"]),
    "file": _said("/etc/hosts", "/etc/passwd"),
    "cidr": _said("127.66.0.0/16", "127.66.0.0/16", "127.66.3.4"),
    "schedule": _said("02:00", "*/15", "mon..fri 03:00", "never"),
    "password": _said("secret-word", "x"),
    "comment": _said("words", "more words"),
    "description": _said("words", "two\nlines"),
    "digest": _said("0" * 40, "0" * 64),
    "lock": _said("backup", "migrate"),
    "action": _said("ACCEPT", "DROP", "web"),
    "realm": _said("pve", "pam"),
    "timeout": _said(0, 5, 60),
}
"""By name; a name with `[n]` stands for the numbered keys."""

_STORE = "/nodes/{node}/storage/{storage}"
IN_PATHS: dict[tuple[str, str], Callable[[Scene], object]] = {
    ("/cluster/nextid", "vmid"): _said(100, 555, 999),
    ("/storage", "storage"): _said("more", "other", "local"),
    ("/storage", "type"): _said("dir", "zfspool", "nfs", "lvmthin"),
    ("/storage", "pool"): _said("rpool/data"),
    (f"{_STORE}/download-url", "storage"): _said("local", "files", "thin"),
    (f"{_STORE}/download-url", "content"): _said("import", "iso"),
    (f"{_STORE}/download-url", "filename"): _said("new.qcow2", "new.iso", "new.img"),
    (f"{_STORE}/upload", "storage"): _said("local", "files", "thin"),
    (f"{_STORE}/upload", "content"): _said("iso", "vztmpl"),
    (f"{_STORE}/upload", "filename"): _said("new.iso", "new.tar.gz", "new.exe"),
    ("/access/ticket", "password"): _said("secret-word", "wrong"),
    ("/access/ticket", "username"): _said(USER, "nobody@pve"),
    ("/nodes/{node}/qemu/{vmid}/agent/exec", "command"): _said(["echo", "hi"]),
    ("/nodes/{node}/qemu/{vmid}/agent/exec-status", "pid"): _said(1, 1000, 1001),
    ("/nodes/{node}/qemu/{vmid}/agent", "command"): _said("ping", "get-osinfo", "info"),
    ("/cluster/ha/rules", "type"): _said("node-affinity", "resource-affinity"),
    ("/cluster/replication", "type"): _said("local"),
    ("/nodes/{node}/network", "type"): _said("bridge", "vlan", "bond", "eth"),
}
"""By path and name, where a name means something of its own."""
IN_PATHS |= {
    (f"/nodes/{{node}}/disks/{place}", name): _said("/dev/sda", "/dev/nvme0n1", "/dev/sdz")
    for place in ("directory", "initgpt", "lvm", "lvmthin", "smart", "wipedisk")
    for name in ("disk", "device")
}

FORMS: dict[str, Callable[[Scene], object]] = {
    "pve-node": _node,
    "pve-vmid": _vmid,
    "pve-storage-id": _storage,
    "pve-userid": _said(USER, "root@pam"),
    "pve-configid": _said("some-id", "other"),
    "dns-name": _said("web", "db-1.example"),
    "pve-iface": _said("vmbr0", "net0"),
    "ip": _said("127.66.0.5", "::1"),
    "ipv4": _said("127.66.0.5"),
    "ipv6": _said("fd00::5"),
    "CIDR": _said("127.66.0.5/16"),
    "CIDRv4": _said("127.66.0.5/16"),
    "CIDRv6": _said("fd00::5/64"),
    "IPorCIDR": _said("127.66.0.5", "127.66.0.0/16"),
    "IPorCIDRorAlias": _said("127.66.0.5", "127.66.0.0/16"),
    "pve-startup-order": _said("order=1,up=30", "2"),
    "prune-backups": _said("keep-all=1", "keep-last=3"),
    "pve-storage-path": _said("/srv/more", "/var/lib/vz"),
    "pve-calendar-event": _said("02:00"),
    "urlencoded": _said("ssh-ed25519%20AAAA"),
}
"""By format, for names that are not listed."""
