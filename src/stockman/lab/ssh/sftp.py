"""SFTP on the files of a host of the world; nothing of it reaches the machine of the lab."""

from __future__ import annotations

import posixpath
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import NoReturn

import asyncssh

from stockman.lab.core.faults import Effect, Fault
from stockman.lab.pve.host import Host
from stockman.lab.ssh.host_files import DENIED, MISSING, READ_ONLY, Facts, FileTrouble, HostFiles

_LARGEST = 1 << 30
_OWNER = "root"


@dataclass(slots=True)
class OpenFile:
    """A file that somebody reads or writes."""

    path: str
    content: bytearray = field(default_factory=bytearray)
    may_write: bool = False
    appends: bool = False
    changed: bool = False


class HostSftp(asyncssh.SFTPServer):
    """The files of a host for one session."""

    def __init__(
        self,
        channel: asyncssh.SSHServerChannel[bytes],
        host: Host,
        files: HostFiles,
        fault: Callable[[str], Fault | None],
    ) -> None:
        super().__init__(channel)
        self._channel = channel
        self._host = host
        self._files = files
        self._fault = fault
        self._open: list[OpenFile] = []

    # -- files ---------------------------------------------------------------------------------

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> OpenFile:
        name = self._named("open", path)
        may_write = bool(pflags & asyncssh.FXF_WRITE)
        try:
            there = self._files.is_file(name)
            if may_write:
                self._prepare(name, pflags, attrs, there=there)
            opened = OpenFile(name, may_write=may_write, appends=bool(pflags & asyncssh.FXF_APPEND))
            opened.content += self._files.read(name)
        except FileTrouble as trouble:
            _refuse(trouble)
        self._open.append(opened)
        return opened

    def _prepare(self, name: str, pflags: int, attrs: asyncssh.SFTPAttrs, *, there: bool) -> None:
        if there and pflags & asyncssh.FXF_EXCL:
            raise asyncssh.SFTPFailure("File exists")
        if not there and not pflags & asyncssh.FXF_CREAT:
            raise FileTrouble(MISSING)
        if not there or pflags & asyncssh.FXF_TRUNC:
            self._files.write(name, b"")
            if not there and attrs.permissions is not None:
                self._files.change_mode(name, attrs.permissions)
        else:
            self._files.write(name, self._files.read(name))

    def read(self, file_obj: object, offset: int, size: int) -> bytes:
        return bytes(_opened(file_obj).content[offset : offset + size])

    def write(self, file_obj: object, offset: int, data: bytes) -> int:
        opened = _opened(file_obj)
        if not opened.may_write:
            raise asyncssh.SFTPPermissionDenied(DENIED)
        start = len(opened.content) if opened.appends else offset
        if start + len(data) > _LARGEST:
            raise asyncssh.SFTPFailure("File too large")
        if start > len(opened.content):
            opened.content += bytes(start - len(opened.content))
        opened.content[start : start + len(data)] = data
        opened.changed = True
        return len(data)

    def close(self, file_obj: object) -> None:
        opened = _opened(file_obj)
        self._flush(opened)
        if opened in self._open:
            self._open.remove(opened)

    def fsync(self, file_obj: object) -> None:
        self._flush(_opened(file_obj))

    def exit(self) -> None:
        self._open.clear()
        if not self._channel.is_closing():
            self._channel.exit(0)  # clients look at it, and the library does not send one

    def _flush(self, opened: OpenFile) -> None:
        if not opened.changed:
            return
        try:
            self._files.write(opened.path, bytes(opened.content))
        except FileTrouble as trouble:
            _refuse(trouble)
        opened.changed = False

    # -- what is known of them -----------------------------------------------------------------

    def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        return self._attributes(self._named("stat", path))

    def lstat(self, path: bytes) -> asyncssh.SFTPAttrs:
        return self._attributes(self._named("stat", path))

    def fstat(self, file_obj: object) -> asyncssh.SFTPAttrs:
        opened = _opened(file_obj)
        self._flush(opened)
        return self._attributes(opened.path)

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        self._change(self._named("setstat", path), attrs)

    def lsetstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        self._change(self._named("setstat", path), attrs)

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> None:
        opened = _opened(file_obj)
        if attrs.size is not None and opened.may_write:
            del opened.content[attrs.size :]
            opened.content += bytes(max(attrs.size - len(opened.content), 0))
            opened.changed = True
        self._flush(opened)
        self._change(opened.path, attrs)

    def _change(self, name: str, attrs: asyncssh.SFTPAttrs) -> None:
        try:
            if attrs.permissions is not None:
                self._files.change_mode(name, attrs.permissions)
            else:
                self._files.facts(name)
        except FileTrouble as trouble:
            _refuse(trouble)

    def _attributes(self, name: str) -> asyncssh.SFTPAttrs:
        try:
            return _attributes(self._files.facts(name))
        except FileTrouble as trouble:
            _refuse(trouble)

    # -- names and folders ---------------------------------------------------------------------

    def realpath(self, path: bytes) -> bytes:
        return self._files.absolute(_text(path)).encode("utf-8", "surrogateescape")

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        name = self._named("readdir", path)
        try:
            names = [".", "..", *self._files.listed(name)]
        except FileTrouble as trouble:
            _refuse(trouble)
        for one in names:
            found = self._attributes(posixpath.join(name, one))
            shown = asyncssh.SFTPName(one.encode("utf-8", "surrogateescape"), attrs=found)
            yield shown

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        del attrs
        name = self._named("mkdir", path)
        try:
            self._files.make_folder(name)
        except FileTrouble as trouble:
            _refuse(trouble)

    def rmdir(self, path: bytes) -> None:
        name = self._named("rmdir", path)
        try:
            self._files.remove_folder(name)
        except FileTrouble as trouble:
            _refuse(trouble)

    def remove(self, path: bytes) -> None:
        name = self._named("remove", path)
        try:
            self._files.remove(name)
        except FileTrouble as trouble:
            _refuse(trouble)

    def rename(self, oldpath: bytes, newpath: bytes) -> None:
        if self._files.is_file(_text(newpath)):
            raise asyncssh.SFTPFailure("File exists")
        self.posix_rename(oldpath, newpath)

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        old, new = self._named("rename", oldpath), self._files.absolute(_text(newpath))
        try:
            content = self._files.read(old)
            self._files.write(new, content)
            self._files.remove(old)
        except FileTrouble as trouble:
            _refuse(trouble)

    # -- what there is not ---------------------------------------------------------------------

    def open56(
        self, path: bytes, desired_access: int, flags: int, attrs: asyncssh.SFTPAttrs
    ) -> object:
        del path, desired_access, flags, attrs
        raise _unsupported()

    def link(self, oldpath: bytes, newpath: bytes) -> None:
        del oldpath, newpath
        raise _unsupported()

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:
        del oldpath, newpath
        raise _unsupported()

    def readlink(self, path: bytes) -> bytes:
        del path
        raise _unsupported()

    def lock(self, file_obj: object, offset: int, length: int, flags: int) -> None:
        del file_obj, offset, length, flags
        raise _unsupported()

    def unlock(self, file_obj: object, offset: int, length: int) -> None:
        del file_obj, offset, length
        raise _unsupported()

    def statvfs(self, path: bytes) -> asyncssh.SFTPVFSAttrs:
        del path
        raise _unsupported()

    def fstatvfs(self, file_obj: object) -> asyncssh.SFTPVFSAttrs:
        del file_obj
        raise _unsupported()

    # -- names of owners, and faults -----------------------------------------------------------

    def map_path(self, path: bytes) -> bytes:
        return path

    def reverse_map_path(self, path: bytes) -> bytes:
        return path

    def format_user(self, uid: int | None) -> str:
        del uid
        return _OWNER

    def format_group(self, gid: int | None) -> str:
        del gid
        return _OWNER

    def _named(self, action: str, path: bytes) -> str:
        """The path that an action is about; a fault may strike before it."""
        for opened in self._open:
            self._flush(opened)
        name = self._files.absolute(_text(path))
        fault = self._fault(f"sftp {action} {name}")
        if not self._host.has_power or (
            fault is not None and fault.effect in (Effect.CUT, Effect.HANG)
        ):
            self.connection.abort()
            raise asyncssh.SFTPConnectionLost("the host is gone")
        if fault is not None:
            raise asyncssh.SFTPFailure(fault.message or "Failure")
        return name


def _attributes(facts: Facts) -> asyncssh.SFTPAttrs:
    moment = int(facts.changed_at)
    return asyncssh.SFTPAttrs(
        size=facts.size,
        permissions=facts.mode,
        uid=0,
        gid=0,
        atime=moment,
        mtime=moment,
        nlink=1,
    )


def _opened(file_obj: object) -> OpenFile:
    if not isinstance(file_obj, OpenFile):
        raise asyncssh.SFTPFailure("Invalid handle")
    return file_obj


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _refuse(trouble: FileTrouble) -> NoReturn:
    kinds = {
        MISSING: asyncssh.SFTPNoSuchFile,
        DENIED: asyncssh.SFTPPermissionDenied,
        READ_ONLY: asyncssh.SFTPPermissionDenied,
    }
    raise kinds.get(trouble.text, asyncssh.SFTPFailure)(trouble.text) from None


def _unsupported() -> asyncssh.SFTPOpUnsupported:
    return asyncssh.SFTPOpUnsupported("not known on this host")
