"""Results of a check of secrets, and what was not checked."""

from __future__ import annotations

from stockman.model.problem import Problem
from stockman.model.record import record


@record
class Limits:
    """Limits of a scan; everything beyond is reported as not scanned."""

    commits: int = 10_000
    """Number of newest commits whose files are read."""
    object_bytes: int = 16 << 20
    """Size of the largest file that is read."""
    total_bytes: int = 2 << 30
    """Total number of bytes that are read."""


@record
class SecretFinding:
    """One problem."""

    problem: Problem
    file: str = ""
    """Empty: it is not in a file."""
    line: int | None = None
    """None: it concerns the whole file."""
    secret: str = ""
    """Name of the secret. Empty: the finding is about a file."""
    commit: str | None = None
    """First commit that contains it. None: no scanned commit does."""
    versions: int = 0
    """Number of versions of the file in history that contain it."""
    id: str | None = None
    """ID to accept the finding. None: it cannot be accepted."""


@record
class NotScanned:
    """Something that was not scanned."""

    subject: str
    why: str
    optional: bool = False
    """Whether the user left it out with `--no-history` or by giving no age identity."""


@record
class Coverage:
    """What was scanned."""

    files: int = 0
    """Tracked and untracked files."""
    commits: int = 0
    objects: int = 0
    """Commits, tags and file versions in history."""
    total_bytes: int = 0


@record
class SecretsReport:
    """The outcome of one check."""

    findings: tuple[SecretFinding, ...]
    fixed: tuple[str, ...]
    """What `--fix` changed."""
    encrypted: tuple[str, ...]
    """Encrypted files that were checked."""
    compared: int
    """Number of secrets that were searched for."""
    too_plain: tuple[str, ...]
    """Secrets that are too short or too simple to search for."""
    accepted: int
    """Number of findings in history that the user accepted."""
    scanned: Coverage
    not_scanned: tuple[NotScanned, ...]

    @property
    def complete(self) -> bool:
        """Whether everything was scanned."""
        return not self.not_scanned

    @property
    def has_failures(self) -> bool:
        """Whether something could not be scanned that the user did not leave out."""
        return not all(entry.optional for entry in self.not_scanned)
