"""What containers are made from, in a storage of an estate."""

import tarfile
from http import HTTPStatus
from io import BytesIO

from stockman_lab.pve.api.call import Upload

from tests.planning.estate import Estate

CONTAINER = """  - name: dns
    vmid: 301
    host: neo
    container:
      template: cephfs:vztmpl/debian-12.tar.gz
      datastore: ceph-vm-disks
      nics: [{bridge: vmbr0}]
"""


def upload_system(estate: Estate) -> None:
    """Have the template of a small Debian in the storage that all hosts share."""
    estate.pve.put("/storage/cephfs", content="import,iso,vztmpl")
    reply = estate.pve.reply(
        "POST",
        "/nodes/neo/storage/cephfs/upload",
        {"content": "vztmpl", "filename": "debian-12.tar.gz"},
        Upload("debian-12.tar.gz", small_system()),
    )
    assert reply.status == HTTPStatus.OK
    estate.world.settle()


def small_system() -> bytes:
    """An archive in which Proxmox VE finds a Debian."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in {
            "etc/os-release": b"ID=debian\n",
            "etc/debian_version": b"12.7\n",
        }.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(text)
            archive.addfile(entry, BytesIO(text))
    return packed.getvalue()
