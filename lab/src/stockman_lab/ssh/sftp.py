"""SFTP on the files of a host of the world; nothing of it reaches the machine of the lab."""

from __future__ import annotations

import posixpath
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

import asyncssh

from stockman_lab.core.faults import Effect, Fault
from stockman_lab.pve.host import Host
from stockman_lab.ssh.host_files import DENIED, MISSING, READ_ONLY, Facts, FileTrouble, HostFiles
from stockman_lab.ssh.programs.console import forever

T = TypeVar("T")
_LARGEST = 1 << 30
_NOTHING: list[asyncssh.SFTPName] = []
_OWNER = "root"


@dataclass(slots=True)
class OpenFile:
    """A file that somebody reads or writes."""

    path: str
    content: bytearray = field(default_factory=bytearray)
    may_write: bool = False
    appends: bool = False
    changed: bool = False
    is_real: bool = True
    """False: it is only claimed to be there, and what is written to it goes nowhere."""


@dataclass(slots=True)
class Troubles:
    """What can come between a client and its files."""

    fault: Callable[[str], Fault | None]
    """What goes wrong with an action, `sftp ACTION PATH`."""
    wait: Callable[[float], Awaitable[None]]
    """Lets time pass in the world."""


class HostSftp(asyncssh.SFTPServer):
    """The files of a host for one session."""

    def __init__(
        self,
        channel: asyncssh.SSHServerChannel[bytes],
        host: Host,
        files: HostFiles,
        troubles: Troubles,
    ) -> None:
        super().__init__(channel)
        self._channel = channel
        self._host = host
        self._files = files
        self._troubles = troubles
        self._open: list[OpenFile] = []

    # -- files ---------------------------------------------------------------------------------

    async def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> OpenFile:
        may_write = bool(pflags & asyncssh.FXF_WRITE)

        def opening(name: str) -> OpenFile:
            file = self._files.is_file(name)
            if may_write:
                self._prepare(name, pflags, attrs, there=file)
            opened = OpenFile(name, may_write=may_write, appends=bool(pflags & asyncssh.FXF_APPEND))
            opened.content += self._files.read(name)
            self._open.append(opened)
            return opened

        claimed = OpenFile(_text(path), may_write=may_write, is_real=False)
        return await self._done("open", path, opening, claimed)

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
        return bytes(_open_file(file_obj).content[offset : offset + size])

    def write(self, file_obj: object, offset: int, data: bytes) -> int:
        opened = _open_file(file_obj)
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
        opened = _open_file(file_obj)
        self._flush(opened)
        if opened in self._open:
            self._open.remove(opened)

    def fsync(self, file_obj: object) -> None:
        self._flush(_open_file(file_obj))

    def exit(self) -> None:
        self._open.clear()
        if not self._channel.is_closing():
            self._channel.exit(0)  # clients look at it, and the library does not send one

    def _flush(self, opened: OpenFile) -> None:
        if not opened.changed or not opened.is_real:
            return
        try:
            self._files.write(opened.path, bytes(opened.content))
        except FileTrouble as trouble:
            _refuse(trouble)
        opened.changed = False

    # -- what is known of them -----------------------------------------------------------------

    async def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        return await self._done("stat", path, self._attributes, asyncssh.SFTPAttrs())

    async def lstat(self, path: bytes) -> asyncssh.SFTPAttrs:
        return await self.stat(path)

    def fstat(self, file_obj: object) -> asyncssh.SFTPAttrs:
        opened = _open_file(file_obj)
        self._flush(opened)
        return self._attributes(opened.path) if opened.is_real else asyncssh.SFTPAttrs()

    async def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        await self._done("setstat", path, lambda name: self._change(name, attrs), None)

    async def lsetstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        await self.setstat(path, attrs)

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> None:
        opened = _open_file(file_obj)
        if attrs.size is not None and opened.may_write:
            del opened.content[attrs.size :]
            opened.content += bytes(max(attrs.size - len(opened.content), 0))
            opened.changed = True
        self._flush(opened)
        if opened.is_real:
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
        for one in await self._done("readdir", path, self._rows, _NOTHING):
            yield one

    def _rows(self, name: str) -> list[asyncssh.SFTPName]:
        return [
            asyncssh.SFTPName(
                text.encode("utf-8", "surrogateescape"),
                attrs=self._attributes(posixpath.join(name, text)),
            )
            for text in (".", "..", *self._files.listed(name))
        ]

    async def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        del attrs
        await self._done("mkdir", path, self._files.make_folder, None)

    async def rmdir(self, path: bytes) -> None:
        await self._done("rmdir", path, self._files.remove_folder, None)

    async def remove(self, path: bytes) -> None:
        await self._done("remove", path, self._files.remove, None)

    async def rename(self, oldpath: bytes, newpath: bytes) -> None:
        if self._files.is_file(_text(newpath)):
            raise asyncssh.SFTPFailure("File exists")
        await self.posix_rename(oldpath, newpath)

    async def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        def moving(old: str) -> None:
            content = self._files.read(old)
            self._files.write(self._files.absolute(_text(newpath)), content)
            self._files.remove(old)

        await self._done("rename", oldpath, moving, None)

    # -- what there is not ---------------------------------------------------------------------

    def open56(
        self, path: bytes, desired_access: int, flags: int, attrs: asyncssh.SFTPAttrs
    ) -> object:
        del path, desired_access, flags, attrs
        raise _unsupported_operation()

    def link(self, oldpath: bytes, newpath: bytes) -> None:
        del oldpath, newpath
        raise _unsupported_operation()

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:
        del oldpath, newpath
        raise _unsupported_operation()

    def readlink(self, path: bytes) -> bytes:
        del path
        raise _unsupported_operation()

    def lock(self, file_obj: object, offset: int, length: int, flags: int) -> None:
        del file_obj, offset, length, flags
        raise _unsupported_operation()

    def unlock(self, file_obj: object, offset: int, length: int) -> None:
        del file_obj, offset, length
        raise _unsupported_operation()

    def statvfs(self, path: bytes) -> asyncssh.SFTPVFSAttrs:
        del path
        raise _unsupported_operation()

    def fstatvfs(self, file_obj: object) -> asyncssh.SFTPVFSAttrs:
        del file_obj
        raise _unsupported_operation()

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

    async def _done(self, action: str, path: bytes, work: Callable[[str], T], claimed: T) -> T:
        """Do something with a path, or what a fault makes of it."""
        for opened in self._open:
            self._flush(opened)
        name = self._files.absolute(_text(path))
        fault = self._troubles.fault(f"sftp {action} {name}")
        effect = None if fault is None else fault.effect
        if fault is not None and effect is Effect.DELAY:
            await self._troubles.wait(fault.seconds)
        if effect is Effect.HANG:
            await forever()
        if effect is Effect.CUT or not self._host.has_power:
            self._cut()
        if fault is not None and effect is Effect.FAIL:
            raise asyncssh.SFTPFailure(fault.message or "Failure")
        if effect is Effect.CLAIM:
            return claimed
        try:
            done = work(name)
        except FileTrouble as trouble:
            _refuse(trouble)
        if effect is Effect.DO_THEN_CUT:
            self._cut()
        if fault is not None and effect is Effect.DO_THEN_FAIL:
            raise asyncssh.SFTPFailure(fault.message or "Failure")
        return done

    def _cut(self) -> NoReturn:
        self.connection.abort()
        raise asyncssh.SFTPConnectionLost("the host is gone")


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


def _open_file(file_obj: object) -> OpenFile:
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


def _unsupported_operation() -> asyncssh.SFTPOpUnsupported:
    return asyncssh.SFTPOpUnsupported("not known on this host")
