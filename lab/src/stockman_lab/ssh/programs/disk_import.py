"""`qm disk import`: a file of the host becomes a disk of a machine."""

from __future__ import annotations

from stockman_lab.images.facts import CorruptImage
from stockman_lab.images.image import read_image
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.drive import is_drive
from stockman_lab.pve.formats.sizes import GIB, format_size
from stockman_lab.pve.guest_config.pending import add_unused
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.storage import Volume
from stockman_lab.ssh.programs.console import Console
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams

_SECONDS_A_GIB = (0.5, 2.0)


async def import_disk(
    console: Console, shell: Shell, values: dict[str, str], streams: Streams
) -> int:
    """Copy an image onto a storage, and give it to a machine as a disk that is not used yet."""
    cluster, host = console.api.cluster, console.host
    console.passing.catch_up()
    vmid, source = int(values["vmid"]) if values["vmid"].isdigit() else 0, values["source"]
    guest = cluster.guest(host.name, vmid, "qemu")
    cluster.refuse_locked(guest)
    if not shell.files.is_file(source):
        raise die(f"{source}: non-existent or non-regular file")
    shelf = Shelf(cluster, host, vmid)
    storage = shelf.storage(values["storage"])
    if "images" not in storage.content:
        raise die(f"storage {storage.id} does not support vm images")
    streams.out.write(f"importing disk '{source}' to VM {vmid} ...\n")
    content = shell.files.read(source)
    size = _size(content, source)
    wanted = values.get("format", "")
    form = shelf.form_for(storage, wanted)
    if wanted and wanted != form:
        streams.err.write(
            f"format '{wanted}' is not supported by the target storage - using '{form}' instead\n"
        )
    volume = shelf.allocate(storage, size, form)
    _fill(shelf, volume, content)
    seconds = size / GIB * cluster.around.dice.between(*_SECONDS_A_GIB)
    await console.passing.wait(seconds)
    shown = format_size(size)
    streams.out.write(f"transferred 0.0 B of {shown} (0.00%)\n")
    streams.out.write(f"transferred {shown} of {shown} (100.00%)\n")
    target = values.get("target-disk", "")
    if target and is_drive(target):
        path = f"/nodes/{host.name}/qemu/{vmid}/config"
        await console.ask("PUT", path, {target: volume.id})
        streams.out.write(f"{target}: successfully imported disk '{guest.config.values[target]}'\n")
        return 0
    key = add_unused(guest.config, volume.id)
    guest.changed_at = cluster.now
    console.passing.go_on()
    streams.out.write(f"{key}: successfully imported disk '{volume.id}'\n")
    return 0


def _size(content: bytes, source: str) -> int:
    try:
        return read_image(content).virtual_size or len(content)
    except CorruptImage:
        raise die(f"could not parse qemu-img info command output for '{source}'") from None


def _fill(shelf: Shelf, volume: Volume, content: bytes) -> None:
    blobs = shelf.cluster.around.blobs
    blob = blobs.put(content)
    blobs.hold(blob)
    volume.blob = blob
    volume.used = max(volume.used, min(len(content), volume.size))
