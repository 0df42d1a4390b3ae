"""Whatever comes in, something sensible goes out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from stockman_lab.http.messages import Response

from lab.tests.objects.asking import Asker
from lab.tests.objects.signing import Ask

METHODS = st.sampled_from(["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"])
TEXT = st.text(st.characters(max_codepoint=0x2FF, exclude_categories=["Cs"]), max_size=12)
PATHS = st.one_of(
    TEXT.map(lambda text: f"/{text}"), TEXT.map(lambda text: f"/flock/{text}"), st.just("//")
)
NAMES = st.sampled_from(
    [
        *("uploads", "uploadId", "partNumber", "list-type", "prefix", "delimiter", "max-keys"),
        *("continuation-token", "start-after", "marker", "delete", "location", "versioning"),
        *("max-parts", "part-number-marker", "max-uploads", "key-marker", "encoding-type", "acl"),
    ]
)
HEADERS = st.sampled_from(
    [
        *("range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"),
        *("x-amz-copy-source", "content-md5", "x-amz-checksum-crc32", "x-amz-meta-kind"),
        *("x-amz-decoded-content-length", "x-amz-metadata-directive", "content-type"),
    ]
)
VALUES = st.one_of(
    TEXT,
    st.sampled_from(
        [
            *("*", "0", "1", "-1", "9" * 5000, "bytes=" + "9" * 5000 + "-", "bytes=0-", "true"),
            *("Fri, 31 Dec 9999 23:59:59 GMT", "flock/a", "/flock/a?versionId=1", "=", "2"),
        ]
    ),
)
BODIES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"<Delete><Object><Key>a</Key></Object></Delete>", b"<a>" * 500]),
)
SCOPE = "a/20260101/us-east-1/s3/aws4_request"
ASKER = Asker()


@settings(max_examples=400, deadline=None)
@given(
    METHODS,
    PATHS,
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.dictionaries(HEADERS, VALUES, max_size=3),
    BODIES,
)
def test_a_signed_request_of_any_kind_has_an_answer(
    method: str, path: str, query: dict[str, str], headers: dict[str, str], body: bytes
) -> None:
    outcome = ASKER.told(Ask(method, path, query, headers, body)).outcome
    assert isinstance(outcome, Response)
    assert outcome.status in range(200, 502)
    assert outcome.status != 500


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["authorization", "x-amz-date", "x-amz-content-sha256", "host"]),
        st.one_of(
            TEXT,
            st.sampled_from(
                [
                    f"AWS4-HMAC-SHA256 Credential={SCOPE},SignedHeaders=host,Signature=é",
                    "AWS4-HMAC-SHA256 ====,,,;;;",
                    "99991231T235959Z",
                    "00010101T000000Z",
                    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
                ]
            ),
        ),
    ),
    st.dictionaries(
        st.sampled_from(["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires"]),
        st.sampled_from(
            [
                *("AWS4-HMAC-SHA256", SCOPE, "99991231T235959Z"),
                *("604800", "-5", "9" * 5000, "é"),
            ]
        ),
    ),
)
def test_nobody_gets_in_by_nonsense(headers: dict[str, str], query: dict[str, str]) -> None:
    ask = Ask("GET", "/flock", query)
    assert ASKER.answer(ask, headers).status in (400, 403)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_pieces_that_are_none_are_refused(body: bytes, is_signed: bool) -> None:
    kind = (
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
        if is_signed
        else ("STREAMING-UNSIGNED-PAYLOAD-TRAILER")
    )
    ask = Ask("PUT", "/flock/pieces", {}, {}, body)
    headers = ASKER.signer.headers(ask, ASKER.now, kind, length=99)
    assert ASKER.answer(ask, headers).status in (400, 403)
