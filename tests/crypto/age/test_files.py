"""Whole age files: streams, recipients, and everything that was damaged."""

import base64
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.crypto.age.files import CHUNK_BYTES, decrypt, decrypt_stream, encrypt, encrypt_stream
from stockman.crypto.age.identities import AgeIdentity, Recipient, parse_recipient
from stockman.model.errors import Denied, Refused, StockmanError
from tests.crypto.generated import Dice
from tests.crypto.keys_at_hand import OTHER, OWNER, QUANTUM, vector

DICE = Dice("age").bytes
EDGES = (0, 1, 47, 48, 49, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES)


def recipient(identity: AgeIdentity) -> Recipient:
    return parse_recipient(identity.recipient)


def closed(plain: bytes, *identities: AgeIdentity, armor: bool = False) -> bytes:
    return encrypt(plain, [recipient(identity) for identity in identities], DICE, armor=armor)


def code_of(content: bytes, *identities: AgeIdentity) -> str:
    with pytest.raises(StockmanError) as caught:
        decrypt(content, identities or (OWNER,), "flock.age")
    return caught.value.problem.code


@pytest.mark.parametrize("name", ["classic.age", "two-recipients.age"])
def test_a_file_of_age_is_opened(name: str) -> None:
    assert decrypt(vector(name), [OWNER]) == b"sheep\n"


def test_a_post_quantum_file_of_age_is_opened() -> None:
    assert decrypt(vector("post-quantum.age"), [OTHER, QUANTUM]) == b"sheep\n"


@pytest.mark.parametrize("armor", [False, True])
@pytest.mark.parametrize("size", EDGES)
def test_what_was_closed_opens_again_at_every_edge(size: int, armor: bool) -> None:
    plain = Dice(str(size)).bytes(size)

    assert decrypt(closed(plain, OWNER, armor=armor), [OWNER]) == plain


@pytest.mark.parametrize("identity", [OWNER, OTHER])
def test_each_of_several_recipients_opens_the_file(identity: AgeIdentity) -> None:
    assert decrypt(closed(b"sheep", OWNER, OTHER), [identity]) == b"sheep"


def test_post_quantum_files_open_with_their_identity_alone() -> None:
    content = closed(b"sheep", QUANTUM)

    assert decrypt(content, [QUANTUM]) == b"sheep"
    assert code_of(content, OWNER, OTHER) == "age.wrong-identity"


def test_somebody_else_is_denied_and_told_nothing_secret() -> None:
    with pytest.raises(Denied) as caught:
        decrypt(closed(b"sheep", OWNER), [OTHER], "flock.age")

    assert caught.value.problem.where == "flock.age"
    assert OTHER.text.reveal() not in str(caught.value.problem)


def test_post_quantum_and_classic_recipients_are_not_mixed() -> None:
    with pytest.raises(Refused, match=r"age\.mixed-recipients"):
        closed(b"sheep", OWNER, QUANTUM)


def test_a_stream_is_read_no_further_than_it_is_written() -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield bytes(CHUNK_BYTES)

    parts = encrypt_stream(endless(), [recipient(OWNER)], DICE)
    for _ in range(10):
        next(parts)

    assert taken < 15


def test_pieces_are_given_out_before_the_end_is_read() -> None:
    content = closed(bytes(3 * CHUNK_BYTES), OWNER)

    parts = decrypt_stream([content[:-1]], [OWNER])

    assert next(parts) == bytes(CHUNK_BYTES)
    with pytest.raises(Refused, match=r"age\.payload"):
        list(parts)


@given(
    plain=st.binary(max_size=300),
    cuts=st.lists(st.integers(min_value=1, max_value=60), min_size=1),
)
def test_how_the_bytes_arrive_does_not_matter(plain: bytes, cuts: list[int]) -> None:
    content = closed(plain, OWNER, armor=True)
    contents: list[bytes] = []
    start = 0
    while start < len(content):
        size = cuts[len(contents) % len(cuts)]
        contents.append(content[start : start + size])
        start += size

    assert b"".join(decrypt_stream(contents, [OWNER])) == plain


def test_a_file_cut_between_two_pieces_is_truncated() -> None:
    content = closed(bytes(2 * CHUNK_BYTES), OWNER)

    assert code_of(content[: -CHUNK_BYTES - 16]) == "age.truncated"


@pytest.mark.parametrize("keep", [0, 10, 21, 60, 120, 150, 185])
def test_a_file_that_ends_inside_its_header_is_refused(keep: int) -> None:
    assert code_of(closed(b"sheep", OWNER)[:keep]) in ("age.truncated", "age.header")


def test_pieces_in_another_order_are_refused() -> None:
    content = closed(Dice("order").bytes(2 * CHUNK_BYTES), OWNER)
    size = CHUNK_BYTES + 16
    moved = content[: -2 * size] + content[-size:] + content[-2 * size : -size]

    assert code_of(moved) == "age.payload"


def test_something_behind_the_end_is_refused() -> None:
    assert code_of(closed(b"sheep", OWNER) + b"x") == "age.payload"
    assert code_of(closed(bytes(CHUNK_BYTES), OWNER) + b"x" * 20) == "age.payload"
    assert code_of(closed(b"sheep", OWNER, armor=True) + b"x") == "age.armor"


@given(place=st.integers(min_value=0), bit=st.integers(min_value=0, max_value=7))
def test_no_bit_can_be_changed(place: int, bit: int) -> None:
    content = bytearray(closed(b"a flock of sheep", OWNER))
    content[place % len(content)] ^= 1 << bit

    with pytest.raises(StockmanError):
        decrypt(bytes(content), [OWNER])


def test_a_recipient_added_by_hand_is_found_out() -> None:
    content = closed(b"sheep", OWNER)
    first, stanza = content.index(b"-> "), content[content.index(b"-> ") : content.index(b"--- ")]

    assert code_of(content[:first] + stanza + content[first:]) == "age.header-mac"


def test_line_ends_of_windows_are_fine_in_armor_and_named_in_binary() -> None:
    armored = closed(b"sheep", OWNER, armor=True)
    binary = closed(b"sheep", OWNER)

    assert decrypt(armored.replace(b"\n", b"\r\n"), [OWNER]) == b"sheep"
    with pytest.raises(Refused) as caught:
        decrypt(binary.replace(b"\n", b"\r\n", 1), [OWNER])
    assert "CRLF" in caught.value.problem.why


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b"-----END", b"----END"),
        lambda text: text.rsplit(b"-----END", 1)[0],
        lambda text: text.replace(b"\n", b"\n\n", 2),
        lambda text: text.replace(b"\nYWdl", b"\nYWd!"),
        lambda text: text.replace(b"FILE-----\n", b"FILE-----\nx\n", 1),
        lambda text: b"x" + text,
    ],
)
def test_damaged_armor_is_refused(change: object) -> None:
    assert callable(change)
    changed = change(closed(bytes(100), OWNER, armor=True))

    assert code_of(changed) in ("age.armor", "age.header", "age.truncated")


def test_a_header_without_end_does_not_fill_the_memory() -> None:
    content = b"age-encryption.org/v1\n-> X25519 " + b"A" * (3 << 20)

    assert code_of(content) == "age.header"


def test_shares_of_low_order_are_refused() -> None:
    content = closed(b"sheep", OWNER)
    start = content.index(b"X25519 ") + 7
    zero = base64.b64encode(bytes(32)).rstrip(b"=")

    assert code_of(content[:start] + zero + content[start + 43 :]) == "age.stanza"
