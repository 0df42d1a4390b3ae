"""Work on many secret files: each by itself."""

from pathlib import Path

from stockman.app.secrets.store import SecretStore
from stockman.app.secrets.values import BatchResult, rekey_all, rotate_all
from tests.app.secret_workspace import NOBODY, PLAIN, SECRET, WHOLE, contents, keyring, store_in
from tests.crypto.keys_at_hand import OTHER, OWNER

BOTH = f"creation_rules:\n  - age: {OTHER.recipient},{OWNER.recipient}\n"
ONLY_OTHER = f"creation_rules:\n  - age: {OTHER.recipient}\n"


def two_files(directory: Path) -> SecretStore:
    store = store_in(directory)
    store.write(SECRET, PLAIN)
    store.write(WHOLE, b"a: 1\n")
    return store


def states(done: BatchResult) -> dict[str, str]:
    return {file.name: file.state for file in done.files}


def test_all_files_are_taken_unless_some_are_named(tmp_path: Path) -> None:
    store = two_files(tmp_path)

    assert states(rotate_all(store, [])) == {SECRET: "changed", WHOLE: "changed"}
    assert states(rotate_all(store, [f"./{WHOLE}", str(tmp_path / WHOLE)])) == {WHOLE: "changed"}


def test_rekeying_follows_the_rules_and_tells_who_comes_and_goes(tmp_path: Path) -> None:
    two_files(tmp_path)

    done = rekey_all(store_in(tmp_path, rules=ONLY_OTHER), [])

    assert states(done) == {SECRET: "changed", WHOLE: "changed"}
    assert done.files[0].added == (OTHER.recipient,)
    assert done.files[0].removed == (OWNER.recipient,)
    assert store_in(tmp_path, keyring(OTHER)).plaintext(SECRET) == PLAIN
    assert states(rekey_all(store_in(tmp_path, keyring(OTHER)), [])) == {
        SECRET: "unchanged",
        WHOLE: "unchanged",
    }


def test_a_dry_run_tells_the_same_and_writes_nothing(tmp_path: Path) -> None:
    two_files(tmp_path)
    store = store_in(tmp_path, NOBODY, rules=BOTH)
    before = contents(tmp_path)

    done = rekey_all(store, [], dry_run=True)

    assert done.changed
    assert done.files[0].added == (OTHER.recipient,)
    assert contents(tmp_path) == before


def test_one_file_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    store = two_files(tmp_path)
    (tmp_path / SECRET).write_bytes((tmp_path / SECRET).read_bytes()[:200])

    done = rotate_all(store, [])

    assert states(done) == {SECRET: "failed", WHOLE: "changed"}
    assert len(done.problems.errors) == 1


def test_files_that_cannot_be_opened_are_left_as_they_are(tmp_path: Path) -> None:
    two_files(tmp_path)
    before = contents(tmp_path)

    for keys in (NOBODY, keyring(OTHER)):
        done = rotate_all(store_in(tmp_path, keys), [])
        assert set(states(done).values()) == {"failed"}

    assert contents(tmp_path) == before
