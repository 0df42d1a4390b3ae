"""Signatures of requests, against the examples that their inventor published."""

from __future__ import annotations

import pytest
from stockman_lab.objects.bodies import chunk_signature, trailer_signature

from stockman.crypto.sigv4 import (
    EMPTY_DIGEST,
    CanonicalRequest,
    SigningScope,
    signature,
)

SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
SCOPE = SigningScope("20130524T000000Z", "us-east-1")
HOST = "examplebucket.s3.amazonaws.com"
PIECES = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"


def asked(method: str, path: str, query: tuple[tuple[str, str], ...] = (), **headers: str) -> str:
    payload = headers.pop("payload", EMPTY_DIGEST)
    signed = {
        "host": HOST,
        "x-amz-content-sha256": payload,
        "x-amz-date": SCOPE.moment,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return signature(SECRET, SCOPE, CanonicalRequest(method, path, query, signed, payload))


def test_a_part_of_an_object() -> None:
    assert (
        asked("GET", "/test.txt", range="bytes=0-9")
        == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )


def test_a_name_without_a_value() -> None:
    assert (
        asked("GET", "/", (("lifecycle", ""),))
        == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    )


def test_names_are_sorted() -> None:
    assert (
        asked("GET", "/", (("prefix", "J"), ("max-keys", "2")))
        == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )


def test_an_upload_in_signed_pieces() -> None:
    first = asked(
        "PUT",
        "/examplebucket/chunkObject.txt",
        payload=PIECES,
        host="s3.amazonaws.com",
        content_encoding="aws-chunked",
        content_length="66824",
        x_amz_decoded_content_length="66560",
        x_amz_storage_class="REDUCED_REDUNDANCY",
    )
    second = chunk_signature(SECRET, SCOPE, first, b"a" * 65_536)
    third = chunk_signature(SECRET, SCOPE, second, b"a" * 1024)

    assert first == "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
    assert second == "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"
    assert third == "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"
    assert (
        chunk_signature(SECRET, SCOPE, third, b"")
        == "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"
    )


def test_what_follows_the_pieces_is_signed_with_the_last_of_them() -> None:
    first = trailer_signature(SECRET, SCOPE, "ab" * 32, b"x-amz-checksum-crc32c:sOO8/Q==\n")

    assert len(first) == 64
    assert first != trailer_signature(SECRET, SCOPE, "ac" * 32, b"x-amz-checksum-crc32c:sOO8/Q==\n")
    assert first != trailer_signature(SECRET, SCOPE, "ab" * 32, b"x-amz-checksum-crc32c:sOO8/R==\n")


@pytest.mark.parametrize(
    ("path", "encoded"),
    [("/a b", "/a%20b"), ("/a+b", "/a%2Bb"), ("/~a/é", "/~a/%C3%A9"), ("/a%2Fb", "/a%252Fb")],
)
def test_paths_are_encoded_once(path: str, encoded: str) -> None:
    assert CanonicalRequest("GET", path, (), {"host": HOST}, "").text.splitlines()[1] == encoded
