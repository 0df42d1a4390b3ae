"""Only who has a key gets in, and only with what was signed."""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import replace

import pytest
from stockman_lab.objects.bodies import crc64nvme

from lab.tests.objects.asking import Asker, code, members
from lab.tests.objects.signing import Ask, later
from stockman.etcd.crc32c import crc32c

PUT = Ask("PUT", "/flock/a", {}, {}, b"wool" * 40_000)
GET = Ask("GET", "/flock/a")


def kept(asker: Asker) -> bytes:
    return asker.answer(GET).body


def test_nobody_gets_in_without_a_signature() -> None:
    asker = Asker()
    assert code(asker.answer(GET, {"host": "storage.test"})) == "403 AccessDenied"


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"access_key": "somebody"}, "403 InvalidAccessKeyId"),
        ({"secret": "wrong"}, "403 SignatureDoesNotMatch"),
        ({"region": "eu-central-1"}, "400 AuthorizationHeaderMalformed"),
    ],
)
def test_another_key_or_region_is_refused(changed: dict[str, str], text: str) -> None:
    asker = Asker()
    other = replace(asker.signer, **changed)
    assert code(asker.answer(GET, other.headers(GET, asker.now))) == text


@pytest.mark.parametrize("missing", ["authorization", "x-amz-date", "x-amz-content-sha256"])
def test_a_request_that_lacks_a_header_is_refused(missing: str) -> None:
    asker = Asker()
    headers = asker.signer.headers(GET, asker.now)
    del headers[missing]
    assert asker.answer(GET, headers).status in (400, 403)


@pytest.mark.parametrize(
    "text",
    [
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 Credential=x",
        "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=y",
        f"AWS4-HMAC-SHA256 Credential={'a/b/c/ec2/aws4_request'}, SignedHeaders=host, Signature=y",
    ],
)
def test_a_broken_signature_is_told(text: str) -> None:
    asker = Asker()
    headers = {**asker.signer.headers(GET, asker.now), "authorization": text}
    assert code(asker.answer(GET, headers)) == "400 AuthorizationHeaderMalformed"


@pytest.mark.parametrize(
    "ask",
    [
        Ask("DELETE", "/flock/a"),
        Ask("GET", "/flock/b"),
        Ask("GET", "/flock/a", {"uploads": ""}),
    ],
)
def test_a_signature_is_good_for_one_request_only(ask: Ask) -> None:
    asker = Asker()
    headers = asker.signer.headers(GET, asker.now)
    assert code(asker.answer(ask, headers)) == "403 SignatureDoesNotMatch"


def test_headers_that_are_signed_cannot_be_changed() -> None:
    asker = Asker()
    ask = replace(PUT, headers={"x-amz-meta-kind": "wool"})
    headers = {**asker.signer.headers(ask, asker.now), "x-amz-meta-kind": "hair"}
    assert code(asker.answer(ask, headers)) == "403 SignatureDoesNotMatch"


@pytest.mark.parametrize(("seconds", "is_taken"), [(0, True), (890, True), (-890, True)])
def test_a_clock_may_be_a_little_wrong(seconds: float, is_taken: bool) -> None:
    asker = Asker()
    asker.answer(PUT)
    headers = asker.signer.headers(GET, later(asker.now, seconds))
    assert (asker.answer(GET, headers).status == 200) is is_taken


@pytest.mark.parametrize("seconds", [910, -910, 86_400])
def test_a_clock_that_is_too_wrong_is_told(seconds: float) -> None:
    asker = Asker()
    headers = asker.signer.headers(GET, later(asker.now, seconds))
    assert code(asker.answer(GET, headers)) == "403 RequestTimeTooSkewed"


def test_a_body_that_is_not_the_signed_one_is_refused() -> None:
    asker = Asker()
    headers = asker.signer.headers(PUT, asker.now)
    other = replace(PUT, body=b"hair")
    assert code(asker.answer(other, headers)) == "400 XAmzContentSHA256Mismatch"
    assert asker.answer(GET).status == 404


def test_a_body_may_go_unsigned() -> None:
    asker = Asker()
    headers = asker.signer.headers(PUT, asker.now, "UNSIGNED-PAYLOAD")
    assert asker.answer(PUT, headers).status == 200
    assert kept(asker) == PUT.body


def test_a_link_works_for_as_long_as_it_says() -> None:
    asker = Asker()
    asker.answer(PUT)
    target = asker.signer.presigned(GET, asker.now, 60)
    host = {"host": "storage.test"}
    assert asker.answer(GET, host, target).body == PUT.body
    asker.world.advance(61)
    expired = asker.answer(GET, host, target)
    assert (code(expired), members(expired, "Message")) == (
        "403 AccessDenied",
        ["Request has expired"],
    )


@pytest.mark.parametrize("seconds", [0, 604_801])
def test_a_link_holds_a_week_at_most(seconds: int) -> None:
    asker = Asker()
    target = asker.signer.presigned(GET, asker.now, seconds)
    assert asker.answer(GET, {"host": "storage.test"}, target).status in (400, 403)


def test_a_link_that_was_changed_is_refused() -> None:
    asker = Asker()
    target = asker.signer.presigned(GET, asker.now).replace("/flock/a", "/flock/b")
    answer = asker.answer(GET, {"host": "storage.test"}, target)
    assert code(answer) == "403 SignatureDoesNotMatch"


def crc32c_line(content: bytes) -> str:
    return f"x-amz-checksum-crc32c:{base64.b64encode(crc32c(content).to_bytes(4, 'big')).decode()}"


@pytest.mark.parametrize("trailer", ["", crc32c_line(PUT.body)])
def test_a_body_in_signed_pieces_is_put_together(trailer: str) -> None:
    asker = Asker()
    headers, body = asker.signer.in_pieces(PUT, asker.now, trailer)
    assert asker.answer(replace(PUT, body=body), headers).status == 200
    assert kept(asker) == PUT.body


@pytest.mark.parametrize("number", [100, 66_000, -100])
def test_a_changed_piece_is_noticed(number: int) -> None:
    asker = Asker()
    headers, body = asker.signer.in_pieces(PUT, asker.now)
    changed = bytearray(body)
    changed[number] ^= 1
    answer = asker.answer(replace(PUT, body=bytes(changed)), headers)
    assert answer.status in (400, 403)
    assert asker.answer(GET).status == 404


@pytest.mark.parametrize("size", [0, 10, 65_000, 130_000])
def test_a_body_that_ends_too_early_is_noticed(size: int) -> None:
    asker = Asker()
    headers, body = asker.signer.in_pieces(PUT, asker.now)
    answer = asker.answer(replace(PUT, body=body[:size]), headers)
    assert code(answer) == "400 IncompleteBody"


def test_a_trailer_that_was_not_signed_is_refused() -> None:
    asker = Asker()
    headers, body = asker.signer.in_pieces(PUT, asker.now, crc32c_line(PUT.body))
    changed = body.replace(crc32c_line(PUT.body).encode(), b"x-amz-checksum-crc32c:AAAAAA==")
    answer = asker.answer(replace(PUT, body=changed), headers)
    assert code(answer) == "403 SignatureDoesNotMatch"


SUMS = {
    "sha256": hashlib.sha256(PUT.body).digest(),
    "sha1": hashlib.sha1(PUT.body, usedforsecurity=False).digest(),
    "crc32": zlib.crc32(PUT.body).to_bytes(4, "big"),
    "crc32c": crc32c(PUT.body).to_bytes(4, "big"),
    "crc64nvme": crc64nvme(PUT.body).to_bytes(8, "big"),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_check_sum_behind_the_body_is_checked(name: str) -> None:
    asker = Asker()
    right = base64.b64encode(SUMS[name]).decode()
    wrong = base64.b64encode(bytes(len(SUMS[name]))).decode()

    def put(text: str) -> str:
        line = f"x-amz-checksum-{name}:{text}"
        headers, body = asker.signer.with_trailer(PUT, asker.now, line)
        return code(asker.answer(replace(PUT, body=body), headers))

    assert [put(wrong), put("short"), put(right)] == ["400 BadDigest", "400 InvalidRequest", "200"]
    assert kept(asker) == PUT.body


def test_the_check_sum_of_nvme_is_the_one_that_others_make() -> None:
    assert crc64nvme(b"123456789") == 0xAE8B14860A799888


def test_keys_are_made_of_the_worlds_dice() -> None:
    assert Asker().state.keys == Asker().state.keys
    assert len(Asker().state.keys) == 1
