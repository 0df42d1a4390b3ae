"""Seals of secret files."""

from stockman.crypto.seal import create_seal, matches_file, matches_plaintext
from tests.crypto.keys_at_hand import OTHER, OWNER, QUANTUM

SEAL = create_seal("a.sops.yaml", b"closed", b"open", OWNER)


def test_the_bytes_on_disk_are_compared_without_an_identity() -> None:
    assert matches_file(SEAL, b"closed")
    assert not matches_file(SEAL, b"opened")


def test_the_plaintext_is_compared_with_the_identity() -> None:
    assert matches_plaintext(SEAL, "a.sops.yaml", b"open", [OTHER, OWNER]) is True
    assert matches_plaintext(SEAL, "a.sops.yaml", b"shut", [OTHER, OWNER]) is False


def test_without_the_identity_nothing_is_known() -> None:
    assert matches_plaintext(SEAL, "a.sops.yaml", b"open", [OTHER, QUANTUM]) is None
    assert matches_plaintext(SEAL, "a.sops.yaml", b"open", []) is None


def test_equal_plaintexts_in_two_files_do_not_show() -> None:
    assert create_seal("b.sops.yaml", b"closed", b"open", OWNER).plain != SEAL.plain


def test_no_public_key_is_computed() -> None:
    identity = type(OWNER)(bytes(32), post_quantum=True)

    create_seal("a.sops.yaml", b"closed", b"open", identity)

    assert "recipient" not in vars(identity)
