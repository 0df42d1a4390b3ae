"""Every problem of keys and secret files, made by what causes it: what pages are compared with."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stockman.app.init.directory import FirstSecrets
from stockman.app.secrets import keyring as keyring_problems
from stockman.app.secrets import problems
from stockman.app.secrets.bundle import open_bundle
from stockman.app.secrets.bundle_creation import BundleCreation, create_bundle
from stockman.app.secrets.keyring import Keyring, find_keyring
from stockman.app.secrets.lock import parse_lock
from stockman.app.secrets.reading import read_secret_file
from stockman.app.secrets.status import read_status
from stockman.app.secrets.store import SecretStore
from stockman.app.secrets.values import EditingContext, edit_secret, put_value, read_text_at
from stockman.crypto.sops.update import NewValue
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Problems
from stockman.ports.environment import NoAnswer
from tests.app.secret_workspace import keyring, store_in
from tests.app.start_doors import CountingDice, StandingClock, same_bundle
from tests.crypto.keys_at_hand import OTHER, OWNER
from tests.model.page_files import shown

SECRET = "kubernetes/secret.sops.yaml"
BUNDLE = "talos/talsecret.sops.yaml"
TOKEN = NewValue(path=("stringData", "token"), value="wool")
MAKING = BundleCreation(clock=StandingClock(), entropy=CountingDice(), make_bundle=same_bundle)
NODES = {"cluster.yaml": "", "nodes.yaml": "nodes: [{name: cp-1}]\n"}


def told(call: Callable[[Path], object]) -> Problem:
    """The problem that a call ends with, which is given a directory."""
    with (
        tempfile.TemporaryDirectory() as temporary_directory,
        pytest.raises(StockmanError) as caught,
    ):
        call(Path(temporary_directory))
    return caught.value.problem


def stored(
    call: Callable[[SecretStore], object], keys: Keyring | None = None, rules: str | None = None
) -> Problem:
    """The problem of a call on a directory with one secret file."""

    def do(directory: Path) -> object:
        store_in(directory).set_value(SECRET, TOKEN)
        return call(store_in(directory, keys, rules=rules))

    return told(do)


def in_the_way(store: SecretStore) -> object:
    (store.directory / "talos").write_text("")
    return store.set_value("talos/extra.sops.yaml", TOKEN)


def directory_for_a_file(store: SecretStore) -> object:
    (store.directory / BUNDLE).mkdir(parents=True)
    return read_secret_file(store.directory, BUNDLE)


def bundle_of_the_other_dialect(store: SecretStore) -> object:
    create_bundle(store, MAKING)
    (store.directory / "cluster.toml").write_text("")
    return create_bundle(store, MAKING)


def key_problem(text: str, mode: int = 0o600) -> Problem:
    """The one warning about an `age.key`."""
    with tempfile.TemporaryDirectory() as temporary_directory:
        (Path(temporary_directory) / "age.key").write_text(text)
        (Path(temporary_directory) / "age.key").chmod(mode)
        (problem,) = find_keyring(Path(temporary_directory), {}).problems
    return problem


class Silent:
    """A command, and an editor, that do not do their work."""

    def output(self, command: str, extra: object) -> bytes:
        del command, extra
        raise NoAnswer("it ended with status 1")

    def edit(self, path: Path) -> None:
        del path
        raise NoAnswer("nano ended with status 1")


def command_problem() -> Problem:
    with tempfile.TemporaryDirectory() as temporary_directory:
        keyring = find_keyring(
            Path(temporary_directory), {"SOPS_AGE_KEY_CMD": "keys"}, runner=Silent()
        )
        with pytest.raises(StockmanError):
            keyring.identities_for([OWNER.recipient], SECRET)
        (problem,) = keyring.problems
    return problem


def clear_problem() -> Problem:
    with tempfile.TemporaryDirectory() as temporary_directory:
        store = store_in(Path(temporary_directory))
        (Path(temporary_directory) / "talos").mkdir()
        (Path(temporary_directory) / "talos/extra.sops.yaml").write_text("password: wool\n")
        (problem,) = read_status(store).problems
    return problem


def started(rules: str | None = None, key: str = f"{OWNER.text.reveal()}\n") -> Problem:
    """The one problem of making the first secrets."""
    problems = Problems()
    with tempfile.TemporaryDirectory() as temporary_directory:
        (Path(temporary_directory) / "age.key").write_text(key)
        if rules is not None:
            (Path(temporary_directory) / ".sops.yaml").write_text(rules)
        list(FirstSecrets(Path(temporary_directory), "classic", MAKING, problems).files(NODES))
    (problem,) = problems
    return problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "bundle.absent": lambda: told(lambda place: open_bundle(place, keyring())),
    "bundle.elsewhere": lambda: stored(bundle_of_the_other_dialect),
    "init.no-bundle": lambda: started("creation_rules: []\n"),
    "init.no-identity": lambda: started(key="something else\n"),
    "init.other-recipients": lambda: started(f"creation_rules:\n  - age: {OTHER.recipient}\n"),
    "key.command": command_problem,
    "key.mode": lambda: key_problem(OWNER.text.reveal(), 0o644),
    "key.none": lambda: told(
        lambda place: find_keyring(place, {}).identities_for([OWNER.recipient], SECRET)
    ),
    "key.owner": lambda: keyring_problems.key_file_foreign("age.key", 0o644),
    "key.source": lambda: key_problem("# created: today\nage1meadow\n"),
    "secret.changed": lambda: stored(lambda store: store.write(SECRET, b"a: 1\n", expected=b"")),
    "secret.clear": clear_problem,
    "secret.editor": lambda: stored(
        lambda store: edit_secret(
            store, SECRET, EditingContext(Silent(), [Path("/dev/shm")], lambda _: False)
        )
    ),
    "secret.exists": lambda: stored(lambda store: store.create(SECRET, b"a: 1\n")),
    "secret.lock": lambda: told(lambda _: parse_lock(b"{\n<<<<<<< HEAD\n")),
    "secret.missing": lambda: stored(lambda store: store.plaintext("talos/secret.sops.yaml")),
    "secret.no-memory": lambda: stored(
        lambda store: edit_secret(
            store, SECRET, EditingContext(Silent(), [Path("/proc")], lambda _: False)
        )
    ),
    "secret.no-recipient": lambda: stored(
        lambda store: store.rekey(SECRET), rules=shown("secret.no-recipient")
    ),
    "secret.no-rules": lambda: problems.no_rules(".").problem,
    "secret.outside": lambda: stored(lambda store: store.plaintext("../secret.sops.yaml")),
    "secret.path": lambda: stored(lambda store: read_text_at(store, SECRET, "stringData..token")),
    "secret.unreadable": lambda: stored(directory_for_a_file),
    "secret.unwritable": lambda: stored(in_the_way),
    "secret.value": lambda: stored(
        lambda store: put_value(store, SECRET, "stringData.port", b"wool", as_json=True)
    ),
    "sops.no-place": lambda: stored(
        lambda store: put_value(store, SECRET, "stringData.token.first", b"wool")
    ),
}
