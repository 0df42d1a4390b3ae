"""Search for secrets in everything that git stores or would store."""

from __future__ import annotations

import hashlib
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from stockman.app.secrets_check.report import Coverage, Limits, NotScanned
from stockman.app.secrets_check.scanner import Hit, Scanner
from stockman.ports.git_history import GitHistory, StoredObject, TrackedFile

T = TypeVar("T")

CoverageCallback = Callable[[Coverage], None]

_AT_ONCE = 128
_REPORT_EVERY = 10_000
_REPORT_EVERY_BYTES = 256 << 20
"""Objects and bytes between two progress reports."""
_LARGE_FILE = b"version https://git-lfs.github.com/spec/"
_SHA1_DIGITS = 40


@dataclass
class Leak:
    """One secret in one file, in all versions that contain it."""

    path: str
    """Relative to the top of the work tree. Empty: in the text of a commit or a tag."""
    name: str
    known: bool
    line: int
    in_tree: bool
    """Whether the current file contains it, in the work tree or in the index."""
    commit: str | None = None
    versions: int = 0


class LeakScan:
    """One scan."""

    def __init__(
        self,
        history: GitHistory,
        scanner: Scanner,
        limits: Limits,
        listen: CoverageCallback = lambda _: None,
    ) -> None:
        self._history = history
        self._scanner = scanner
        self._limits = limits
        self._listen = listen
        self._leaks: dict[tuple[str, str], Leak] = {}
        self._now: dict[str, tuple[Hit, ...]] = {}
        """What was found in objects of the index, by their names."""
        self._skipped: Counter[tuple[str, str]] = Counter()
        self._counts: Counter[str] = Counter()
        self._reported = 0
        self._not_scanned: list[NotScanned] = []

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """Return all leaks: current ones first, then by path and line."""
        order = sorted(
            self._leaks.values(), key=lambda leak: (not leak.in_tree, leak.path, leak.line)
        )
        return tuple(order)

    @property
    def coverage(self) -> Coverage:
        """What was read so far."""
        return Coverage(**self._counts)

    @property
    def not_scanned(self) -> tuple[NotScanned, ...]:
        counted = (
            NotScanned(subject=f"{count} {noun}{'' if count == 1 else 's'}", why=why)
            for (noun, why), count in self._skipped.items()
        )
        return (*dict.fromkeys(self._not_scanned), *counted)

    def scan_files(self, top: Path) -> None:
        """Read every tracked or untracked file in the work tree and the index."""
        staged: list[TrackedFile] = []
        tracked, untracked = self._history.tracked_files(), self._history.untracked_files()
        for entry in tracked:
            if entry.kind == "repository":
                self._skip(entry.path, "it is a repository of its own")
            elif entry.kind == "link" or not self._is_same(top, entry):
                staged.append(entry)
        self._scan_index(staged)
        for path in untracked:
            if path.endswith("/"):
                self._skip(path, "it is a repository of its own")
            else:
                self._read(top, path)
        self._counts["files"] += len({entry.path for entry in tracked}) + len(untracked)

    def scan_history(self) -> None:
        """Read every object of the newest commits that was not read yet."""
        if self._history.is_shallow():
            why = "this clone is shallow and does not have them: fetch all of the history"
            self._not_scanned.append(NotScanned(subject="older commits", why=why))
        total = self._history.commit_count()
        if total > self._limits.commits:
            self._not_scanned.append(
                NotScanned(
                    subject=f"{total - self._limits.commits} older commits",
                    why=f"only the newest {self._limits.commits} are scanned (--max-commits)",
                )
            )
        for chunk in _chunks(self._history.objects(self._limits.commits), _AT_ONCE):
            self._scan_objects(chunk)

    def fail(self, subject: str, why: str) -> None:
        """Record that something could not be read completely."""
        self._not_scanned.append(NotScanned(subject=subject, why=why))

    def _scan_index(self, staged: list[TrackedFile]) -> None:
        sizes = list(self._history.sizes([entry.object for entry in staged]))
        objects = []
        for entry, size in zip(staged, sizes, strict=True):
            if size is None:
                self._skip(entry.path, "this copy of the repository lacks it")
            elif self._has_room(entry.path, size):
                objects.append(entry)
        contents = self._history.contents([entry.object for entry in objects])
        for entry, content in zip(objects, contents, strict=True):
            if content is not None:
                self._now[entry.object] = self._found_in_tree(entry.path, content)

    def _scan_objects(self, chunk: list[StoredObject]) -> None:
        stored_objects: list[StoredObject] = []
        for stored_object in chunk:
            if stored_object.kind == "commit":
                self._counts["commits"] += 1
            if stored_object.name in self._now:
                self._found_in_history(stored_object, self._now[stored_object.name])
            elif stored_object.kind == "missing":
                self._skipped["history object", "this copy of the repository lacks it"] += 1
            elif stored_object.kind != "tree" and self._has_room("", stored_object.size):
                stored_objects.append(stored_object)
        contents = self._history.contents([stored_object.name for stored_object in stored_objects])
        for stored_object, content in zip(stored_objects, contents, strict=True):
            if content is None:
                self._skipped["history object", "it cannot be read"] += 1
                continue
            if content.startswith(_LARGE_FILE):
                self._skipped["file version", "git keeps it elsewhere (Git LFS)"] += 1
            self._found_in_history(stored_object, self._scanner.hits(content))
        self._counts["objects"] += sum(stored_object.kind != "tree" for stored_object in chunk)
        self._tell()

    def _tell(self) -> None:
        objects, size = self._counts["objects"], self._counts["total_bytes"]
        reached = objects // _REPORT_EVERY + size // _REPORT_EVERY_BYTES
        if reached > self._reported:
            self._reported = reached
            self._listen(self.coverage)

    def _is_same(self, top: Path, entry: TrackedFile) -> bool:
        """Read a file of the work tree; return whether the index has the same bytes."""
        content = self._read(top, entry.path)
        if content is None or _object_name(content[0], len(entry.object)) != entry.object:
            return False
        self._now[entry.object] = content[1]
        return True

    def _read(self, top: Path, path: str) -> tuple[bytes, tuple[Hit, ...]] | None:
        try:
            file = top / path
            facts = file.lstat()
            if not stat.S_ISREG(facts.st_mode):
                return None
            if not self._has_room(path, facts.st_size):
                return None
            content = file.read_bytes()
        except FileNotFoundError:
            return None  # deleted but not staged: the index still contains it
        except OSError as error:
            self._skip(path, error.strerror or type(error).__name__)
            return None
        return content, self._found_in_tree(path, content)

    def _found_in_tree(self, path: str, content: bytes) -> tuple[Hit, ...]:
        hits = self._scanner.hits(content)
        for hit in hits:
            leak = Leak(path, hit.name, hit.known, hit.line, in_tree=True)
            self._leaks.setdefault((path, hit.name), leak)
        return hits

    def _found_in_history(self, stored_object: StoredObject, hits: Iterable[Hit]) -> None:
        path = stored_object.path if stored_object.kind == "blob" else ""
        for hit in hits:
            key = (path or stored_object.name, hit.name)
            leak = self._leaks.setdefault(
                key, Leak(path, hit.name, hit.known, hit.line, in_tree=False)
            )
            leak.commit = leak.commit or stored_object.commit
            leak.versions += 1

    def _has_room(self, path: str, size: int) -> bool:
        noun = "file version" if not path else "file"
        if size > self._limits.object_bytes:
            why = f"larger than {self._limits.object_bytes:,} bytes (--max-object-bytes)"
        elif self._counts["total_bytes"] + size > self._limits.total_bytes:
            why = f"beyond the {self._limits.total_bytes:,} bytes that are read (--max-bytes)"
        else:
            self._counts["total_bytes"] += size
            return True
        if path:
            self._skip(path, why)
        else:
            self._skipped[noun, why] += 1
        return False

    def _skip(self, path: str, why: str) -> None:
        self._not_scanned.append(NotScanned(subject=path, why=why))


def _object_name(content: bytes, digits: int) -> str:
    """Return the git object ID of a content."""
    is_old = digits == _SHA1_DIGITS
    digest = hashlib.sha1(usedforsecurity=False) if is_old else hashlib.sha256()
    digest.update(b"blob %d\0" % len(content))
    digest.update(content)
    return digest.hexdigest()


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(items)
    while chunk := list(islice(left, size)):
        yield chunk


ACCEPTED_FILE = ".stockman/accepted-leaks.txt"
_DIGITS = 12
_LARGEST_ACCEPTED_FILE = 1 << 20


def leak_id(leak: Leak) -> str | None:
    """Return a stable ID that does not reveal the value. None: it cannot be accepted."""
    if leak.known or leak.in_tree or leak.commit is None:
        return None
    text = "\0".join((leak.name, leak.path, leak.commit))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def read_accepted(directory: Path) -> frozenset[str]:
    """Return the first word of each line; lines without a reason do not count."""
    try:
        with (directory / ACCEPTED_FILE).open("rb") as file:
            lines = file.read(_LARGEST_ACCEPTED_FILE).decode("utf-8", "replace").splitlines()
    except OSError:
        return frozenset()
    rows = [line.split(maxsplit=1) for line in lines if not line.startswith("#")]
    return frozenset(row[0] for row in rows if len(row) > 1)
