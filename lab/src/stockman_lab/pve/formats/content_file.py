"""Files that users bring: images of discs, templates of containers, disks to import, backups."""

from __future__ import annotations

import re
from datetime import datetime

from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.formats.volume_name import ISO_EXTENSION, TEMPLATE_EXTENSION

FOLDERS = {
    "images": "images",
    "rootdir": "private",
    "iso": "template/iso",
    "vztmpl": "template/cache",
    "backup": "dump",
    "snippets": "snippets",
    "import": "import",
}
"""Where a file storage keeps each kind of content."""

_BROUGHT = {
    "iso": (re.compile(rf"[^/]+{ISO_EXTENSION}"), "wrong file extension"),
    "vztmpl": (re.compile(rf"[^/]+{TEMPLATE_EXTENSION}"), "wrong file extension"),
    "import": (
        re.compile(r"[a-zA-Z0-9\-.+=_]+\.(?:ova|qcow2|raw|vmdk)"),
        "invalid filename or wrong extension",
    ),
}


def normal_file_name(name: str) -> str:
    """A name without folders, in which everything unusual is an underscore."""
    bare = re.sub(r"^.*[/\\]", "", name.removesuffix("\n"))
    return re.sub(r"[^a-zA-Z0-9_.-]", "_", bare)


def brought_file(content: str, name: str) -> str:
    """The name under which an upload or download is kept; refuses what is not of that content."""
    file = normal_file_name(name)
    if content not in _BROUGHT:
        raise bad_parameters({"content": f"upload content type '{content}' not allowed"})
    pattern, complaint = _BROUGHT[content]
    if not pattern.fullmatch(file):
        raise bad_parameters({"filename": complaint})
    return file


def backup_file(kind: str, vmid: int, at: datetime, extension: str) -> str:
    """The name of a backup: `vzdump-qemu-100-2026_01_31-02_00_00.vma.zst`."""
    return f"vzdump-{kind}-{vmid}-{at:%Y_%m_%d-%H_%M_%S}.{extension}"
