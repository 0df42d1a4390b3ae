"""Requests that make sense as a whole, for operations whose parameters have to fit each other."""

from __future__ import annotations

from stockman_lab.core.dice import Dice

_GUEST = "/nodes/{node}/qemu/{vmid}"
_BOX = "/nodes/{node}/lxc/{vmid}"
_STORE = "/nodes/{node}/storage/{storage}"
_RULE: dict[str, object] = {"type": "in", "action": "ACCEPT", "enable": 1}

EXAMPLES: dict[tuple[str, str], tuple[dict[str, object], ...]] = {
    ("POST", "/storage"): (
        {"storage": "more", "type": "dir", "path": "/srv/files/more", "content": "iso,images"},
        {"storage": "tank", "type": "zfspool", "pool": "rpool/data", "sparse": 1},
        {"storage": "far", "type": "nfs", "server": "127.66.0.9", "export": "/far"},
    ),
    ("POST", "/cluster/ha/rules"): (
        {"rule": "far", "type": "node-affinity", "resources": "vm:103", "nodes": "pve1"},
    ),
    ("POST", "/cluster/ha/groups"): ({"group": "far", "nodes": "pve1:2,pve3"},),
    ("POST", "/cluster/backup"): (
        {"id": "weekly", "schedule": "sat 03:00", "storage": "local", "all": 1},
        {"schedule": "03:00", "storage": "local", "vmid": "102,200"},
    ),
    ("POST", "/cluster/firewall/groups/{group}"): (_RULE,),
    ("POST", f"{_STORE}/content"): (
        {"filename": "vm-102-extra", "vmid": 102, "size": "1G"},
        {"filename": "vm-9999-pvc-1", "vmid": 9999, "size": "1048576"},
    ),
    ("POST", f"{_STORE}/upload"): ({"content": "iso", "filename": "new.iso"},),
    ("POST", f"{_STORE}/download-url"): (
        {"content": "import", "filename": "a.qcow2", "url": "http://127.0.0.1/image.qcow2"},
    ),
    ("POST", f"{_GUEST}/migrate"): (
        {"target": "pve2", "online": 1, "with-local-disks": 1},
        {"target": "pve3"},
    ),
    ("POST", f"{_BOX}/migrate"): ({"target": "pve2", "restart": 1},),
    ("POST", f"{_GUEST}/clone"): ({"newid": 150, "name": "copy", "full": 1},),
    ("POST", f"{_GUEST}/move_disk"): (
        {"disk": "scsi0", "storage": "thin", "delete": 1},
        {"disk": "scsi1", "target-vmid": 104, "target-disk": "scsi7"},
    ),
    ("POST", f"{_BOX}/move_volume"): ({"volume": "rootfs", "storage": "thin", "delete": 1},),
    ("PUT", "/nodes/{node}/time"): ({"timezone": "UTC"},),
    ("PUT", "/access/domains/{realm}"): ({"comment": "words"},),
}
"""By method and path; each time one of them, the rest being left to the dice."""


def example(dice: Dice, method: str, path: str) -> dict[str, object]:
    """Parameters of a request that could succeed; empty: nothing is known of it."""
    known = EXAMPLES.get((method, path))
    return dict(dice.one_of(known)) if known else {}
