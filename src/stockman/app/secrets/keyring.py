"""Available age identities, from every source that SOPS uses and from `age.key`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.adapters.files import KeyFile, make_private, read_key_file
from stockman.crypto.age.identities import AgeIdentity, parse_identities
from stockman.model.errors import Denied, StockmanError
from stockman.model.problem import Problem, Severity
from stockman.model.record import record
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.crypto.sops.files import DecryptedFile
    from stockman.ports.system import KeyCommand


def key_file_mode(name: str, mode: int) -> Problem:
    return Problem(
        code="key.mode",
        what=f"others on this machine can open {name}",
        where=name,
        why=f"its mode is {mode:04o}, and whoever reads it can read every secret",
        fix="run `stockman secrets status --fix`, which sets the mode to 0600",
        severity=Severity.WARNING,
    )


def key_file_foreign(name: str, mode: int) -> Problem:
    return Problem(
        code="key.owner",
        what=f"the mode of {name} was left as it is",
        where=name,
        why=f"others can open it (mode {mode:04o}), and it belongs to another user",
        fix="let its owner set the mode to 0600, or keep a copy of your own",
        severity=Severity.WARNING,
    )


def key_source_unusable(name: str, why: str) -> Problem:
    return Problem(
        code="key.source",
        what=f"no identity can be taken from {name}",
        where=name,
        why=why,
        fix="keep in it only lines that `age-keygen` wrote, and give yourself the right to read it",
        severity=Severity.WARNING,
    )


def key_command_silent(why: str) -> Problem:
    return Problem(
        code="key.command",
        what="the command of SOPS_AGE_KEY_CMD gave no identity",
        where="SOPS_AGE_KEY_CMD",
        why=why,
        fix="run it by hand with SOPS_AGE_RECIPIENT set; it has to print `AGE-SECRET-KEY-1...`",
        severity=Severity.WARNING,
    )


def no_identity(file: str, sources: Sequence[str], broken: Sequence[Problem]) -> Denied:
    """Return the error for a file that no identity opens."""
    reasons = "".join(f"; {problem.what}: {problem.why}" for problem in broken)
    return Denied(
        Problem(
            code="key.none",
            what=f"there is no age identity to open {file} with",
            where=file,
            why=f"none is in {', '.join(sources)}{reasons}",
            fix="put your age.key into this directory, or name it in SOPS_AGE_KEY_FILE",
        )
    )


AGE_KEY = "age.key"
_KEY, _KEY_FILE, _KEY_COMMAND = "SOPS_AGE_KEY", "SOPS_AGE_KEY_FILE", "SOPS_AGE_KEY_CMD"
_RECIPIENT = "SOPS_AGE_RECIPIENT"
_ENCRYPTED = ("age-encryption", "-----BEGIN AGE")


@record
class KeySource:
    """A source of identities."""

    name: str
    """`SOPS_AGE_KEY`, or the path of a file for display."""
    identities: tuple[AgeIdentity, ...]


class Keyring:
    """Identities and their sources; it may be empty.

    An unusable source is a warning, because SOPS uses the others too.
    """

    def __init__(
        self,
        sources: Sequence[KeySource] = (),
        problems: Sequence[Problem] = (),
        *,
        searched: Sequence[str] = (AGE_KEY,),
        command: _KeyCommand | None = None,
    ) -> None:
        self.sources = tuple(sources)
        self._problems = list(problems)
        self._searched = tuple(searched)
        self._command = command
        self.cache: dict[str, tuple[bytes, DecryptedFile]] = {}
        """Files that were opened to be read alone, by name, with the bytes that they had then."""

    @property
    def identities(self) -> tuple[AgeIdentity, ...]:
        """All identities available without running a command, each once."""
        identities = [identity for source in self.sources for identity in source.identities]
        return _without_duplicates([*identities, *(self._command.known if self._command else ())])

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Warnings about sources and modes, without key material."""
        return (*self._problems, *(self._command.problems if self._command else ()))

    def identities_for(self, recipients: Sequence[str], file: str) -> tuple[AgeIdentity, ...]:
        """Return identities for a file with these recipients; refuse if there is none.

        The user's command runs only if nothing else fits, once for each recipient.
        """
        known_recipients = set(recipients)
        if self._command and not any(
            identity.recipient in known_recipients for identity in self.identities
        ):
            self._command.ask(recipients)
        if not self.identities:
            raise no_identity(file, self._searched, self.problems)
        return self.identities

    def owner(self, recipients: Iterable[str]) -> AgeIdentity | None:
        """Return the first identity that opens a file with these recipients."""
        known_recipients = set(recipients)
        return next(
            (identity for identity in self.identities if identity.recipient in known_recipients),
            None,
        )


class _KeyCommand:
    """`SOPS_AGE_KEY_CMD`, run at most once for each recipient."""

    def __init__(self, command: str, runner: KeyCommand) -> None:
        self._command = command
        self._runner = runner
        self._requested: set[str] = set()
        self.known: list[AgeIdentity] = []
        self.problems: list[Problem] = []

    def ask(self, recipients: Sequence[str]) -> None:
        for recipient in recipients:
            if recipient in self._requested:
                continue
            self._requested.add(recipient)
            self._ask(recipient)
            if any(identity.recipient == recipient for identity in self.known):
                return

    def _ask(self, recipient: str) -> None:
        from stockman.ports.environment import NoAnswer

        try:
            text = self._runner.output(self._command, {_RECIPIENT: recipient}).decode("ascii")
            self.known += parse_identities(text, f"output of {_KEY_COMMAND}")
        except NoAnswer as none:
            self.problems.append(key_command_silent(str(none)))
        except UnicodeDecodeError:
            self.problems.append(key_command_silent("it printed something that is no text"))
        except StockmanError as error:
            reason = f"{error.problem.where}: {error.problem.why}"
            self.problems.append(key_command_silent(reason))


def find_keyring(
    directory: Path,
    environment: Mapping[str, str],
    *,
    runner: KeyCommand | None = None,
    fix: bool = False,
) -> Keyring:
    """Find the identities of a directory and of the environment.

    `fix` makes our own key files private if others can read them.
    """
    finding = _KeyringSearch(fix=fix)
    if _KEY in environment:
        finding.text(_KEY, Secret(environment[_KEY]), several_per_line=True)
    named = environment.get(_KEY_FILE)
    if named is not None:
        finding.file(f"{_KEY_FILE} ({named})" if named else _KEY_FILE, directory / named)
    finding.file(AGE_KEY, directory / AGE_KEY, optional=True)
    usual = default_key_file(environment)
    if usual is not None:
        finding.file(str(usual), usual, optional=True)
    command = environment.get(_KEY_COMMAND)
    searched = [*finding.searched, *([_KEY_COMMAND] if command is not None else [])]
    return Keyring(
        finding.sources,
        finding.problems,
        searched=searched,
        command=_KeyCommand(command, runner or _process()) if command is not None else None,
    )


def default_key_file(environment: Mapping[str, str]) -> Path | None:
    """Return the path of SOPS's key file of the user. None: there is no home directory."""
    mac = sys.platform == "darwin"
    chosen, home = environment.get("XDG_CONFIG_HOME", ""), environment.get("HOME", "")
    if chosen and (mac or Path(chosen).is_absolute()):
        base = Path(chosen)
    elif home and not chosen:
        base = Path(home) / ("Library/Application Support" if mac else ".config")
    else:
        return None
    return base / "sops" / "age" / "keys.txt"


class _KeyringSearch:
    """One search: identities found and problems."""

    def __init__(self, *, fix: bool) -> None:
        self._fix = fix
        self._identities: set[Path] = set()
        self.sources: list[KeySource] = []
        self.problems: list[Problem] = []
        self.searched: list[str] = []

    def file(self, name: str, path: Path, *, optional: bool = False) -> None:
        """Read a key file; an optional one may be missing."""
        self.searched.append(name)
        if path.resolve() in self._identities:
            return
        self._identities.add(path.resolve())
        try:
            text = read_key_file(path)
        except FileNotFoundError as error:
            if not optional:
                self.problems.append(key_source_unusable(name, _reason(error)))
            return
        except OSError as error:
            self.problems.append(key_source_unusable(name, _reason(error)))
            return
        self._check_mode(name, path, text)
        self.text(name, text.text)

    def text(self, name: str, text: Secret, *, several_per_line: bool = False) -> None:
        """Read the identities in a text."""
        if name not in self.searched:
            self.searched.append(name)
        if text.reveal().startswith(_ENCRYPTED):
            why = "it is encrypted itself, and passphrases are not asked for"
            self.problems.append(key_source_unusable(name, why))
            return
        try:
            identities = parse_identities(text.reveal(), name, several_per_line=several_per_line)
        except StockmanError as error:
            position = str(error.problem.where).removeprefix(name).removeprefix(":")
            line = f"line {position}: " if position else ""
            self.problems.append(key_source_unusable(name, f"{line}{error.problem.why}"))
            return
        self.sources.append(KeySource(name=name, identities=identities))

    def _check_mode(self, name: str, path: Path, key_file: KeyFile) -> None:
        if not key_file.is_exposed:
            return
        if self._fix and key_file.is_ours:
            with suppress(OSError):
                make_private(path)
                return
        problem = key_file_foreign if self._fix else key_file_mode
        self.problems.append(problem(name, key_file.mode))


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _without_duplicates(identities: Iterable[AgeIdentity]) -> tuple[AgeIdentity, ...]:
    return tuple(
        {(identity.is_post_quantum, identity.raw): identity for identity in identities}.values()
    )


def _process() -> KeyCommand:
    from stockman.adapters.programs import ProgramKeyCommand

    return ProgramKeyCommand()
