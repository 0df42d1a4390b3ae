"""Runs in a local directory: a plan and a journal each, readable by their owner only."""

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
    """A journal in a file. Text after the last newline was left by a crash, and is dropped."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._size: int | None = None
        """Size of the file in bytes. None: not read yet."""

    @property
    def location(self) -> str:
        return str(self._file)

    async def read(self) -> bytes:
        return _complete_lines(self._content())

    async def append(self, first: int, lines: bytes) -> None:
        try:
            self._write(first, lines)
        except OSError as error:
            raise Refused(
                problems.journal_unwritable(self.location, _os_error_text(error))
            ) from None

    def _write(self, first: int, lines: bytes) -> None:
        is_new = not self._file.exists()
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
        try:
            if self._size is None:
                self._size = self._check_size(first)
                os.ftruncate(handle, self._size)
            if os.fstat(handle).st_size != self._size:
                raise Refused(problems.journal_written_elsewhere(self.location))
            self._size += len(lines)
            remaining = lines
            while remaining:
                remaining = remaining[os.write(handle, remaining) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        if is_new:
            _sync(self._file.parent)

    def _check_size(self, first: int) -> int:
        complete = _complete_lines(self._content())
        if complete.count(b"\n") != first - 1:
            raise Refused(problems.journal_written_elsewhere(self.location))
        return len(complete)

    def _content(self) -> bytes:
        try:
            return self._file.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise Refused(
                problems.journal_unwritable(self.location, _os_error_text(error))
            ) from None


class LocalRunStore:
    """A `RunStore` in a directory, `.stockman/runs` of a repository."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def location(self) -> str:
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
            for directory in (folder, self._directory, self._directory.parent):
                _sync(directory)
        except OSError as error:
            raise Refused(problems.journal_unwritable(str(folder), _os_error_text(error))) from None
        return LocalJournalLines(folder / JOURNAL)

    async def list_runs(self) -> tuple[str, ...]:
        try:
            return tuple(sorted(file.parent.name for file in self._directory.glob(f"*/{PLAN}")))
        except OSError as error:
            raise Refused(
                problems.journal_unwritable(self.location, _os_error_text(error))
            ) from None

    async def lines(self, run: str) -> LocalJournalLines:
        return LocalJournalLines((await self._folder(run)) / JOURNAL)

    async def plan(self, run: str) -> str:
        file = (await self._folder(run)) / PLAN
        try:
            return file.read_text("utf-8")
        except OSError as error:
            raise Refused(problems.journal_unwritable(str(file), _os_error_text(error))) from None

    async def _folder(self, run: str) -> Path:
        known = await self.list_runs()
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


def _os_error_text(error: OSError) -> str:
    return error.strerror or type(error).__name__
