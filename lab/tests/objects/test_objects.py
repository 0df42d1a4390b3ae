"""Objects: put, read, listed, copied, taken away."""

from __future__ import annotations

import base64
import hashlib

import pytest
from stockman_lab.core.saved import plain, restored
from stockman_lab.objects.state import ObjectsState

from lab.tests.objects.asking import Asker, code, members


def test_an_object_comes_back_with_what_was_said_of_it() -> None:
    asker = Asker()
    headers = {"content-type": "text/plain", "x-amz-meta-kind": "wool"}
    tag = asker.said("PUT", "/flock/a", {}, headers, b"wool").headers["ETag"]

    result = asker.said("GET", "/flock/a")

    assert result.body == b"wool"
    assert result.headers["ETag"] == tag == '"27a18ca062a4121b180022c59e1c0d25"'
    assert result.headers["Content-Type"] == "text/plain"
    assert result.headers["x-amz-meta-kind"] == "wool"


def test_only_one_of_two_creates_an_object() -> None:
    asker = Asker()
    first = asker.said("PUT", "/flock/lock", {}, {"if-none-match": "*"}, b"mine")
    second = asker.said("PUT", "/flock/lock", {}, {"if-none-match": "*"}, b"yours")

    assert [code(first), code(second)] == ["200", "412 PreconditionFailed"]
    assert asker.said("GET", "/flock/lock").body == b"mine"


def test_an_object_is_replaced_only_where_it_is_the_one_that_was_read() -> None:
    asker = Asker()
    tag = asker.put("a").headers["ETag"]

    def over(text: str) -> str:
        return code(asker.said("PUT", "/flock/a", {}, {"if-match": text}, b"hair"))

    assert [over('"0"'), over(tag), over(tag)] == [
        "412 PreconditionFailed",
        "200",
        "412 PreconditionFailed",
    ]


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ({"if-match": "*"}, "200"),
        ({"if-none-match": "*"}, "304"),
        ({"if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT"}, "200"),
        ({"if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT"}, "304"),
        ({"if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT"}, "412 PreconditionFailed"),
        ({"if-unmodified-since": "no date"}, "200"),
    ],
)
def test_reading_has_conditions(header: dict[str, str], text: str) -> None:
    asker = Asker()
    asker.put("a")
    assert code(asker.said("GET", "/flock/a", {}, header)) == text


@pytest.mark.parametrize(
    ("text", "status", "body"),
    [
        ("bytes=0-1", 206, b"wo"),
        ("bytes=2-", 206, b"ol"),
        ("bytes=-3", 206, b"ool"),
        ("bytes=-9", 206, b"wool"),
        ("bytes=1-99", 206, b"ool"),
        ("bytes=3-1", 200, b"wool"),
        ("bytes=-", 200, b"wool"),
        ("lines=1-2", 200, b"wool"),
        ("bytes=0-0,2-2", 200, b"wool"),
    ],
)
def test_a_part_is_read(text: str, status: int, body: bytes) -> None:
    asker = Asker()
    asker.put("a")
    result = asker.said("GET", "/flock/a", {}, {"range": text})
    assert (result.status, result.body) == (status, body)


@pytest.mark.parametrize("text", ["bytes=4-", "bytes=9-12", "bytes=-0"])
def test_a_part_that_is_not_there_is_refused(text: str) -> None:
    asker = Asker()
    asker.put("a")
    assert code(asker.said("GET", "/flock/a", {}, {"range": text})) == "416 InvalidRange"


@pytest.mark.parametrize("key", ["a b", "a+b", "a%2Fb", "é/ü", "a//b", "~!*'()", "a&b<c>"])
def test_any_key_is_kept_as_it_is(key: str) -> None:
    asker = Asker()
    asker.put(key, b"odd")
    assert asker.said("GET", f"/flock/{key}").body == b"odd"
    assert members(asker.said("GET", "/flock", {"list-type": "2"}), "Key") == [key]


def test_a_key_that_is_too_long_is_refused() -> None:
    asker = Asker()
    assert code(asker.put("é" * 513)) == "400 KeyTooLongError"
    assert code(asker.put("é" * 512)) == "200"


def test_pages_follow_each_other() -> None:
    asker = Asker()
    keys = [f"k{number:02}" for number in range(11)]
    for key in keys:
        asker.put(key)

    rows: list[list[str]] = []
    query = {"list-type": "2", "max-keys": "4"}
    while True:
        page = asker.said("GET", "/flock", query)
        rows.append(members(page, "Key"))
        following = members(page, "NextContinuationToken")
        if not following:
            break
        query["continuation-token"] = following[0]

    assert [len(page) for page in rows] == [4, 4, 3]
    assert [key for page in rows for key in page] == keys


def test_pages_with_folders_follow_each_other() -> None:
    asker = Asker()
    for key in ("a/1", "a/2", "b", "c/1", "c/2", "d"):
        asker.put(key)

    def page(**more: str) -> tuple[list[str], list[str], list[str]]:
        query = {"delimiter": "/", "max-keys": "2", **more}
        answer = asker.said("GET", "/flock", query)
        following = members(answer, "NextMarker")
        return members(answer, "Key"), members(answer, "Prefix")[1:], following

    assert page() == (["b"], ["a/"], ["b"])
    assert page(marker="b") == (["d"], ["c/"], [])
    assert page(marker="a/") == (["b"], ["c/"], ["c/"])


def test_a_list_begins_in_the_middle_of_a_folder() -> None:
    asker = Asker()
    for key in ("a/1", "a/2", "b"):
        asker.put(key)
    result = asker.said("GET", "/flock", {"list-type": "2", "start-after": "a/1"})
    assert members(result, "Key") == ["a/2", "b"]


@pytest.mark.parametrize("token", ["%%%", "é", "_____"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    asker = Asker()
    answer = asker.said("GET", "/flock", {"list-type": "2", "continuation-token": token})
    assert code(answer) == "400 InvalidArgument"


def test_keys_are_encoded_for_who_asks() -> None:
    asker = Asker()
    asker.put("a b/é")
    result = asker.said("GET", "/flock", {"list-type": "2", "encoding-type": "url"})
    assert members(result, "Key") == ["a%20b/%C3%A9"]


def delete_many(asker: Asker, text: str) -> str:
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    headers = {"content-md5": base64.b64encode(digest).decode()}
    return code(asker.said("POST", "/flock", {"delete": ""}, headers, text.encode()))


def test_many_are_deleted_at_once() -> None:
    asker = Asker()
    for key in ("a", "b", "c"):
        asker.put(key)
    rows = "".join(f"<Object><Key>{key}</Key></Object>" for key in ("a", "c", "none"))
    assert delete_many(asker, f"<Delete>{rows}</Delete>") == "200"
    assert members(asker.said("GET", "/flock"), "Key") == ["b"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<Delete",
        "<Delete/>",
        "<Other/>",
        "<Delete><Object/></Delete>",
        "<!DOCTYPE d [<!ENTITY a 'aaaa'>]><Delete><Object><Key>&a;</Key></Object></Delete>",
        f"<Delete>{'<Object><Key>a</Key></Object>' * 1001}</Delete>",
    ],
)
def test_a_document_that_makes_no_sense_deletes_nothing(text: str) -> None:
    asker = Asker()
    asker.put("a")
    assert delete_many(asker, text) == "400 MalformedXML"
    assert members(asker.said("GET", "/flock"), "Key") == ["a"]


def test_a_copy_has_what_was_said_of_the_first_or_something_new() -> None:
    asker = Asker()
    asker.said("PUT", "/flock/a", {}, {"x-amz-meta-kind": "wool"}, b"wool")
    asker.said("PUT", "/flock/b", {}, {"x-amz-copy-source": "/flock/a"})
    replaced = {
        "x-amz-copy-source": "/flock/a",
        "x-amz-metadata-directive": "REPLACE",
        "x-amz-meta-kind": "hair",
    }
    asker.said("PUT", "/flock/c", {}, replaced)

    kinds = [
        asker.said("GET", f"/flock/{key}").headers["x-amz-meta-kind"] for key in ("a", "b", "c")
    ]

    assert kinds == ["wool", "wool", "hair"]
    assert asker.said("GET", "/flock/c").body == b"wool"


@pytest.mark.parametrize(
    ("method", "path", "query", "headers"),
    [
        ("GET", "/flock", {"acl": ""}, {}),
        ("PUT", "/flock", {"versioning": ""}, {}),
        ("PUT", "/flock", {"lifecycle": ""}, {}),
        ("GET", "/flock/a", {"versionId": "1"}, {}),
        ("PUT", "/flock/a", {}, {"x-amz-server-side-encryption": "AES256"}),
        ("PUT", "/flock/a", {}, {"x-amz-acl": "public-read"}),
        ("PUT", "/flock/a", {"partNumber": "1", "uploadId": "x"}, {"x-amz-copy-source": "b/c"}),
    ],
)
def test_what_is_not_simulated_says_so(
    method: str, path: str, query: dict[str, str], headers: dict[str, str]
) -> None:
    asker = Asker()
    assert code(asker.said(method, path, query, headers)) == "501 NotImplemented"
    assert not asker.state.buckets["flock"].objects


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/"), ("POST", "/flock"), ("PATCH", "/flock/a"), ("PUT", "/")]
)
def test_a_method_that_means_nothing_is_refused(method: str, path: str) -> None:
    assert code(Asker().said(method, path)) == "405 MethodNotAllowed"


@pytest.mark.parametrize("name", ["ab", "a" * 64, "UPPER", "a..b", "-a-", "a_b"])
def test_a_bucket_has_a_proper_name(name: str) -> None:
    assert code(Asker().said("PUT", f"/{name}")) == "400 InvalidBucketName"


def test_a_bucket_goes_when_it_is_empty_and_takes_its_uploads_along() -> None:
    asker = Asker()
    asker.put("a")
    asker.part("b", asker.begun("b"), 1, b"part")
    assert code(asker.said("DELETE", "/flock")) == "409 BucketNotEmpty"
    asker.said("DELETE", "/flock/a")
    assert code(asker.said("DELETE", "/flock")) == "204"
    assert asker.world.state.blobs.size == 0


def test_nothing_is_left_of_what_was_replaced_or_deleted() -> None:
    asker = Asker()
    for content in (b"first", b"second", b"", b"third"):
        asker.put("a", content)
    assert asker.world.state.blobs.size == len(b"third")
    asker.said("DELETE", "/flock/a")
    assert asker.world.state.blobs.size == 0


def test_a_storage_is_saved_with_its_uploads() -> None:
    asker = Asker()
    asker.put("a")
    asker.part("b", asker.begun("b"), 3, b"part")
    assert restored(ObjectsState, plain(asker.state)) == asker.state
