"""Secret files written and changed: whole or not at all, nothing more than has to change."""

from pathlib import Path

import pytest

from stockman.app.secrets.lock import LOCK, read_lock
from stockman.crypto.seal import matches_file
from stockman.crypto.sops.files import file_metadata
from stockman.crypto.sops.update import NewValue
from stockman.model.errors import Conflict, Denied, NotFound, Refused, StockmanError
from tests.app.secret_workspace import (
    NOBODY,
    PLAIN,
    SECRET,
    WHOLE,
    contents,
    keyring,
    store_in,
)
from tests.crypto.keys_at_hand import OTHER, OWNER

TOKEN = NewValue(path=("stringData", "token"), value="another")


def lines(content: bytes) -> list[bytes]:
    return content.splitlines()


def test_a_new_file_is_encrypted_by_the_rule_for_it(tmp_path: Path) -> None:
    store = store_in(tmp_path)

    assert store.write(SECRET, PLAIN) is True

    written = (tmp_path / SECRET).read_bytes()
    assert b"canary" not in written
    assert b"kind: Secret\n" in written
    assert store.metadata(SECRET).selector.pattern == "^(data|stringData)$"
    assert store.plaintext(SECRET) == PLAIN


def test_plaintext_never_touches_the_disk(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    store.write(SECRET, PLAIN.replace(b"other: ", b"more: "))
    store.set_value(SECRET, TOKEN)
    store.rotate(SECRET)

    assert not [name for name, content in contents(tmp_path).items() if b"canary" in content]
    assert sorted(contents(tmp_path)) == [".sops.yaml", LOCK, SECRET]


def test_the_same_content_changes_no_byte(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    before = contents(tmp_path)

    assert store.write(SECRET, PLAIN) is False
    assert contents(tmp_path) == before


def test_one_new_value_changes_that_value_the_check_sum_and_the_time(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    before = lines(store.content(SECRET))

    assert store.set_value(SECRET, TOKEN) is True

    changed = [
        old.split(b":")[0].strip()
        for old, new in zip(before, lines(store.content(SECRET)), strict=True)
        if old != new
    ]
    assert set(changed) <= {b"token", b"lastmodified", b"mac"}
    assert b"token" in changed
    assert store.set_value(SECRET, TOKEN) is False


def test_a_value_at_a_new_path_keeps_the_ciphertext_of_the_others(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    before = set(lines(store.content(SECRET)))

    store.set_value(SECRET, NewValue(path=("stringData", "tls.crt"), value="a\nb\n"))

    assert {line for line in before if b"ENC" in line and b"mac" not in line} <= set(
        lines(store.content(SECRET))
    )
    assert store.plaintext(SECRET) == PLAIN + b"  tls.crt: |\n    a\n    b\n"


def test_a_value_makes_a_file_that_is_missing(tmp_path: Path) -> None:
    store = store_in(tmp_path)

    store.set_value(SECRET, TOKEN)

    assert store.plaintext(SECRET) == b"stringData:\n  token: another\n"


def test_a_value_encrypts_a_configuration_file_in_part(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("cluster_name: flock  # of sheep\n")
    store = store_in(tmp_path)

    store.set_value("cluster.yaml", NewValue(path=("cloudflare_token",), value="canary"))

    text = (tmp_path / "cluster.yaml").read_text()
    assert text.startswith("cluster_name: flock  # of sheep\ncloudflare_token: ENC[")
    assert "canary" not in text


def test_a_file_in_the_clear_is_encrypted_when_it_is_written(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    (tmp_path / SECRET).parent.mkdir(parents=True)
    (tmp_path / SECRET).write_bytes(PLAIN)

    with pytest.raises(NotFound, match=r"sops\.not-encrypted"):
        store.plaintext(SECRET)
    assert store.write(SECRET, PLAIN) is True

    assert b"canary" not in (tmp_path / SECRET).read_bytes()


def test_a_binary_file_in_the_clear_is_encrypted_too(tmp_path: Path) -> None:
    store = store_in(tmp_path, rules=f"creation_rules:\n  - age: {OWNER.recipient}\n")
    (tmp_path / "key.sops.bin").write_bytes(b"\x00canary\xff")

    store.write("key.sops.bin", b"\x00canary\xff")

    assert b"canary" not in (tmp_path / "key.sops.bin").read_bytes()
    assert store.plaintext("key.sops.bin") == b"\x00canary\xff"


def test_an_existing_file_is_not_created_again(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.create(SECRET, PLAIN)
    before = contents(tmp_path)

    with pytest.raises(Conflict, match=r"secret\.exists"):
        store.create(SECRET, b"other: 1\n")

    assert contents(tmp_path) == before


def test_a_file_that_somebody_else_changed_is_not_overwritten(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    old = store.content(SECRET)
    store.set_value(SECRET, TOKEN)
    newer = store.content(SECRET)

    with pytest.raises(Conflict, match=r"secret\.changed"):
        store.write(SECRET, b"mine: 1\n", expected=old)

    assert store.content(SECRET) == newer


def test_rotation_changes_all_ciphertext_and_no_value(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    before = {line for line in lines(store.content(SECRET)) if b"ENC[" in line}

    store.rotate(SECRET)

    assert not before & set(lines(store.content(SECRET)))
    assert store.plaintext(SECRET) == PLAIN


def test_rekeying_keeps_the_ciphertext_and_needs_no_identity_when_nothing_differs(
    tmp_path: Path,
) -> None:
    store_in(tmp_path).write(SECRET, PLAIN)
    before = contents(tmp_path)

    assert store_in(tmp_path, NOBODY).rekey(SECRET) is False
    assert contents(tmp_path) == before

    both = f"creation_rules:\n  - age: {OWNER.recipient},{OTHER.recipient}\n"
    store = store_in(tmp_path, rules=both)
    assert store.rekey(SECRET) is True
    assert store.metadata(SECRET).recipients == (OWNER.recipient, OTHER.recipient)
    assert store_in(tmp_path, keyring(OTHER)).plaintext(SECRET) == PLAIN
    values = {line for line in lines(before[SECRET]) if b"ENC[" in line}
    assert values <= set(lines(store.content(SECRET)))


def test_the_lock_file_follows_every_write(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for change in (
        lambda: store.write(SECRET, PLAIN),
        lambda: store.set_value(SECRET, TOKEN),
        lambda: store.rotate(SECRET),
    ):
        change()

        assert matches_file(read_lock(tmp_path).seals[SECRET], store.content(SECRET))


def test_a_write_brings_a_lock_file_up_to_date_that_a_killed_run_left(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    sealed = (tmp_path / LOCK).read_bytes()
    (tmp_path / LOCK).unlink()

    assert store.write(SECRET, PLAIN) is False

    assert (tmp_path / LOCK).read_bytes() == sealed


def test_a_broken_lock_file_stops_a_write_before_anything_changes(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    (tmp_path / LOCK).write_text("<<<<<<< ours\n")
    before = contents(tmp_path)

    for change in (
        lambda: store.write(SECRET, b"a: 1\n"),
        lambda: store.set_value(SECRET, TOKEN),
        lambda: store.rotate(SECRET),
        lambda: store.write(WHOLE, b"a: 1\n"),
    ):
        with pytest.raises(Refused, match=r"secret\.lock"):
            change()

    assert contents(tmp_path) == before


def test_who_has_no_identity_can_encrypt_and_seals_bytes_alone(tmp_path: Path) -> None:
    store = store_in(tmp_path, NOBODY)

    store.create(SECRET, PLAIN)

    seal = read_lock(tmp_path).seals[SECRET]
    assert (seal.plain, seal.keyed_by) == ("", "")
    with pytest.raises(Denied, match=r"key\.none"):
        store.plaintext(SECRET)


@pytest.mark.parametrize(
    "name", ["../out.sops.yaml", "/tmp/out.sops.yaml", ".", "link/x.sops.yaml"]
)
def test_nothing_outside_of_the_directory_is_read_or_written(tmp_path: Path, name: str) -> None:
    store = store_in(tmp_path / "in")
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    before = contents(tmp_path)

    for call in (
        lambda: store.write(name, PLAIN),
        lambda: store.plaintext(name),
        lambda: store.set_value(name, TOKEN),
    ):
        with pytest.raises(Refused, match=r"secret\.outside"):
            call()

    assert contents(tmp_path) == before


def test_a_file_without_a_rule_or_a_recipient_is_refused(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with pytest.raises(NotFound, match=r"sops\.no-rule"):
        store.write("elsewhere.sops.yaml", PLAIN)

    store = store_in(tmp_path, rules="creation_rules:\n  - path_regex: .*\n")
    with pytest.raises(Refused, match=r"secret\.no-recipient"):
        store.write("elsewhere.sops.yaml", PLAIN)


def test_without_rules_nothing_is_made(tmp_path: Path) -> None:
    store = store_in(tmp_path / "in")
    (tmp_path / "in" / ".sops.yaml").unlink()

    with pytest.raises(NotFound, match=r"secret\.no-rules"):
        store.write(SECRET, PLAIN)


def test_rules_are_found_above_the_directory_and_where_the_variable_says(tmp_path: Path) -> None:
    store_in(tmp_path, rules=f"creation_rules:\n  - path_regex: ^in/\n    age: {OWNER.recipient}\n")
    inside = store_in(tmp_path / "in")
    (tmp_path / "in" / ".sops.yaml").rename(tmp_path / "moved.yaml")

    assert inside.recipe("any.sops.yaml").recipients == (OWNER.recipient,)
    moved = store_in(
        tmp_path / "in", rules=None, environment={"SOPS_CONFIG": str(tmp_path / "moved.yaml")}
    )
    assert moved.rules.config.file == str(tmp_path / "moved.yaml")


def test_a_directory_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    (tmp_path / "talos").write_text("a file where a directory should be")

    with pytest.raises(StockmanError, match=r"secret\.unwritable"):
        store.write(WHOLE, PLAIN)


def test_windows_line_ends_are_read_and_written_as_plain_ones(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write(SECRET, PLAIN)
    crlf = store.content(SECRET).replace(b"\n", b"\r\n")
    (tmp_path / SECRET).write_bytes(crlf)

    assert store.plaintext(SECRET) == PLAIN
    assert store.write(SECRET, PLAIN) is False
    assert file_metadata(crlf, SECRET).recipients == (OWNER.recipient,)
