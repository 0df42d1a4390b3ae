"""Which hosts may be dialled."""

from __future__ import annotations

import pytest
from stockman_lab.images.loopback import NoUrl, target


@pytest.mark.parametrize(
    ("url", "address", "port", "path", "authority"),
    [
        ("http://127.0.0.1", "127.0.0.1", 80, "/", "127.0.0.1"),
        ("https://127.66.0.9:8443/a/b.raw?x=1#part", "127.66.0.9", 8443, "/a/b.raw?x=1", None),
        ("http://localhost:81/x", "127.0.0.1", 81, "/x", "localhost:81"),
        ("http://LOCALHOST/x", "127.0.0.1", 80, "/x", "localhost"),
        ("http://127.0.0.1/ä%20b", "127.0.0.1", 80, "/%C3%A4%20b", None),
        ("http://[::1]:81/x", "::1", 81, "/x", "[::1]:81"),
        ("https://" + "user:word" + "@127.0.0.1/x", "127.0.0.1", 443, "/x", "127.0.0.1"),
    ],
)
def test_this_machine_is_dialled(
    url: str, address: str, port: int, path: str, authority: str | None
) -> None:
    result = target(url)

    assert (result.address, result.port, result.path) == (address, port, path)
    assert result.is_local
    assert authority in (None, result.authority)


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        "10.0.0.1",
        "0.0.0.0",
        "127.0.0.1.example.com",
        "localhost.example.com",
        "2130706433",
        "0x7f.1",
        "127.1",
        "[::]",
        "[::ffff:10.0.0.1]",
        "169.254.169.254",
    ],
)
def test_no_other_machine_is(host: str) -> None:
    assert not target(f"http://{host}/x").is_local


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "ftp://127.0.0.1/",
        "http://",
        "http:///x",
        "http://127.0.0.1:x/",
        "http://[::1/",
        "http://a b/",
        "http://127.0.0.1/\r\nX: y",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(NoUrl):
        target(url)
