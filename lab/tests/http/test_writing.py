"""Answers as bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.http.messages import JSON, Response
from stockman_lab.http.writing import Manner, http_date, rendered

MANNER = Manner("1.1", True, "", "now", "lab")


def head(response: Response, manner: Manner = MANNER) -> list[str]:
    return rendered(response, manner).partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")


@pytest.mark.parametrize(
    ("status", "reason", "line"),
    [
        (200, "", "HTTP/1.1 200 OK"),
        (595, "", "HTTP/1.1 595 "),
        (595, "No route to host", "HTTP/1.1 595 No route to host"),
        (500, "first line\nsecond line\n", "HTTP/1.1 500 first line"),
        (500, "a\r\nX-Injected: b", "HTTP/1.1 400 Bad Request"),
        (500, "caf\xe9 \u2603 \x00\x1b", "HTTP/1.1 500 caf\xe9 ? ??"),
    ],
)
def test_the_first_line_of_the_reason_is_in_the_status_line(
    status: int, reason: str, line: str
) -> None:
    assert head(Response(status, reason))[0] == line


def test_a_smuggled_line_break_takes_the_body_away() -> None:
    answer = rendered(Response(500, "a\rb", JSON, b"secret"), MANNER)

    assert answer.endswith(b"\r\n\r\n")


@given(reason=st.text(), value=st.text())
def test_nothing_that_is_said_adds_a_line_to_the_head(reason: str, value: str) -> None:
    lines = head(Response(500, reason, {"X-Said": value}, b"x"))

    assert len(lines) == 9
    assert not any("\n" in line or "\r" in line for line in lines)


def test_headers_of_the_body_follow_its_length() -> None:
    response = Response(headers={"Content-Type": "a/b", "Location": "c"}, body=b"x")

    names = [line.partition(":")[0] for line in head(response)[1:]]

    assert names == [
        "Cache-Control",
        "Connection",
        "Date",
        "Pragma",
        "Location",
        "Server",
        "Content-Length",
        "Content-Type",
        "Expires",
    ]


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_never_have_a_body(status: int) -> None:
    answer = rendered(Response(status, body=b"x"), MANNER)

    assert answer.endswith(b"\r\n\r\n")
    assert b"Content-Length" not in answer


def test_a_kept_connection_knows_where_an_empty_answer_ends() -> None:
    kept, closed = head(Response()), head(Response(), MANNER._replace(keeps_alive=False))

    assert "Content-Length: 0" in kept
    assert not any(line.startswith("Content-Length") for line in closed)


def test_dates_are_spelled_as_http_spells_them() -> None:
    assert http_date(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT"
