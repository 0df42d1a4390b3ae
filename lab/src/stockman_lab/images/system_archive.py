"""Archives of whole systems, which containers are made of: what their bytes say is in them."""

from __future__ import annotations

import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from stockman_lab.images import zstandard
from stockman_lab.images.compression import packed, pieces

_RELEASE_FILES = ("etc/os-release", "usr/lib/os-release")
_LARGEST_RELEASE = 1 << 16
_PLUGINS = {
    **{
        name: name
        for name in (
            *("alpine", "archlinux", "centos", "debian", "devuan", "fedora", "gentoo"),
            *("openeuler", "opensuse", "ubuntu", "nixos"),
        )
    },
    **dict.fromkeys(("opensuse-leap", "opensuse-tumbleweed", "opensuse-slowroll"), "opensuse"),
    "sles": "opensuse",
    "openEuler": "openeuler",
    "arch": "archlinux",
    "rocky": "centos",
    "almalinux": "centos",
}
_TELLTALES = {
    "etc/debian_version": "debian",
    "etc/devuan_version": "devuan",
    "etc/SuSE-brand": "opensuse",
    "etc/SuSE-release": "opensuse",
    "etc/fedora-release": "fedora",
    "etc/centos-release": "centos",
    "etc/redhat-release": "centos",
    "etc/arch-release": "archlinux",
    "etc/alpine-release": "alpine",
    "etc/gentoo-release": "gentoo",
    "nix/store": "nixos",
    "etc/openEuler-release": "openeuler",
}


class NoArchive(ValueError):
    """Bytes that `tar` cannot unpack."""


@dataclass(slots=True)
class ArchivedSystem:
    """What an archive holds, as far as a container's configuration depends on it."""

    release: dict[str, str] = field(default_factory=dict)
    """The settings of `/etc/os-release`."""
    files: set[str] = field(default_factory=set)

    @property
    def kind(self) -> str:
        """The `ostype` of Proxmox VE; empty where it cannot tell."""
        known = _PLUGINS.get(self.release.get("ID", ""))
        if known:
            return known
        found = next((kind for file, kind in _TELLTALES.items() if file in self.files), "")
        return found or ("" if self.release else "unmanaged")


def system_archive(identity: str, version: str, compression: str = "gz") -> bytes:
    """A small archive of a system, the same bytes each time: `debian` `13`."""
    release = f'ID={identity}\nVERSION_ID="{version}"\nNAME="{identity.capitalize()}"\n'
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for folder in ("bin", "dev", "etc", "home", "proc", "root", "sbin", "sys", "usr", "var"):
            entry = tarfile.TarInfo(f"./{folder}")
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        entry = tarfile.TarInfo("./etc/os-release")
        entry.size = len(release)
        archive.addfile(entry, io.BytesIO(release.encode()))
    return packed(raw.getvalue(), compression) if compression else raw.getvalue()


def archived_system(content: bytes, compression: str) -> ArchivedSystem:
    """The system in an archive, packed as gz, bz2, xz or zst or not at all; raises `NoArchive`."""
    archived_system = ArchivedSystem()
    try:
        stream = _Stream(pieces(content, compression)) if compression else io.BytesIO(content)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            _look_through(archive, archived_system)
    except (
        *(tarfile.TarError, OSError, EOFError, UnicodeDecodeError, ValueError),
        *(zlib.error, lzma.LZMAError, zstandard.DamagedFrame, zstandard.NeedsLibrary),
    ) as error:
        raise NoArchive(str(error)) from None
    return archived_system


def _look_through(archive: tarfile.TarFile, archived_system: ArchivedSystem) -> None:
    for member in archive:
        name = member.name.removeprefix("./").strip("/")
        archived_system.files.add(name)
        if name in _RELEASE_FILES and member.isfile() and member.size <= _LARGEST_RELEASE:
            file = archive.extractfile(member)
            if file is not None:
                archived_system.release = _settings(file.read().decode())
                return


def _settings(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}


class _Stream(io.RawIOBase):
    """Pieces one after another, for who reads."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._left = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        while size < 0 or len(self._left) < size:
            piece = next(self._parts, None)
            if piece is None:
                break
            self._left += piece
        if size < 0:
            size = len(self._left)
        given, self._left = self._left[:size], self._left[size:]
        return given
