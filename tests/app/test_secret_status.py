"""What is told of secret files, with and without an identity."""

from pathlib import Path

import pytest

from stockman.app.secrets.lock import LOCK, read_lock
from stockman.app.secrets.status import SecretFile, SecretsStatus, accept_all, read_status
from stockman.app.secrets.store import SecretStore
from stockman.crypto.sops.update import NewValue
from tests.app.secret_workspace import NOBODY, PLAIN, SECRET, WHOLE, keyring, store_in
from tests.crypto.keys_at_hand import OTHER, OWNER

OTHER_VALUE = NewValue(path=("stringData", "token"), value="another")


def files(secrets_status: SecretsStatus) -> dict[str, SecretFile]:
    return {file.name: file for file in secrets_status.files}


def written(directory: Path) -> SecretStore:
    store = store_in(directory)
    store.write(SECRET, PLAIN)
    return store


def changed_outside(store: SecretStore, *, value: bool) -> None:
    """Change a file as the sops program would: the lock file does not know."""
    lock = (store.directory / LOCK).read_bytes()
    if value:
        store.set_value(SECRET, OTHER_VALUE)
    else:
        store.rotate(SECRET)
    (store.directory / LOCK).write_bytes(lock)


def test_a_file_as_it_was_written_is_unchanged_for_everyone(tmp_path: Path) -> None:
    store = written(tmp_path)

    for keys in (keyring(), NOBODY, keyring(OTHER)):
        [file] = read_status(store_in(tmp_path, keys)).files
        assert (file.state, file.compared) == ("unchanged", "bytes")
    [file] = read_status(store).files
    assert file.recipients == (OWNER.recipient,)
    assert file.modified == "2026-08-01T12:00:00Z"
    assert file.opens_here
    assert file.matches_rules


@pytest.mark.parametrize(("value", "state"), [(True, "changed"), (False, "unchanged")])
def test_with_an_identity_values_are_compared(tmp_path: Path, value: bool, state: str) -> None:
    store = written(tmp_path)
    changed_outside(store, value=value)

    [file] = read_status(store).files

    assert (file.state, file.compared) == (state, "values")


@pytest.mark.parametrize("keys", [NOBODY, keyring(OTHER)])
def test_without_it_bytes_are_compared_and_that_is_told(tmp_path: Path, keys: object) -> None:
    changed_outside(written(tmp_path), value=False)

    status = read_status(store_in(tmp_path, keys))  # type: ignore[arg-type]  # a keyring

    assert files(status)[SECRET].state == "changed"
    assert status.only_bytes == (SECRET,)


def test_what_the_lock_file_does_not_name_is_unknown(tmp_path: Path) -> None:
    store = written(tmp_path)
    (tmp_path / LOCK).unlink()

    assert files(read_status(store))[SECRET].state == "unknown"


def test_a_file_that_is_gone_is_missing(tmp_path: Path) -> None:
    store = written(tmp_path)
    (tmp_path / SECRET).unlink()

    assert files(read_status(store))[SECRET].state == "missing"


def test_a_file_in_the_clear_is_an_error(tmp_path: Path) -> None:
    store = written(tmp_path)
    (tmp_path / "talos").mkdir()
    (tmp_path / WHOLE).write_text("password: canary\n")

    status = read_status(store)

    assert files(status)[WHOLE].state == "clear"
    assert [problem.code for problem in status.problems.errors] == ["secret.clear"]
    assert "canary" not in "".join(str(problem) for problem in status.problems)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda text: text[: len(text) // 2], "sops."),
        (lambda text: text.replace(b"version: 3", b"verse: 3"), "sops.metadata"),
        (lambda text: text + b"kind: again\n", "sops.duplicate-key"),
        (lambda text: text.replace(b"sops:", b"sops: 1 #"), "sops."),
        (lambda text: b"\xff" + text, "sops.syntax"),
    ],
)
def test_a_damaged_file_is_an_error_and_the_others_are_told(
    tmp_path: Path, spoil: object, code: str
) -> None:
    store = written(tmp_path)
    store.write(WHOLE, b"a: 1\n")
    (tmp_path / SECRET).write_bytes(spoil((tmp_path / SECRET).read_bytes()))  # type: ignore[operator]

    status = read_status(store)

    assert files(status)[SECRET].state == "damaged"
    assert files(status)[WHOLE].state == "unchanged"
    [problem] = status.problems.errors
    assert problem.code.startswith(code)


def test_a_broken_lock_file_is_an_error_and_files_are_told_all_the_same(tmp_path: Path) -> None:
    store = written(tmp_path)
    (tmp_path / LOCK).write_text("no")

    status = read_status(store)

    assert [problem.code for problem in status.problems.errors] == ["secret.lock"]
    assert files(status)[SECRET].state == "unknown"


def test_recipients_are_compared_with_the_rules(tmp_path: Path) -> None:
    written(tmp_path)
    store = store_in(tmp_path, rules=f"creation_rules:\n  - age: {OTHER.recipient}\n")
    assert files(read_status(store))[SECRET].matches_rules is False

    store = store_in(tmp_path, rules="creation_rules:\n  - path_regex: nothing$\n")
    assert files(read_status(store))[SECRET].matches_rules is None


def test_accepting_seals_what_is_there_and_forgets_what_is_gone(tmp_path: Path) -> None:
    store = written(tmp_path)
    store.write(WHOLE, b"a: 1\n")
    changed_outside(store, value=True)
    (tmp_path / WHOLE).unlink()

    assert accept_all(store) == 2

    assert list(read_lock(tmp_path).seals) == [SECRET]
    assert files(read_status(store))[SECRET].state == "unchanged"
    assert accept_all(store) == 0


def test_partly_encrypted_configuration_is_among_the_secret_files(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("cluster_name: flock\n")
    store = written(tmp_path)
    assert "cluster.yaml" not in files(read_status(store))

    store.set_value("cluster.yaml", NewValue(path=("cloudflare_token",), value="x"))

    assert files(read_status(store))["cluster.yaml"].state == "unchanged"
