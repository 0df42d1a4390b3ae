"""A file in a form, read piece by piece."""

from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.http.multipart import BrokenUpload, Form

from lab.tests.http.forms import BOUNDARY, END, field, file


def read(data: bytes, pieces: int = 10**9) -> tuple[Form, bytes]:
    sink = BytesIO()
    form = Form(BOUNDARY, sink)
    for at in range(0, len(data), pieces):
        form.feed(data[at : at + pieces])
    return form, sink.getvalue()


@given(content=st.binary(), pieces=st.integers(1, 200))
def test_a_file_is_the_same_however_it_is_cut_into_pieces(content: bytes, pieces: int) -> None:
    whole = field("content", "iso") + file(content) + END

    form, found = read(whole, pieces)

    assert form.is_complete
    assert form.fields == {"content": "iso"}
    assert form.filename == "a.iso"
    assert found == content
    assert form.size == len(content)


def test_fields_keep_their_order_and_lose_their_edges() -> None:
    data = b"preamble\r\n" + field("checksum", " ab ") + field("content", "iso") + file(b"x") + END

    form, _ = read(data)

    assert list(form.fields.items()) == [("checksum", "ab"), ("content", "iso")]


def test_lines_may_end_without_a_carriage_return() -> None:
    data = (field("content", "iso") + file(b"x") + END).replace(b"\r\n", b"\n")

    form, found = read(data)

    assert form.is_complete
    assert found == b"x"


def test_what_follows_the_file_becomes_a_part_of_it() -> None:
    form, found = read(file(b"x") + field("content", "iso") + END)

    assert form.fields == {}
    assert found.startswith(b"x\r\n--" + BOUNDARY.encode())


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (file(b"x", label="file"), "wrong field name 'file' for file upload, expected 'filename'"),
        (field("other", "x"), "wrong field name 'other' for file upload, expected 'filename'"),
        (
            field("content", "iso").replace(b"form-data", b"attachment"),
            "wrong Content-Disposition 'attachment' in multipart, expected 'form-data'",
        ),
        (f"--{BOUNDARY}\r\nX: y\r\n\r\n".encode(), "upload failed"),
        (file(b"x", name="  "), "upload failed"),
        (f"--{BOUNDARY}\r\n".encode() + b"Content-Disposition: " * 50_000, "upload failed"),
        (b"x" * 600_000, "upload failed"),
    ],
)
def test_a_form_that_is_not_as_it_must_be_is_refused(data: bytes, text: str) -> None:
    with pytest.raises(BrokenUpload) as refused:
        read(data)

    assert str(refused.value) == text


@given(
    data=st.binary()
    | st.lists(st.sampled_from([field("content", ""), file(b""), END, b"--"])).map(b"".join)
)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(BrokenUpload):
        form, found = read(data, 7)

        assert form.size == len(found)
