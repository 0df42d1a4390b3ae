"""The lock file: sorted, versioned, and refused rather than guessed at."""

import json
from pathlib import Path

import pytest

from stockman.app.secrets.lock import LOCK, SecretLock, parse_lock, read_lock
from stockman.crypto.seal import create_seal, create_seal_without_identity
from stockman.model.errors import Refused
from tests.crypto.keys_at_hand import OWNER

SEAL = create_seal("b", b"bytes", b"plain", OWNER)


def entry(**more: object) -> str:
    seal: dict[str, object] = {"disk": SEAL.disk, "plain": SEAL.plain, "keyed_by": SEAL.keyed_by}
    return json.dumps({"version": 1, "files": {"b": seal | more}})


def test_what_is_written_is_read_back_sorted() -> None:
    lock = SecretLock(seals={"b": SEAL, "a": create_seal_without_identity(b"x")})

    assert parse_lock(lock.text().encode()) == lock
    assert list(json.loads(lock.text())["files"]) == ["a", "b"]
    assert (
        lock.without("a").with_seal("a", create_seal_without_identity(b"x")).text() == lock.text()
    )


def test_no_lock_file_is_an_empty_one(tmp_path: Path) -> None:
    assert read_lock(tmp_path).seals == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1 is no JSON"),
        ("{\n<<<<<<< ours\n", "line 2 is no JSON"),
        ("[]", "no `version`"),
        ('{"files": {}}', "no `version`"),
        ('{"version": 2, "files": {}}', "its version is 2, and this stockman knows 1"),
        ('{"version": 1}', "no `files`"),
        ('{"version": 1, "version": 1, "files": {}}', "holds a name twice"),
        (entry(disk="abc"), "disk of b is no hash"),
        (entry(plain=3), "plain of b is no hash"),
        (entry(extra="x"), "other keys"),
        ('{"version": 1, "files": {"b": []}}', "other keys"),
        ("\ud800", "no JSON"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_a_broken_or_foreign_file_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(Refused, match=r"secret\.lock") as caught:
        parse_lock(text.encode("utf-8", "surrogatepass"))

    assert why in caught.value.problem.why


def test_a_directory_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / LOCK).mkdir(parents=True)

    with pytest.raises(Refused, match=r"secret\.lock"):
        read_lock(tmp_path)
