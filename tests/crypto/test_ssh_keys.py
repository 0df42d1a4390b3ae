"""SSH keys and their files, read back by another implementation."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
)
from hypothesis import given
from hypothesis import strategies as st

from stockman.crypto.private_keys import (
    CHECK_BYTES,
    SSH_SEED_BYTES,
    ssh_private_key,
    ssh_public_key,
)
from stockman.model.secret import Secret

RAW = bytes(range(SSH_SEED_BYTES))
CHECK = b"abcd"


@given(
    st.binary(min_size=SSH_SEED_BYTES, max_size=SSH_SEED_BYTES),
    st.binary(min_size=CHECK_BYTES, max_size=CHECK_BYTES),
    st.text(max_size=40),
)
def test_another_implementation_reads_the_private_file(
    raw: bytes, check: bytes, comment: str
) -> None:
    text = ssh_private_key(raw, check, comment).reveal()

    read = load_ssh_private_key(text.encode(), password=None)

    assert isinstance(read, Ed25519PrivateKey)
    assert read.private_bytes_raw() == raw


def test_the_public_line_is_what_another_implementation_writes() -> None:
    private = ssh_private_key(RAW, CHECK, "deploy-key")
    key = Ed25519PrivateKey.from_private_bytes(RAW).public_key()
    line = key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()

    assert ssh_public_key(private, "deploy-key") == f"{line} deploy-key\n"


def test_a_private_file_of_another_implementation_gives_its_public_line() -> None:
    key = Ed25519PrivateKey.from_private_bytes(RAW)
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    wanted = ssh_public_key(ssh_private_key(RAW, CHECK, ""), "deploy-key")

    assert ssh_public_key(Secret(plain.decode()), "deploy-key") == wanted


def test_what_is_no_such_key_gives_no_public_line() -> None:
    begin, *body, end, _ = ssh_private_key(RAW, CHECK, "x").reveal().split("\n")

    def with_body(text: str) -> Secret:
        return Secret(f"{begin}\n{text}\n{end}\n")

    assert ssh_public_key(Secret(""), "x") is None
    assert ssh_public_key(with_body("?"), "x") is None
    assert ssh_public_key(with_body("aGVsbG8="), "x") is None
    assert ssh_public_key(with_body(body[0][:24]), "x") is None


def test_lines_are_as_long_as_openssh_makes_them() -> None:
    _, *body, _, last = ssh_private_key(RAW, CHECK, "deploy-key").reveal().split("\n")

    assert {len(line) for line in body[:-1]} == {70}
    assert last == ""
