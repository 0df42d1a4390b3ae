"""Runs in a directory of this machine: a plan and a journal each, readable for their owner."""

from __future__ import annotations

import os
from pathlib import Path

from stockman.engine import problems
from stockman.model.errors import NotFound, Refused

PLAN = "plan.json"
JOURNAL = "journal.jsonl"
_OWNER_ONLY = 0o600
_OWNER_ENTERS = 0o700


class LocalJournalLines:
    """A journal in a file. What stands after its last new line was being written in a crash."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._size: int | None = None
        """Bytes that we know to be there. None: not looked yet."""

    @property
    def place(self) -> str:
        return str(self._file)

    async def read(self) -> bytes:
        return _complete_lines(self._content())

    async def append(self, first: int, lines: bytes) -> None:
        try:
            self._write(first, lines)
        except OSError as no:
            raise Refused(problems.journal_unwritable(self.place, _os_error_text(no))) from None

    def _write(self, first: int, lines: bytes) -> None:
        is_new = not self._file.exists()
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
        try:
            if self._size is None:
                self._size = self._looked(first)
                os.ftruncate(handle, self._size)
            if os.fstat(handle).st_size != self._size:
                raise Refused(problems.journal_written_elsewhere(self.place))
            self._size += len(lines)
            left = lines
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        if is_new:
            _sync(self._file.parent)

    def _looked(self, first: int) -> int:
        whole = _complete_lines(self._content())
        if whole.count(b"\n") != first - 1:
            raise Refused(problems.journal_written_elsewhere(self.place))
        return len(whole)

    def _content(self) -> bytes:
        try:
            return self._file.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as no:
            raise Refused(problems.journal_unwritable(self.place, _os_error_text(no))) from None


class LocalRunStore:
    """`Runs` below a directory, `.stockman/runs` of a repository."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def place(self) -> str:
        return str(self._directory)

    async def create(self, run: str, plan: str) -> LocalJournalLines:
        folder = self._directory / run
        try:
            folder.mkdir(mode=_OWNER_ENTERS, parents=True)
            handle = os.open(folder / PLAN, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
            with os.fdopen(handle, "wb") as file:
                file.write(plan.encode())
                file.flush()
                os.fsync(file.fileno())
            for one in (folder, self._directory, self._directory.parent):
                _sync(one)
        except OSError as no:
            raise Refused(problems.journal_unwritable(str(folder), _os_error_text(no))) from None
        return LocalJournalLines(folder / JOURNAL)

    async def listed(self) -> tuple[str, ...]:
        try:
            return tuple(sorted(one.parent.name for one in self._directory.glob(f"*/{PLAN}")))
        except OSError as no:
            raise Refused(problems.journal_unwritable(self.place, _os_error_text(no))) from None

    async def lines(self, run: str) -> LocalJournalLines:
        return LocalJournalLines((await self._folder(run)) / JOURNAL)

    async def plan(self, run: str) -> str:
        file = (await self._folder(run)) / PLAN
        try:
            return file.read_text("utf-8")
        except OSError as no:
            raise Refused(problems.journal_unwritable(str(file), _os_error_text(no))) from None

    async def _folder(self, run: str) -> Path:
        known = await self.listed()
        if run not in known:
            raise NotFound(problems.no_such_run(run, known))
        return self._directory / run


def _complete_lines(content: bytes) -> bytes:
    return content[: content.rfind(b"\n") + 1]


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _os_error_text(no: OSError) -> str:
    return f"the system says: {no.strerror or type(no).__name__}"
