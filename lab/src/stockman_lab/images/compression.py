"""Packing of images, and unpacking of archives.

Of Zstandard, frames of this lab are unpacked anywhere, and any others where Python brings its own
library.
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

_PIECE = 1 << 20


def packed(content: bytes, compression: str) -> bytes:
    """A content packed as gz, bz2, zst or xz, the same bytes each time."""
    return _PACKERS[compression](content)


def pieces(content: bytes, compression: str) -> Iterator[bytes]:
    """A content packed as gz, bz2, xz or zst, unpacked piece by piece."""
    yield from _UNPACKERS[compression](content)


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
