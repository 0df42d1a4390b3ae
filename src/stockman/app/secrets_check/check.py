"""Run all checks of secrets: encrypted files, leaks, recipients and key files."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from stockman.adapters import files
from stockman.adapters.files import make_private
from stockman.app.secrets.keyring import Keyring
from stockman.app.secrets.store import Rules, find_rules
from stockman.app.secrets_check.encrypted_files import EncryptedFileCheck
from stockman.app.secrets_check.known import KnownSecrets
from stockman.app.secrets_check.leaks import (
    ACCEPTED_FILE,
    CoverageCallback,
    Leak,
    LeakScan,
    leak_id,
    read_accepted,
)
from stockman.app.secrets_check.report import (
    Coverage,
    Limits,
    NotScanned,
    SecretFinding,
    SecretsReport,
)
from stockman.app.secrets_check.scanner import Scanner, build_needles, is_searchable
from stockman.app.workspace.plain_secrets import plain_secrets
from stockman.app.workspace.secret_names import (
    GITIGNORE,
    PARTLY_ENCRYPTED,
    is_secret_name,
    missing_lines,
    secret_names,
)
from stockman.assessment.doctor.secrets import SECRET_FILES
from stockman.model.errors import NotFound, StockmanError
from stockman.model.origin import Position
from stockman.model.problem import Problem, Severity
from stockman.model.record import record
from stockman.ports.environment import NoAnswer
from stockman.ports.git_history import GitHistory

_OTHERS = 0o077
_NAMES = frozenset(name.rpartition("/")[2] for name in SECRET_FILES)


def key_files(names: Iterable[str]) -> list[str]:
    """Return the names that are key files, sorted."""
    return sorted(name for name in names if name.rpartition("/")[2] in _NAMES)


def add_to_gitignore(directory: Path, names: Iterable[str]) -> None:
    """Add missing lines and these files to `.gitignore`; leave a link alone."""
    path = directory / GITIGNORE
    existing = path.read_bytes() if path.exists() else b""
    added = missing_lines(existing)
    present = {line.strip().strip(b"/") for line in (existing + added).splitlines()}
    added += b"".join(b"/%b\n" % name.encode() for name in names if name.encode() not in present)
    if not path.exists():
        path.touch()
    files.append_bytes(path, added)


def wrong_modes(directory: Path) -> Iterator[tuple[str, int]]:
    """Return key files that other users can read, with their modes."""
    for name in SECRET_FILES:
        try:
            facts = (directory / name).stat()
        except OSError:
            continue
        mode = stat.S_IMODE(facts.st_mode)
        if stat.S_ISREG(facts.st_mode) and mode & _OTHERS:
            yield name, mode


def restrict_mode(path: Path) -> bool:
    """Set the mode of our own file to 0600. Return False if somebody else owns it."""
    try:
        if path.stat().st_uid == os.geteuid():
            make_private(path)
            return True
    except OSError:
        return False
    return False


def git_tracks_key(name: str) -> Problem:
    return Problem(
        code="leak.key-file",
        what=f"git keeps {name}, which holds a key",
        where=name,
        why="every clone of the repository has it, and history keeps it after it is removed",
        fix=f"run `git rm --cached {shlex.quote(name)}`, ignore it, and make the key anew",
    )


def missing_from_gitignore(name: str) -> Problem:
    return Problem(
        code="leak.key-file",
        what=f"git does not ignore {name}, which holds a key",
        where=name,
        why="the next `git add .` takes it along, and every clone gets it",
        fix="run `stockman secrets check --fix`, which adds it to .gitignore",
    )


def open_to_others(name: str, mode: int) -> Problem:
    return Problem(
        code="leak.key-mode",
        what=f"others on this machine can open {name}",
        where=name,
        why=f"its mode is {mode:04o}",
        fix="run `stockman secrets check --fix`, which sets it to 0600",
    )


_COMMIT_DIGITS = 12


@record
class SecretsCheckOptions:
    """What to check."""

    directory: Path
    limits: Limits = Limits()
    fix: bool = False
    """Whether modes and `.gitignore` are fixed."""
    history: bool = True
    """Whether commits are scanned in addition to files."""


def check_secrets(
    options: SecretsCheckOptions,
    keyring: Keyring,
    environment: Mapping[str, str],
    history: GitHistory,
    listen: CoverageCallback = lambda _: None,
) -> SecretsReport:
    """Run all checks; the report includes what could not be checked."""
    return _SecretsCheck(options, keyring, environment, history).report(listen)


class _SecretsCheck:
    def __init__(
        self,
        options: SecretsCheckOptions,
        keyring: Keyring,
        environment: Mapping[str, str],
        history: GitHistory,
    ) -> None:
        self._options = options
        self._directory = options.directory.resolve()
        self._keyring = keyring
        self._environment = environment
        self._history = history
        self._findings: list[SecretFinding] = []
        self._fixed: list[str] = []
        self._accepted = 0
        self._not_scanned: list[NotScanned] = []
        self._top = self._work_tree()

    def report(self, listen: CoverageCallback) -> SecretsReport:
        encrypted = self._check_encrypted_files()
        known = KnownSecrets(self._directory, self._keyring, self._environment)
        known.collect()
        self._key_files()
        self._add(
            replace(found, severity=Severity.ERROR) for found in plain_secrets(self._directory)
        )
        telling = [secret for secret in known.secrets if is_searchable(secret)]
        plain = {secret.name for secret in known.secrets} - {secret.name for secret in telling}
        if not self._keyring.identities:
            why = "there is no age identity here, so only what looks like a key was looked for"
            self._not_scanned.append(
                NotScanned(subject="the values of encrypted files", why=why, optional=True)
            )
        else:
            self._not_scanned += known.unopened
        coverage = self._leaks(Scanner(build_needles(telling)), listen)
        return SecretsReport(
            findings=tuple(self._findings),
            fixed=tuple(self._fixed),
            encrypted=encrypted,
            compared=len({secret.name for secret in telling}),
            too_plain=tuple(sorted(plain)),
            accepted=self._accepted,
            scanned=coverage,
            not_scanned=tuple(self._not_scanned),
        )

    def _work_tree(self) -> Path | None:
        why = "there is no git repository here"
        try:
            top = self._history.top()
        except NoAnswer as none:
            top, why = None, str(none)
        if top is None:
            self._not_scanned.append(NotScanned(subject="tracked files and history", why=why))
        return top

    def _names(self) -> tuple[list[str], list[str]]:
        """Return tracked and untracked files below the workspace, relative to it."""
        if self._top is None:
            return [], []
        tracked = (entry.path for entry in self._history.tracked_files() if entry.kind == "file")
        return self._below(tracked), self._below(self._history.untracked_files())

    def _below(self, paths: Iterable[str]) -> list[str]:
        names = (self._from_here(path) for path in paths)
        return sorted({name for name in names if not name.startswith("../")})

    def _from_here(self, path: str) -> str:
        return path if self._top in (None, self._directory) else self._relative(path)

    def _relative(self, path: str) -> str:
        top = self._top or self._directory
        return os.path.relpath(top.resolve() / path, self._directory)

    def _add(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            location = problem.where
            file, line = (
                (location.file, location.line)
                if isinstance(location, Position)
                else (location, None)
            )
            self._findings.append(SecretFinding(problem=problem, file=file, line=line))

    def _check_encrypted_files(self) -> tuple[str, ...]:
        if self._top is None:
            names = list(secret_names(self._directory))
        else:
            tracked, untracked = self._names()
            partly = set(secret_names(self._directory)).intersection(PARTLY_ENCRYPTED)
            names = [name for name in (*tracked, *untracked) if is_secret_name(name)]
            names += sorted(partly.intersection((*tracked, *untracked)))
        judge = EncryptedFileCheck(self._rules(names))
        staged = self._check_staged(names)
        for name in names:
            try:
                content = self._content(name)
            except FileNotFoundError:
                continue
            except OSError as error:
                why = error.strerror or type(error).__name__
                self._not_scanned.append(NotScanned(subject=name, why=why))
                continue
            self._add(judge.problems(name, content))
            if staged.get(name, content) != content:
                self._add(_for_index(problem) for problem in judge.problems(name, staged[name]))
        self._not_scanned += judge.not_checked
        return tuple(name for name in names)

    def _content(self, name: str) -> bytes:
        largest = self._options.limits.object_bytes
        with (self._directory / name).open("rb") as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise OSError(0, f"it is larger than {largest:,} bytes (--max-object-bytes)")
        return content

    def _check_staged(self, names: list[str]) -> dict[str, bytes]:
        """Check the staged content of these files, which the next commit contains."""
        if self._top is None:
            return {}
        entries = {
            self._from_here(entry.path): entry.object for entry in self._history.tracked_files()
        }
        present = [name for name in names if name in entries]
        sizes = self._history.sizes([entries[name] for name in present])
        largest = self._options.limits.object_bytes
        staged = [
            name
            for name, size in zip(present, sizes, strict=True)
            if size is not None and size <= largest
        ]
        contents = self._history.contents([entries[name] for name in staged])
        return {
            name: content
            for name, content in zip(staged, contents, strict=True)
            if content is not None
        }

    def _rules(self, names: list[str]) -> Rules | None:
        try:
            return find_rules(self._directory, self._environment)
        except NotFound as error:
            if names:
                why = error.problem.what
                self._not_scanned.append(NotScanned(subject="recipients", why=why))
        except StockmanError as error:
            self._add([error.problem])
            self._not_scanned.append(NotScanned(subject="recipients", why=error.problem.what))
        return None

    def _key_files(self) -> None:
        tracked, untracked = self._names()
        self._add(git_tracks_key(name) for name in key_files(tracked))
        exposed = key_files(untracked)
        if exposed and self._options.fix:
            add_to_gitignore(self._directory, exposed)
            still = key_files(self._names()[1])
            self._fixed += [f"{name} is ignored by git" for name in exposed if name not in still]
            exposed = still
        self._add(missing_from_gitignore(name) for name in exposed)
        for name, mode in wrong_modes(self._directory):
            if self._options.fix and restrict_mode(self._directory / name):
                self._fixed.append(f"{name} has mode 0600, and had {mode:04o}")
            else:
                self._add([open_to_others(name, mode)])

    def _leaks(self, scanner: Scanner, listen: CoverageCallback) -> Coverage:
        if self._top is None:
            return Coverage()
        scan = LeakScan(self._history, scanner, self._options.limits, listen)
        try:
            scan.scan_files(self._top)
        except NoAnswer as none:
            scan.fail("the rest of the tracked files", str(none))
        if self._options.history:
            try:
                scan.scan_history()
            except NoAnswer as none:
                scan.fail("the rest of the history", str(none))
        else:
            why = "--no-history was given"
            self._not_scanned.append(NotScanned(subject="history", why=why, optional=True))
        findings = [self._finding(leak) for leak in scan.leaks]
        agreed = read_accepted(self._directory)
        self._findings += [finding for finding in findings if finding.id not in agreed]
        self._accepted = sum(finding.id in agreed for finding in findings)
        self._not_scanned += scan.not_scanned
        return scan.coverage

    def _finding(self, leak: Leak) -> SecretFinding:
        commit = (leak.commit or "")[:_COMMIT_DIGITS]
        file = self._from_here(leak.path) if leak.path else "the message"
        position: Position | str = Position(file, leak.line, 1)
        if not leak.in_tree:
            position = f"{file}:{leak.line} in commit {commit}"
        named = leak_id(leak)
        why = "the next commit takes it along, and then every clone has it"
        fix = "take it out of the file, and make it anew if anybody else saw it"
        if commit:
            why = f"every clone has it since commit {commit}, also once the file is changed"
            fix = (
                "make the secret anew where it comes from: taking it out of history does not take"
                " it back"
            )
        if named is not None:
            fix += f"; once that is done, write `{named} REASON` into {ACCEPTED_FILE}"
        return SecretFinding(
            problem=Problem(
                code="leak.value" if leak.known else "leak.pattern",
                what=f"{leak.name} stands in {file}" if leak.known else f"{file} holds {leak.name}",
                where=position,
                why=why,
                fix=fix,
            ),
            id=named,
            file=file if leak.path else "",
            line=leak.line,
            secret=leak.name,
            commit=leak.commit,
            versions=leak.versions,
        )


def _for_index(problem: Problem) -> Problem:
    """Return the problem for the staged content."""
    return Problem(
        code=problem.code,
        what=f"{problem.what} (as staged)",
        where=problem.where,
        why=problem.why,
        fix=f"{problem.fix}; then stage the file again",
        severity=problem.severity,
    )
