"""Editing secret files: in memory only, and no edit is lost."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stockman.adapters.files import ram_directories, ram_file
from stockman.app.secrets.lock import LOCK
from stockman.app.secrets.store import SecretStore
from stockman.app.secrets.values import EditingContext, edit_secret
from stockman.model.errors import Conflict, Denied, NotFound, Refused, StockmanError
from stockman.model.problem import Problem
from stockman.ports.environment import NoAnswer
from stockman.talos.secrets.bundle import bundle_text
from tests.app.secret_workspace import NOBODY, PLAIN, SECRET, contents, store_in
from tests.app.start_doors import one_bundle

BUNDLE = "talos/talsecret.sops.yaml"
Change = Callable[[bytes], bytes]


class Hand:
    """An editor that makes one change after the other, and remembers what it saw."""

    def __init__(self, *changes: Change | str) -> None:
        self._changes: Iterator[Change | str] = iter(changes)
        self.saw: list[bytes] = []
        self.paths: list[Path] = []

    def edit(self, path: Path) -> None:
        change = next(self._changes)
        if isinstance(change, str):
            raise NoAnswer(change)
        self.paths.append(path)
        self.saw.append(path.read_bytes())
        path.write_bytes(change(self.saw[-1]))


def same(text: bytes) -> bytes:
    return text


def to(text: bytes) -> Change:
    return lambda _: text


def desk(
    hand: Hand, problems: list[Problem] | None = None, *, again: bool = True
) -> EditingContext:
    def ask(problem: Problem) -> bool:
        if problems is not None:
            problems.append(problem)
        return again

    return EditingContext(hand, ram_directories(), ask)


@pytest.fixture
def store(tmp_path: Path) -> SecretStore:
    secret_store = store_in(tmp_path)
    secret_store.write(SECRET, PLAIN)
    return secret_store


def test_an_edit_is_encrypted(store: SecretStore) -> None:
    hand = Hand(lambda text: text.replace(b"canary-other", b"changed"))

    assert edit_secret(store, SECRET, desk(hand)) == "written"

    assert hand.saw == [PLAIN]
    assert store.plaintext(SECRET) == PLAIN.replace(b"canary-other", b"changed")


def test_an_edit_that_changes_nothing_changes_nothing(store: SecretStore) -> None:
    before = contents(store.directory)

    assert edit_secret(store, SECRET, desk(Hand(same))) == "unchanged"
    assert edit_secret(
        store, SECRET, desk(Hand(lambda text: text.replace(b"kind: ", b"kind:   ")))
    ) == ("unchanged")

    assert contents(store.directory) == before


def test_the_text_is_in_memory_and_gone_afterwards(store: SecretStore) -> None:
    hand = Hand(same)

    edit_secret(store, SECRET, desk(hand))

    [path] = hand.paths
    assert path.name == "secret.sops.yaml"
    assert str(path).startswith("/dev/shm/")
    assert not path.parent.exists()


def test_a_broken_edit_is_opened_again_as_it_was_left(store: SecretStore) -> None:
    broken = PLAIN + b"  broken: [\n"
    problems: list[Problem] = []
    hand = Hand(to(broken), to(PLAIN.replace(b"canary-other", b"right")))

    assert edit_secret(store, SECRET, desk(hand, problems)) == "written"

    assert hand.saw[1] == broken
    assert [problem.code for problem in problems] == ["sops.syntax"]
    assert "canary" not in str(problems[0])
    assert b"right" in store.plaintext(SECRET)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"a: [\n", "sops.syntax"),
        (b"a: 1\na: 2\n", "sops.duplicate-key"),
        (b"- a\n", "sops.unsupported"),
        (b"a: &x 1\nb: *x\n", "sops.unsupported"),
        (b"", "sops.syntax"),
        (b"sops: 1\n", "sops.already-encrypted"),
        (b"\xff\n", "sops.syntax"),
    ],
)
def test_an_edit_that_is_given_up_changes_nothing(
    store: SecretStore, text: bytes, code: str
) -> None:
    before = contents(store.directory)
    problems: list[Problem] = []

    assert edit_secret(store, SECRET, desk(Hand(to(text)), problems, again=False)) == "abandoned"

    assert [problem.code for problem in problems] == [code]
    assert contents(store.directory) == before


def test_closing_a_broken_edit_unchanged_gives_it_up(store: SecretStore) -> None:
    hand = Hand(to(b"a: [\n"), same)

    assert edit_secret(store, SECRET, desk(hand)) == "abandoned"


def test_a_bundle_with_a_missing_part_is_a_broken_edit(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    plain = bundle_text(one_bundle()).reveal().encode()
    store.write(BUNDLE, plain)
    problems: list[Problem] = []
    hand = Hand(lambda text: text.replace(b"trustdinfo:", b"trusted:"))

    assert edit_secret(store, BUNDLE, desk(hand, problems, again=False)) == "abandoned"

    assert [problem.code for problem in problems] == ["bundle.missing"]
    assert "trustdinfo.token" in problems[0].what
    assert store.plaintext(BUNDLE) == plain


def test_a_file_that_does_not_exist_is_made_by_its_rule(tmp_path: Path) -> None:
    store = store_in(tmp_path)

    assert edit_secret(store, SECRET, desk(Hand(to(PLAIN)))) == "written"

    assert store.plaintext(SECRET) == PLAIN
    assert edit_secret(store_in(tmp_path / "b"), SECRET, desk(Hand(same))) == "unchanged"
    assert not (tmp_path / "b" / SECRET).exists()


def test_no_editor_is_opened_for_a_file_without_a_rule(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"sops\.no-rule"):
        edit_secret(store_in(tmp_path), "x.sops.yaml", desk(Hand()))


def test_a_file_in_the_clear_is_encrypted_even_when_nothing_is_changed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    (tmp_path / "cluster.yaml").write_bytes(b"cloudflare_token: canary\n")

    assert edit_secret(store, "cluster.yaml", desk(Hand(same))) == "written"

    assert b"canary" not in (tmp_path / "cluster.yaml").read_bytes()


def test_what_somebody_else_wrote_meanwhile_is_not_lost(store: SecretStore) -> None:
    def meanwhile(text: bytes) -> bytes:
        store.write(SECRET, b"theirs: 1\n")
        return text + b"mine: 1\n"

    problems: list[Problem] = []

    assert edit_secret(store, SECRET, desk(Hand(meanwhile), problems, again=False)) == "abandoned"

    assert [problem.code for problem in problems] == ["secret.changed"]
    assert store.plaintext(SECRET) == b"theirs: 1\n"


def test_an_edit_survives_a_lock_file_that_cannot_be_used(store: SecretStore) -> None:
    lock = store.directory / LOCK
    content = lock.read_bytes()

    def spoil(text: bytes) -> bytes:
        lock.write_bytes(b"no")
        return text.replace(b"canary-other", b"kept")

    def mend(text: bytes) -> bytes:
        lock.write_bytes(content)
        return text + b"more: 1\n"

    problems: list[Problem] = []
    assert edit_secret(store, SECRET, desk(Hand(spoil, mend), problems)) == "written"

    assert [problem.code for problem in problems] == ["secret.lock"]
    assert b"kept" in store.plaintext(SECRET)


def test_an_editor_that_fails_changes_nothing(store: SecretStore) -> None:
    before = contents(store.directory)

    with pytest.raises(StockmanError, match=r"secret\.editor"):
        edit_secret(store, SECRET, desk(Hand("ed ended with status 1")))

    assert contents(store.directory) == before


def test_without_a_place_in_memory_nothing_is_opened(store: SecretStore, tmp_path: Path) -> None:
    hand = Hand(same)

    with pytest.raises(Refused, match=r"secret\.no-memory") as caught:
        edit_secret(
            store, SECRET, EditingContext(hand, [tmp_path, tmp_path / "missing"], lambda _: True)
        )

    assert str(tmp_path) in caught.value.problem.why
    assert hand.saw == []


def test_without_an_identity_nothing_is_opened(store: SecretStore) -> None:
    with pytest.raises(Denied, match=r"key\.none"):
        edit_secret(store_in(store.directory, NOBODY), SECRET, desk(Hand()))


def test_a_new_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    store = store_in(tmp_path)

    def meanwhile(_: bytes) -> bytes:
        store.write(SECRET, b"theirs: 1\n")
        return PLAIN

    problems: list[Problem] = []
    edit_secret(store, SECRET, desk(Hand(meanwhile), problems, again=False))

    assert [problem.code for problem in problems] == ["secret.changed"]
    with pytest.raises(Conflict, match=r"secret\.exists"):
        store.create(SECRET, PLAIN)


def test_what_a_killed_editor_left_in_memory_is_swept(tmp_path: Path) -> None:
    left = Path("/dev/shm/stockman-edit-4194305-00aa")
    left.mkdir()
    (left / "secret.sops.yaml").write_text("canary")

    with ram_file(ram_directories(), "a.yaml", "00bb"):
        assert not left.exists()
