"""Uploads over a connection."""

from pathlib import Path

import pytest
from stockman_lab.http.messages import Outcome, Request, Response
from stockman_lab.http.rules import ServerRules

from lab.tests.http.forms import BOUNDARY, END, field, file
from lab.tests.http.serving import rest, running

KIND = f"multipart/form-data; boundary={BOUNDARY}"


def is_upload(request: Request) -> bool:
    return request.method == "POST" and request.target.endswith("/upload")


def kept(request: Request) -> Response:
    """Tells what was uploaded."""
    upload = request.upload
    assert upload is not None
    content = upload.path.read_bytes()
    text = f"{upload.fields} {upload.filename} {upload.size} {len(content)} {content[:4]!r}"
    return Response(body=text.encode())


def posted(form: bytes, kind: str = KIND, length: int | None = None) -> bytes:
    head = (
        "POST /upload HTTP/1.1\r\nHost: pve1\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(form) if length is None else length}\r\n\r\n"
    )
    return head.encode() + form


def test_a_file_larger_than_any_body_is_taken(tmp_path: Path) -> None:
    form = field("content", "iso") + file(b"ISO9" * 500_000) + END

    with running(kept, ServerRules(is_upload=is_upload, spool=tmp_path)) as lab:
        heard = lab.talk(posted(form))

    assert heard.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nConnection: close\r\n" in heard
    assert heard.endswith(b"{'content': 'iso'} a.iso 2000000 2000000 b'ISO9'")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_moved_away_is_left_alone(tmp_path: Path) -> None:
    def moving(request: Request) -> Outcome:
        assert request.upload is not None
        request.upload.path.rename(tmp_path / "kept")
        return Response()

    with running(moving, ServerRules(is_upload=is_upload, spool=tmp_path)) as lab:
        lab.talk(posted(file(b"x") + END))

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("kept", b"x")]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        (file(b"x", label="file") + END, "500 wrong field name 'file' for file upload"),
        (field("content", "iso") + END, "500 upload failed"),
        (file(b"x"), "500 upload failed"),
        (b"nothing of the kind", "500 upload failed"),
    ],
)
def test_a_broken_form_is_refused_and_forgotten(form: bytes, status: str, tmp_path: Path) -> None:
    with running(kept, ServerRules(is_upload=is_upload, spool=tmp_path)) as lab:
        heard = lab.talk(posted(form))

    assert heard.startswith(f"HTTP/1.1 {status}".encode())
    assert list(tmp_path.iterdir()) == []


def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    with running(kept, ServerRules(is_upload=is_upload, spool=tmp_path)) as lab:
        with lab.connect() as line:
            line.sendall(posted(file(b"x" * 100_000), length=200_000))
            lab.wait_until(lambda server: any(tmp_path.iterdir()))
        lab.wait_until(lambda server: server.connections == 0)

        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "application/json", "multipart/mixed; boundary=a"]
)
def test_an_upload_of_another_type_is_left_without_an_answer(kind: str, tmp_path: Path) -> None:
    with (
        running(kept, ServerRules(is_upload=is_upload, spool=tmp_path)) as lab,
        lab.connect() as line,
    ):
        line.sendall(posted(b"x", kind))
        lab.talk(b"\x00\n")
        lab.pass_time(5)

        heard = rest(line)

    assert heard == b""
