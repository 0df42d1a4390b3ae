"""What the server says to requests that it does not take."""

import pytest
from stockman_lab.http.refusals import content_type


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("application/json", ("application/json", "")),
        ("application/json ; charset=utf-8", ("application/json", "")),
        ("multipart/form-data; boundary=abc", ("multipart/form-data", "abc")),
        ("multipart/form-data, a=b ; boundary = abc ", ("multipart/form-data", "abc")),
        ('multipart/form-data; boundary="abc"', ("multipart/form-data", '"abc"')),
        ("multipart/form-data; boundary=", ("multipart/form-data", "")),
    ],
)
def test_a_content_type_has_a_kind_and_perhaps_a_boundary(text: str, rows: tuple[str, str]) -> None:
    assert content_type(text) == rows
