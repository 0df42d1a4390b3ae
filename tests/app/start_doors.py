"""Doors for starting a directory: a clock that stands still, dice that can be foretold, a git."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache

from stockman.app.init.directory import InitContext
from stockman.model.version import Version
from stockman.ports.environment import Exposure, GitFileState, NoAnswer, WorkTree
from stockman.talos.secrets.bundle import SecretsBundle, new_bundle
from tests.crypto.generated import Dice

NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)


class StandingClock:
    """A clock on which it is always noon."""

    def now(self) -> datetime:
        return NOON


class CountingDice:
    """Dice that show one number after the other, until somebody interrupts them."""

    def __init__(self, *, throws: int | None = None) -> None:
        self._left = throws
        self._next = 0

    def random_bytes(self, count: int) -> bytes:
        if self._left is not None:
            if not self._left:
                raise KeyboardInterrupt
            self._left -= 1
        self._next += 1
        return self._next.to_bytes(count, "big")


class ToldRepo:
    """A git that was told how it sees each file; `outside` for those it was not told of."""

    def __init__(self, standings: Mapping[str, GitFileState] | None = None) -> None:
        self._standings = standings

    def version(self) -> str | None:
        return None

    def work_tree(self) -> WorkTree | None:
        return None

    def file_state(self, path: str) -> GitFileState:
        if self._standings is None:
            raise NoAnswer("git is not installed")
        return self._standings.get(path, "ignored" if _is_secret(path) else "untracked")

    def exposure(self, name: str) -> Exposure:
        return "ignored" if self.file_state(name) == "ignored" else "tracked"


@cache
def one_bundle() -> SecretsBundle:
    """A bundle that is made once for all tests: its RSA key takes a second."""
    return new_bundle(Version(1, 13), NOON, Dice("bundle").bytes)


def same_bundle(
    contract: Version, now: datetime, random_bytes: Callable[[int], bytes]
) -> SecretsBundle:
    """The one bundle, whoever asks."""
    del contract, now, random_bytes
    return one_bundle()


def doors(
    *, dice: CountingDice | None = None, standings: Mapping[str, GitFileState] | None = None
) -> InitContext:
    return InitContext(
        clock=StandingClock(),
        entropy=dice or CountingDice(),
        repo=ToldRepo(standings),
        make_bundle=same_bundle,
    )


def _is_secret(path: str) -> bool:
    return path.endswith((".key", ".pub", ".txt"))
