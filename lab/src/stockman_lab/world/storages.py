"""Storages by the names that people give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman_lab.pve.storage import Storage

_GUESTS = "images,rootdir"
_FILES = "iso,vztmpl,backup,import,snippets"


def of_names(names: Iterable[str], image_storage: str = "local") -> Iterator[Storage]:
    """Entries for names: what is called `ceph...` is Ceph, `...zfs` is ZFS, and so on.

    `local` is always among them, as every host has it.
    """
    fromkeys = dict.fromkeys(("local", *names, image_storage))
    for name in fromkeys:
        found = _named(name)
        if name == image_storage and "import" not in found.content:
            content = ",".join(sorted({*found.content, "import", "iso"}))
            found.options["content"] = content if found.is_files else found.options["content"]
        yield found


def _named(name: str) -> Storage:
    lowered = name.lower()
    if name == "local":
        return Storage(name, "dir", {"path": "/var/lib/vz", "content": _FILES})
    if "cephfs" in lowered:
        return Storage(name, "cephfs", {"content": _FILES, "monhost": "ceph"})
    if "ceph" in lowered or "rbd" in lowered:
        options = {"content": _GUESTS, "monhost": "ceph", "pool": name, "krbd": "0"}
        return Storage(name, "rbd", options)
    if "nfs" in lowered or "nas" in lowered:
        options = {"content": f"{_GUESTS},{_FILES}", "server": "nas", "export": f"/{name}"}
        return Storage(name, "nfs", options)
    if "pbs" in lowered or "backup" in lowered:
        options = {"content": "backup", "server": "pbs", "datastore": name}
        return Storage(name, "pbs", options)
    if "lvm" in lowered:
        options = {"content": _GUESTS, "vgname": "pve", "thinpool": "data"}
        return Storage(name, "lvmthin", options)
    if "dir" in lowered or "file" in lowered:
        options = {"content": f"{_GUESTS},{_FILES}", "path": f"/srv/{name}"}
        return Storage(name, "dir", options)
    pool = "rpool/data" if name == "local-zfs" else name
    return Storage(name, "zfspool", {"content": _GUESTS, "pool": pool, "sparse": "1"})
