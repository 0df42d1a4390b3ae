"""Files of a machine as a compressed archive."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator

from stockman_lab.talos.files.tree import Kind, Tree
from stockman_lab.talos.files.walking import Found, walked

_KINDS = {
    Kind.FILE: tarfile.REGTYPE,
    Kind.DIRECTORY: tarfile.DIRTYPE,
    Kind.LINK: tarfile.SYMTYPE,
    Kind.DEVICE: tarfile.BLKTYPE,
}
_LARGEST_UNTOLD = 4096
"""Files that tell no size are read up to here; longer ones are empty in an archive."""
_GZIP = 31


def archived(tree: Tree, root: str) -> Iterator[bytes]:
    """The archive of everything below a path, piece by piece; the path itself is not in it."""
    packer = zlib.compressobj(wbits=_GZIP)
    for found in walked(tree, root, with_root=False):
        info, content = _entry(found)
        yield packer.compress(info.tobuf(tarfile.PAX_FORMAT))
        if content:
            yield packer.compress(content + bytes(-len(content) % tarfile.BLOCKSIZE))
    yield packer.compress(bytes(2 * tarfile.BLOCKSIZE))
    yield packer.flush()


def _entry(found: Found) -> tuple[tarfile.TarInfo, bytes]:
    node = found.node
    info = tarfile.TarInfo(found.relative + ("/" if found.is_directory else ""))
    info.type = _KINDS[node.kind]
    info.mode = node.permissions
    info.mtime = int(node.modified)
    info.linkname = node.target
    content = node.content() if node.kind is Kind.FILE else b""
    if node.size == 0 and len(content) >= _LARGEST_UNTOLD:
        content = b""
    info.size = len(content)
    return info, content


def unpacked(pieces: Iterator[bytes]) -> dict[str, bytes]:
    """Regular files of an archive, by name."""
    packed = io.BytesIO(b"".join(pieces))
    with tarfile.open(fileobj=packed, mode="r:gz") as archive:
        readers = {}
        for getmember in archive.getmembers():
            reader = archive.extractfile(getmember) if getmember.isreg() else None
            if reader is not None:
                readers[getmember.name] = reader.read()
        return readers
