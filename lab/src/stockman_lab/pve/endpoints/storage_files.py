"""Files of storages that users bring: uploads and downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stockman_lab.pve import space, workers
from stockman_lab.pve.api.call import Awaited, Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.config_file import encode_text
from stockman_lab.pve.formats.volume_name import brought_file
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storages import receiving

if TYPE_CHECKING:
    from stockman_lab.images.fetching import QueryFailed


@endpoint("POST", "/nodes/{node}/storage/{storage}/upload")
def upload(call: Call) -> object:
    """Keep a file; the host that got it does that, whatever host the storage is on."""
    storage = space.usable(call.cluster, call.text("storage"), call.node)
    if not storage.path:
        raise die(f"can't upload to storage type '{storage.type}'")
    if call.upload is None:
        temporary = call.text("tmpfilename")
        why = f"temporary file '{temporary}' does not exist" if temporary else ""
        raise die(why or "missing temporary file name")
    content = call.text("content")
    filename = brought_file(content, call.text("filename"))
    if content not in storage.content:
        raise die(f"storage '{storage.id}' does not support '{content}' content")
    _reach(call, storage, call.node)
    blobs = call.cluster.around.blobs
    blob = blobs.put(call.upload.content)
    blobs.hold(blob)
    arguments = {
        "blob": blob,
        "node": call.node.name,
        "storage": storage.id,
        "content": content,
        "filename": filename,
        "temporary": f"/var/tmp/pveupload-{call.cluster.around.dice.random_bytes(16).hex()}",
        "algorithm": call.text("checksum-algorithm"),
        "checksum": call.text("checksum"),
    }
    asked = workers.Asked("imgcopy", "", call.caller.authid, receiving.UPLOAD, arguments)
    return workers.start(call.cluster, call.host, asked)


@endpoint("POST", "/nodes/{node}/storage/{storage}/download-url")
def download(call: Call) -> object:
    storage = space.usable(call.cluster, call.text("storage"), call.node)
    if not storage.path:
        raise die(f"can't upload to storage type '{storage.type}', not a file based storage!")
    content = call.text("content")
    if content not in storage.content:
        raise die(f"storage '{storage.id}' is not configured for content-type '{content}'")
    filename = brought_file(content, call.text("filename"))
    space.activate(call.cluster, storage.id, call.node)
    arguments = {
        "url": call.text("url"),
        "storage": storage.id,
        "content": content,
        "filename": filename,
        "algorithm": call.text("checksum-algorithm"),
        "checksum": call.text("checksum"),
        "compression": call.text("compression"),
        "verify": call.flag("verify-certificates", default=True),
    }
    return call.start("download", encode_text(filename), receiving.DOWNLOAD, arguments)


@endpoint("GET", "/nodes/{node}/query-url-metadata")
def url_metadata(call: Call) -> object:
    url, verify = call.text("url"), call.flag("verify-certificates", default=True)

    def ask(tell: Callable[[object], None]) -> None:
        def done(result: dict[str, object] | QueryFailed) -> None:
            tell(result if isinstance(result, dict) else die(str(result)))

        call.cluster.around.outside.metadata(url, verify=verify, done=done)

    return Awaited(ask)


def _reach(call: Call, storage: Storage, node: Host) -> None:
    if node is call.host:
        space.activate(call.cluster, storage.id, node)
    elif not node.has_power:
        command = f"/usr/bin/ssh -o BatchMode=yes {node.address} -- /usr/sbin/pvesm status"
        why = f"command '{command} --storage {storage.id}' failed: exit code 255"
        raise die(f"can't activate storage '{storage.id}' on node '{node.name}': {why}")
