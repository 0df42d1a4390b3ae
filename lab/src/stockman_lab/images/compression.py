"""Packing and unpacking of images, as far as the host of a lab can unpack them.

gzip and bzip2 come with Python. Of Zstandard, frames of this lab are unpacked anywhere, and any
others where Python brings its own library. lzop is not at hand: the lab says so in the words of a
host on which that program is missing.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

from stockman_lab.images import zstandard

COMMANDS = {
    "gz": ("zcat",),
    "bz2": ("bzcat", "-q"),
    "zst": ("zstd", "-q", "-d", "-c"),
    "lzo": ("lzop", "-d", "-c"),
}
"""The program that Proxmox VE unpacks with, by the name of the compression."""
_PIECE = 1 << 20


class Unpackable(ValueError):
    """A content that was not unpacked; its text is that of Proxmox VE."""


def packed(content: bytes, compression: str) -> bytes:
    """A content packed as gz, bz2, zst or xz, the same bytes each time."""
    return _PACKERS[compression](content)


def unpacked(content: bytes, compression: str, path: str, most: int) -> bytes:
    """A content unpacked; `path` is the file that Proxmox VE would say it is in.

    More than `most` bytes are refused as they are on a full disk.
    """
    command = " ".join((*COMMANDS[compression], path))
    if compression not in _UNPACKERS:
        raise _missing(command)
    found = bytearray()
    try:
        for piece in _UNPACKERS[compression](content):
            found += piece
            if len(found) > most:
                raise EOFError  # its output is cut off where the disk is full
    except zstandard.NeedsLibrary:
        raise _missing(command) from None
    except (OSError, EOFError, zlib.error, zstandard.DamagedFrame):
        raise Unpackable(f"command '{command}' failed: exit code 1") from None
    return bytes(found)


def pieces(content: bytes, compression: str) -> Iterator[bytes]:
    """A content packed as gz, bz2, xz or zst, unpacked piece by piece."""
    yield from _UNPACKERS[compression](content)


def _missing(command: str) -> Unpackable:
    return Unpackable(
        f"command '{command}' failed: open3: exec of {command} failed: No such file or directory"
        " at /usr/share/perl5/PVE/Tools.pm line 455."
    )


def _gunzip(content: bytes) -> Iterator[bytes]:
    if not content:
        raise EOFError
    while content:
        unpacker = zlib.decompressobj(wbits=31)
        piece = unpacker.decompress(content, _PIECE)
        while piece or unpacker.unconsumed_tail:
            yield piece
            piece = unpacker.decompress(unpacker.unconsumed_tail, _PIECE)
        if not unpacker.eof:
            raise EOFError
        content = unpacker.unused_data.lstrip(b"\x00")


def _bunzip(content: bytes) -> Iterator[bytes]:
    if not content:
        raise EOFError
    while content:
        unpacker = bz2.BZ2Decompressor()
        yield unpacker.decompress(content, _PIECE)
        while not unpacker.eof:
            if unpacker.needs_input:
                raise EOFError
            yield unpacker.decompress(b"", _PIECE)
        content = unpacker.unused_data


def _unxz(content: bytes) -> Iterator[bytes]:
    unpacker = lzma.LZMADecompressor()
    yield unpacker.decompress(content, _PIECE)
    while not unpacker.eof:
        if unpacker.needs_input:
            raise EOFError
        yield unpacker.decompress(b"", _PIECE)


def _unzstd(content: bytes) -> Iterator[bytes]:
    if find_spec("compression") is None:
        yield from zstandard.unpacked(content)
        return
    library = import_module("compression.zstd")
    try:
        with library.ZstdFile(io.BytesIO(content)) as file:
            while piece := file.read(_PIECE):
                yield piece
    except library.ZstdError as error:
        raise zstandard.DamagedFrame(str(error)) from None


_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda content: gzip.compress(content, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.packed,
}
_UNPACKERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gz": _gunzip,
    "bz2": _bunzip,
    "xz": _unxz,
    "zst": _unzstd,
}
