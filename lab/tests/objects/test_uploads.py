"""Uploads in parts: begun, listed, finished, given up."""

from __future__ import annotations

import pytest
from stockman_lab.http.messages import Response

from lab.tests.objects.asking import Asker, code, members

MIB = 1 << 20
LARGE = b"l" * (5 * MIB)


def complete(asker: Asker, key: str, upload: str, *parts: tuple[int, str], **more: str) -> Response:
    rows = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>" for number, tag in parts
    )
    text = f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>"
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    return asker.said("POST", f"/flock/{key}", {"uploadId": upload}, headers, text.encode())


def test_parts_become_an_object_in_their_order() -> None:
    asker = Asker()
    upload = asker.begun("large")
    last = asker.part("large", upload, 7, b"end")
    first = asker.part("large", upload, 2, LARGE)
    assert code(asker.said("GET", "/flock/large")) == "404 NoSuchKey"

    answer = complete(asker, "large", upload, (2, first), (7, last))

    assert members(answer, "ETag")[0].endswith('-2"')
    assert asker.said("GET", "/flock/large").body == LARGE + b"end"
    assert members(asker.said("GET", "/flock", {"uploads": ""}), "UploadId") == []
    assert asker.world.state.blobs.size == len(LARGE) + 3


def test_a_part_that_comes_again_replaces_the_first() -> None:
    asker = Asker()
    upload = asker.begun("a")
    asker.part("a", upload, 1, b"first")
    tag = asker.part("a", upload, 1, b"second")
    complete(asker, "a", upload, (1, tag))
    assert asker.said("GET", "/flock/a").body == b"second"


def test_an_upload_that_only_creates_does_not_replace() -> None:
    asker = Asker()
    upload = asker.begun("a")
    tag = asker.part("a", upload, 1, b"new")
    asker.put("a", b"old")
    answer = complete(asker, "a", upload, (1, tag), if_none_match="*")
    assert code(answer) == "412 PreconditionFailed"
    assert asker.said("GET", "/flock/a").body == b"old"


def test_small_parts_are_refused_but_for_the_last() -> None:
    asker = Asker()
    upload = asker.begun("a")
    one, two = (asker.part("a", upload, number, b"small") for number in (1, 2))
    assert code(complete(asker, "a", upload, (1, one), (2, two))) == "400 EntityTooSmall"
    assert code(complete(asker, "a", upload, (1, one))) == "200"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([(2, "x"), (1, "x")], "400 InvalidPartOrder"),
        ([(1, "x"), (1, "x")], "400 InvalidPartOrder"),
        ([(1, "x")], "400 InvalidPart"),
        ([(9, "x")], "400 InvalidPart"),
        ([], "400 MalformedXML"),
    ],
)
def test_a_list_that_does_not_fit_finishes_nothing(rows: list[tuple[int, str]], text: str) -> None:
    asker = Asker()
    upload = asker.begun("a")
    asker.part("a", upload, 1, b"part")
    assert code(complete(asker, "a", upload, *rows)) == text
    assert members(asker.said("GET", "/flock", {"uploads": ""}), "UploadId") == [upload]


def test_what_is_given_up_leaves_nothing() -> None:
    asker = Asker()
    upload = asker.begun("a")
    asker.part("a", upload, 1, LARGE)

    def abort() -> str:
        return code(asker.said("DELETE", "/flock/a", {"uploadId": upload}))

    assert [abort(), abort()] == ["204", "404 NoSuchUpload"]
    assert asker.world.state.blobs.size == 0


def test_an_upload_belongs_to_its_key() -> None:
    asker = Asker()
    upload = asker.begun("a")
    assert code(asker.said("DELETE", "/flock/b", {"uploadId": upload})) == "404 NoSuchUpload"


def test_uploads_are_listed_in_pages() -> None:
    asker = Asker()
    begun = [asker.begun(key) for key in ("a", "a", "b", "c")]
    query = {"uploads": "", "max-uploads": "2"}
    first = asker.said("GET", "/flock", query)
    second = asker.said(
        "GET",
        "/flock",
        {
            **query,
            "key-marker": members(first, "NextKeyMarker")[0],
            "upload-id-marker": members(first, "NextUploadIdMarker")[0],
        },
    )
    assert (members(first, "Key"), members(second, "Key")) == (["a", "a"], ["b", "c"])
    assert {*members(first, "UploadId"), *members(second, "UploadId")} == set(begun)
    behind = asker.said("GET", "/flock", {"uploads": "", "key-marker": "a"})
    assert members(behind, "Key") == ["b", "c"]
    assert members(asker.said("GET", "/flock", {"uploads": "", "prefix": "b"}), "Key") == ["b"]


def test_parts_are_listed_in_pages() -> None:
    asker = Asker()
    upload = asker.begun("a")
    for number in (1, 5, 9):
        asker.part("a", upload, number, b"part")
    query = {"uploadId": upload, "max-parts": "2"}
    first = asker.said("GET", "/flock/a", query)
    marker = members(first, "NextPartNumberMarker")[0]
    second = asker.said("GET", "/flock/a", {**query, "part-number-marker": marker})
    assert (members(first, "PartNumber"), members(second, "PartNumber")) == (["1", "5"], ["9"])
    assert [members(one, "IsTruncated") for one in (first, second)] == [["true"], ["false"]]
