"""What a check of secrets found, and what it did not look at."""

from __future__ import annotations

from stockman.model.problem import Problem
from stockman.model.record import record


@record
class Limits:
    """How far a scan goes; what lies beyond is reported as not scanned."""

    commits: int = 10_000
    """Newest commits whose files are read."""
    object_bytes: int = 16 << 20
    """Size of the largest file that is read."""
    total_bytes: int = 2 << 30
    """Bytes read altogether."""


@record
class SecretFinding:
    """One thing that is wrong."""

    problem: Problem
    file: str = ""
    """Empty: it is in no file."""
    line: int | None = None
    """None: it is about the whole file."""
    secret: str = ""
    """What the secret is called. Empty: the finding is about a file."""
    commit: str | None = None
    """First commit that has it. None: it is in no commit that was scanned."""
    versions: int = 0
    """How many versions of the file in history have it."""
    id: str | None = None
    """What the finding is accepted by. None: it cannot be."""


@record
class NotScanned:
    """Something that was not looked at, so that nothing is known about it."""

    subject: str
    why: str
    optional: bool = False
    """The user left it out, by `--no-history` or by giving no age identity."""


@record
class Coverage:
    """What was looked at."""

    files: int = 0
    """Files that git tracks or would take."""
    commits: int = 0
    objects: int = 0
    """Commits, tags and versions of files in history."""
    total_bytes: int = 0


@record
class SecretsReport:
    """The outcome of one check."""

    findings: tuple[SecretFinding, ...]
    fixed: tuple[str, ...]
    """What `--fix` put right."""
    encrypted: tuple[str, ...]
    """Encrypted files that were looked at."""
    compared: int
    """Secrets whose values were looked for."""
    too_plain: tuple[str, ...]
    """Secrets that are too short or too plain to be looked for."""
    accepted: int
    """Findings in history that the user accepted, and that are not told again."""
    scanned: Coverage
    not_scanned: tuple[NotScanned, ...]

    @property
    def complete(self) -> bool:
        """Whether everything was looked at."""
        return not self.not_scanned

    @property
    def has_failures(self) -> bool:
        """Whether something could not be scanned that the user did not leave out."""
        return not all(entry.optional for entry in self.not_scanned)
