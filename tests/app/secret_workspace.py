"""A directory with secret files, for tests: one recipient, the rules of `init`, known dice."""

from collections.abc import Mapping
from pathlib import Path

from stockman.app.secrets.keyring import Keyring, KeySource
from stockman.app.secrets.store import SecretStore
from stockman.crypto.age.identities import AgeIdentity
from stockman.rendering.sops_rules import sops_config_text
from tests.app.start_doors import StandingClock
from tests.crypto.generated import Dice
from tests.crypto.keys_at_hand import OWNER

SECRET = "kubernetes/apps/echo/secret.sops.yaml"
WHOLE = "talos/extra.sops.yaml"
PLAIN = b"kind: Secret\nstringData:\n  token: canary-4e1c7a90\n  other: canary-other\n"
NOBODY = Keyring()


class SeededDice:
    """Dice that are the same for the same seed."""

    def __init__(self, seed: str = "store") -> None:
        self._dice = Dice(seed)

    def random_bytes(self, count: int) -> bytes:
        return self._dice.bytes(count)


def keyring(*identities: AgeIdentity) -> Keyring:
    """A keyring with these identities, or the usual one."""
    return Keyring([KeySource(name="age.key", identities=identities or (OWNER,))])


def store_in(
    directory: Path,
    keys: Keyring | None = None,
    *,
    rules: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> SecretStore:
    """The store of a directory, which gets rules if it has none."""
    directory.mkdir(parents=True, exist_ok=True)
    if rules is not None or not (directory / ".sops.yaml").exists():
        text = rules if rules is not None else sops_config_text("classic", OWNER.recipient)
        (directory / ".sops.yaml").write_text(text)
    return SecretStore(
        directory, keys or keyring(), environment or {}, StandingClock(), SeededDice()
    )


def contents(directory: Path) -> dict[str, bytes]:
    """Every file of a directory."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }
