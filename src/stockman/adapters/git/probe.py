"""Read the state of a repository with the git program.

Git runs without prompts, pager, hooks and file monitor, and without environment variables that
point to another repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from stockman.model.pattern import pattern
from stockman.ports.environment import Exposure, GitFileState, NoAnswer, Remote, WorkTree
from stockman.ports.git_history import FileKind, ObjectKind, StoredObject, TrackedFile

if TYPE_CHECKING:
    import subprocess

_TIMEOUT = 3.0
"""Timeouts in seconds."""
_USER_SETTINGS = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
_READ_ONLY_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
OPTIONS = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
)
_NO_WORK_TREE = ("not a git repository", "must be run in a work tree", "is outside repository")


class LocalGitProbe:
    """`GitProbe` with the git program."""

    def __init__(
        self, directory: Path, *, program: str = "git", patience: float = _TIMEOUT
    ) -> None:
        self._directory = directory
        self._program = program
        self._patience = patience
        self._silent = ""
        """Why git is not run again. Empty: it has responded so far."""

    def version(self) -> str | None:
        try:
            answer = self._run(["--version"])
        except FileNotFoundError:
            return None
        return answer.stdout.removeprefix("git version ").partition(" ")[0].strip()

    def work_tree(self) -> WorkTree | None:
        inside = self._translate_errors(["rev-parse", "--is-inside-work-tree"])
        if inside is None or inside.stdout.strip() != "true":
            return None
        branch = self._translate_errors(["symbolic-ref", "--quiet", "--short", "HEAD"])
        commit = self._translate_errors(["rev-parse", "--quiet", "--verify", "HEAD"])
        return WorkTree(
            branch=(branch.stdout.strip() or None) if branch else None,
            has_commits=commit is not None and commit.returncode == 0,
            remotes=self._remotes(),
        )

    def file_state(self, path: str) -> GitFileState:
        listed = self._translate_errors(["--literal-pathspecs", "ls-files", "-z", "--", path])
        if listed is None:
            return "outside"
        if listed.stdout:
            return "tracked"
        ignored = self._translate_errors(["check-ignore", "--quiet", "--", path])
        if ignored is None:
            return "outside"
        return "ignored" if ignored.returncode == 0 else "untracked"

    def exposure(self, name: str) -> Exposure:
        if not self._is_below_a_repository():
            return "outside"
        try:
            # Without `--no-index`, a file in the index does not count as ignored.
            ignored = self._translate_errors(["check-ignore", "--quiet", "--", name])
        except NoAnswer:
            return "tracked"
        if ignored is None:
            return "outside"
        return "ignored" if ignored.returncode == 0 else "tracked"

    def _remotes(self) -> tuple[Remote, ...]:
        listed = self._translate_errors(["remote", "--verbose"])
        remotes: dict[Remote, None] = {}
        for line in listed.stdout.splitlines() if listed else ():
            name, _, address = line.partition("\t")
            remotes[Remote(name=name, url=address.rpartition(" (")[0])] = None
        return tuple(remotes)

    def _is_below_a_repository(self) -> bool:
        start = self._directory.resolve()
        return any((directory / ".git").exists() for directory in (start, *start.parents))

    def _translate_errors(
        self, arguments: Sequence[str]
    ) -> subprocess.CompletedProcess[str] | None:
        """Run git; None: the path is not in a work tree."""
        try:
            answer = self._run(arguments)
        except FileNotFoundError:
            raise NoAnswer("git is not installed") from None
        if answer.returncode <= 1:
            return answer
        if any(sign in answer.stderr for sign in _NO_WORK_TREE):
            return None
        complaint = answer.stderr.strip().partition("\n")[0].removeprefix("fatal: ")
        raise NoAnswer(f"git reports: {complaint or f'status {answer.returncode}'}")

    def _run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        import subprocess

        if self._silent:
            raise NoAnswer(self._silent)
        try:
            return subprocess.run(
                [self._program, *OPTIONS, *arguments],
                cwd=self._directory,
                env=git_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=self._patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._silent = f"git did not respond within {self._patience:g} s"
            raise NoAnswer(self._silent) from None
        except FileNotFoundError:
            raise
        except OSError as error:
            if not is_installed(self._program):
                raise FileNotFoundError from None
            raise NoAnswer(f"git cannot be run: {error.strerror or error}") from None


def is_installed(program: str) -> bool:
    """Return whether a program is in a directory on PATH.

    The error of starting it is not sufficient: it is EACCES if a directory is not readable.
    """
    from shutil import which

    return which(program) is not None


_SECRET_VARIABLE = pattern(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE|(API|ACCESS|AGE|_)_?KEY",
    re.IGNORECASE,
)


def git_environment() -> dict[str, str]:
    """Return the environment variables for git, without secrets: hooks and helpers see them."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if (not name.startswith("GIT_") or name in _USER_SETTINGS)
        and not _SECRET_VARIABLE.search(name)
    }
    return kept | _READ_ONLY_ENVIRONMENT


_BATCH_SIZE = 256
"""Objects per request: their names fit into a pipe buffer, which avoids a deadlock."""
_KIND_AND_SIZE = "--batch-check=%(objecttype) %(objectsize)"
_KINDS: tuple[ObjectKind, ...] = ("blob", "commit", "tag", "tree")
_FILE_KINDS: dict[str, FileKind] = {"120000": "link", "160000": "repository"}
_EVERYTHING = ("--", ":/")


class LocalGitHistory:
    """`GitHistory` with the git program."""

    def __init__(self, directory: Path, *, program: str = "git") -> None:
        self._directory = directory
        self._program = program
        self._reader: _GitProcess | None = None

    def top(self) -> Path | None:
        try:
            top = self._answer("rev-parse", "--show-toplevel")
        except NoAnswer as error:
            if "not a git repository" in str(error) or "work tree" in str(error):
                return None
            raise
        return Path(_text(top.removesuffix(b"\n")))

    def tracked_files(self) -> tuple[TrackedFile, ...]:
        listed = self._answer("ls-files", "--stage", "-z", "--full-name", *_EVERYTHING)
        return tuple(_parse_index_entry(line) for line in listed.split(b"\0") if line)

    def untracked_files(self) -> tuple[str, ...]:
        listed = self._answer(
            "ls-files", "--others", "--exclude-standard", "-z", "--full-name", *_EVERYTHING
        )
        return tuple(_text(name) for name in listed.split(b"\0") if name)

    def is_shallow(self) -> bool:
        return self._answer("rev-parse", "--is-shallow-repository").strip() == b"true"

    def commit_count(self) -> int:
        return int(self._answer("rev-list", "--all", "--count"))

    def objects(self, newest: int) -> Iterator[StoredObject]:
        arguments = (
            *("rev-list", "--objects", "--in-commit-order", "--reverse", "--missing=print"),
            *(f"--max-count={newest}", "--all"),
        )
        with self._process(*arguments) as lines, self._sizes() as types:
            commit = ""
            while chunk := list(islice(lines.output, _BATCH_SIZE)):
                # Missing objects come last, marked with a `?`.
                names = [line.rstrip(b"\n").lstrip(b"?").partition(b" ") for line in chunk]
                types.ask(name for name, _, _ in names)
                for name, _, path in names:
                    kind, size = _parse_kind_and_size(types.line())
                    commit = name.decode("ascii") if kind == "commit" else commit
                    yield StoredObject(name.decode("ascii"), kind, size, _text(path), commit)
            lines.finish()

    def sizes(self, names: Sequence[str]) -> Iterator[int | None]:
        with self._sizes() as process:
            for start in range(0, len(names), _BATCH_SIZE):
                chunk = names[start : start + _BATCH_SIZE]
                process.ask(name.encode("ascii") for name in chunk)
                for _ in chunk:
                    kind, size = _parse_kind_and_size(process.line())
                    yield None if kind == "missing" else size

    def contents(self, names: Sequence[str]) -> Iterator[bytes | None]:
        if self._reader is None:
            self._reader = self._start("cat-file", "--batch")
        reader = self._reader
        for start in range(0, len(names), _BATCH_SIZE):
            chunk = names[start : start + _BATCH_SIZE]
            reader.ask(name.encode("ascii") for name in chunk)
            for _ in chunk:
                yield reader.content()

    def close(self) -> None:
        if self._reader is not None:
            self._reader.end()
            self._reader = None

    def _sizes(self) -> AbstractContextManager[_GitProcess]:
        return self._process("cat-file", _KIND_AND_SIZE)

    @contextmanager
    def _process(self, *arguments: str) -> Iterator[_GitProcess]:
        process = self._start(*arguments)
        try:
            yield process
        finally:
            process.end()

    def _answer(self, *arguments: str) -> bytes:
        with self._process(*arguments) as process:
            output = process.output.read()
            process.finish()
            return output

    def _start(self, *arguments: str) -> _GitProcess:
        import subprocess
        import tempfile  # imports compression modules, which most commands do not need

        complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process ends
        try:
            process = subprocess.Popen(
                [self._program, *OPTIONS, *arguments],
                cwd=self._directory,
                env=git_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
        except OSError as error:
            complaints.close()
            if not is_installed(self._program):
                raise NoAnswer("git is not installed") from None
            raise NoAnswer(f"git cannot be run: {error.strerror or error}") from None
        return _GitProcess(process, complaints)


class _GitProcess:
    """A running git process."""

    def __init__(self, process: subprocess.Popen[bytes], complaints: IO[bytes]) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("git runs without pipes")
        self._process = process
        self._complaints = complaints
        self._input = process.stdin
        self.output = process.stdout

    def ask(self, names: Iterable[bytes]) -> None:
        try:
            self._input.write(b"".join(name + b"\n" for name in names))
            self._input.flush()
        except BrokenPipeError:
            self._fail()

    def line(self) -> bytes:
        line = self.output.readline()
        if not line:
            self._fail()
        return line

    def content(self) -> bytes | None:
        """Return the next object; None if it is missing."""
        header = self.line().split()
        if header[-1] == b"missing":
            return None
        size = int(header[-1])
        content = self.output.read(size + 1)
        if len(content) != size + 1:
            self._fail()
        return content[:-1]

    def finish(self) -> None:
        """Wait until git has succeeded."""
        self._input.close()
        if self._process.wait() != 0:
            self._fail()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._input, self.output, self._complaints):
            try:
                stream.close()
            except BrokenPipeError:
                continue

    def _fail(self) -> NoReturn:
        self._process.kill()
        status = self._process.wait()
        self._complaints.seek(0)
        message = _text(self._complaints.read()).strip().partition("\n")[0].removeprefix("fatal: ")
        raise NoAnswer(f"git reports: {message or f'status {status}'}")


def _parse_index_entry(line: bytes) -> TrackedFile:
    facts, _, path = line.partition(b"\t")
    mode, name, _ = facts.decode("ascii").split(" ")
    return TrackedFile(_text(path), name, _FILE_KINDS.get(mode, "file"))


def _parse_kind_and_size(line: bytes) -> tuple[ObjectKind, int]:
    kind, _, size = line.decode("ascii", "replace").strip().partition(" ")
    for known in _KINDS:
        if kind == known:
            return known, int(size)
    return "missing", 0  # git prints `NAME missing`


def _text(raw: bytes) -> str:
    """Decode file names as Python does, so that any bytes can be encoded again."""
    return raw.decode("utf-8", "surrogateescape")
