"""Where volumes are on a host: what `path` of a volume says."""

from __future__ import annotations

from stockman_lab.pve.formats.content_file import FOLDERS
from stockman_lab.pve.formats.volume_name import parse_volume_name
from stockman_lab.pve.storage import Storage


def folder_of(storage: Storage, content: str) -> str:
    """The folder that a file storage keeps a kind of content in."""
    return f"{storage.path}/{_overrides(storage).get(content, FOLDERS[content])}"


def path_of(storage: Storage, name: str) -> str:
    """The path of a volume; raises `FormatError` where the name is none."""
    parsed = parse_volume_name(storage.type, name)
    options = storage.options
    if storage.is_files:
        owner = f"/{parsed.owner}" if parsed.content == "images" else ""
        return f"{folder_of(storage, parsed.content)}{owner}/{parsed.name}"
    match storage.type:
        case "zfspool" if parsed.format == "subvol":
            mounted = options.get("mountpoint", f"/{options['pool']}")
            return f"{mounted}/{parsed.name}"
        case "zfspool":
            return f"/dev/zvol/{options['pool']}/{parsed.name}"
        case "lvm" | "lvmthin":
            return f"/dev/{options['vgname']}/{parsed.name}"
        case "rbd":
            return _rbd(storage, parsed.name)
        case "pbs":
            return _backup_server(storage, parsed.name)
        case _:
            return f"/dev/disk/by-id/{parsed.name}"


def _overrides(storage: Storage) -> dict[str, str]:
    content_dirs = storage.options.get("content-dirs", "")
    return dict(
        content_dir.split("=", 1) for content_dir in content_dirs.split(",") if "=" in content_dir
    )


def _rbd(storage: Storage, name: str) -> str:
    options = storage.options
    pool = "/".join(filter(None, (options.get("pool", "rbd"), options.get("namespace", ""))))
    if options.get("krbd") == "1":
        return f"/dev/rbd/{pool}/{name}"
    config = "/etc/pve/ceph.conf"
    if "monhost" not in options:
        return f"rbd:{pool}/{name}:conf={config}"
    hosts = ";".join(options["monhost"].replace(",", " ").split()).replace(":", "\\:")
    user = options.get("username", "admin")
    keyring = f"/etc/pve/priv/ceph/{storage.id}.keyring"
    return f"rbd:{pool}/{name}:mon_host={hosts}:auth_supported=cephx:id={user}:keyring={keyring}"


def _backup_server(storage: Storage, name: str) -> str:
    options = storage.options
    user = options.get("username", "root@pam")
    port = f":{options['port']}" if options.get("port", "8007") != "8007" else ""
    space = options.get("namespace", "").replace("/", "%2f")
    shown = f"?ns={space}" if space else ""
    return f"pbs://{user}@{options['server']}{port}:{options['datastore']}/{name}{shown}"
