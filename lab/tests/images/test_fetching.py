"""Downloads that come, and those that do not, in the words of wget."""

from __future__ import annotations

import asyncio

import pytest
from stockman_lab.images.fetching import Fetched, Fetcher, FetchFailed, QueryFailed
from stockman_lab.images.opening import Trouble, Untrusted

from lab.tests.images.made import MOMENT
from lab.tests.images.servers import Page, Web

PATH = "/var/lib/vz/template/iso/a.iso.tmp_dwnl.7"
HOST = "http://127.66.0.9:8080"


def fetched(web: Web, url: str = f"{HOST}/a.iso", most: int = 1000) -> Fetched:
    return asyncio.run(Fetcher(web.open, most).fetch(url, PATH, MOMENT))


def refused(web: Web, url: str = f"{HOST}/a.iso", most: int = 1000) -> FetchFailed:
    with pytest.raises(FetchFailed) as failure:
        fetched(web, url, most)
    return failure.value


def test_a_file_is_fetched_and_told_of() -> None:
    web = Web({"/a.iso": Page(b"content", headers={"content-length": "7", "content-type": "x/y"})})

    result = fetched(web)

    assert result.content == b"content"
    assert result.log == [
        "--2026-01-02 03:04:05--  http://127.66.0.9:8080/a.iso",
        "Connecting to 127.66.0.9:8080... connected.",
        "HTTP request sent, awaiting response... 200 OK",
        "Length: 7 [x/y]",
        f"Saving to: '{PATH}'",
        "",
        f"2026-01-02 03:04:05 (1.00 GB/s) - '{PATH}' saved [7/7]",
        "",
    ]


def test_redirects_are_followed() -> None:
    web = Web(
        {
            "/a.iso": Page(status=302, reason="Found", headers={"location": "/b?c"}),
            "/b?c": Page(b"there"),
        }
    )

    result = fetched(web, "http://localhost:8080/a.iso")

    assert result.content == b"there"
    assert "Location: /b?c [following]" in result.log
    assert "Resolving localhost (localhost)... 127.0.0.1" in result.log
    assert "Connecting to localhost (localhost)|127.0.0.1|:8080... connected." in result.log


def test_redirects_have_an_end() -> None:
    web = Web({"/a.iso": Page(status=301, reason="Moved", headers={"location": "/a.iso"})})

    assert refused(web).text == "download failed: 20 redirections exceeded."
    assert len(web.asked) == 21


def test_a_redirect_leads_nowhere_else() -> None:
    away = {"location": "https://example.com/a.iso"}
    web = Web({"/a.iso": Page(status=302, reason="Found", headers=away)})

    failure = refused(web)

    assert failure.text == "download failed: wget: unable to resolve host address 'example.com'"
    assert len(web.asked) == 1


def test_the_name_of_another_machine_is_not_known() -> None:
    web = Web({})

    failure = refused(web, "https://factory.example.com/a.iso")

    assert failure.text == (
        "download failed: wget: unable to resolve host address 'factory.example.com'"
    )
    assert failure.log[-1] == (
        "Resolving factory.example.com (factory.example.com)... failed: Name or service not known."
    )
    assert web.asked == []


@pytest.mark.parametrize(
    ("url", "trouble", "text"),
    [
        (f"{HOST}/", Trouble("Connection refused"), "Connecting to 127.66.0.9:8080... failed: "),
        ("http://10.1.2.3/", None, "Connecting to 10.1.2.3:80... failed: No route to host."),
        ("http://[fd00::1]/", None, "Connecting to [fd00::1]:80... failed: No route to host."),
        ("http:///x", None, "http:///x: Invalid host name."),
    ],
)
def test_what_cannot_be_reached_fails(url: str, trouble: Trouble | None, text: str) -> None:
    assert refused(Web({}, trouble), url).text.startswith(f"download failed: {text}")


def test_the_error_of_a_server_is_in_the_log_and_its_exit_code_in_the_text() -> None:
    failure = refused(Web({}))

    assert failure.text == "download failed: exit code 8"
    assert failure.log[-2:] == (
        "HTTP request sent, awaiting response... 404 Not Found",
        "2026-01-02 03:04:05 ERROR 404: Not Found.",
    )


@pytest.mark.parametrize(
    ("why", "text"),
    [
        ("self-signed certificate", "ERROR: The certificate of '127.66.0.9' doesn't have a known"),
        (
            "IP address mismatch, certificate is not valid for '127.66.0.9'.",
            "The certificate's owner does not match hostname '127.66.0.9'",
        ),
    ],
)
def test_a_certificate_that_nobody_trusts_fails(why: str, text: str) -> None:
    failure = refused(Web({}, Untrusted(why)), "https://127.66.0.9/a.iso")

    assert failure.text.startswith(f"download failed: {text}")


def test_a_connection_that_breaks_fails() -> None:
    failure = refused(Web({"/a.iso": Page(b"x" * 100, cut_after=30)}))

    assert failure.text == "download failed: exit code 4"
    assert failure.log[-1].endswith("Connection closed at byte 30. Giving up.")


def test_more_than_there_is_room_for_fails() -> None:
    failure = refused(Web({"/a.iso": Page(b"x" * 100)}), most=50)

    assert failure.text == f"download failed: Cannot write to '{PATH}' (No space left on device)."


def looked(web: Web, url: str) -> dict[str, object]:
    return asyncio.run(Fetcher(web.open).metadata(url))


def test_a_server_tells_of_a_file_without_sending_it() -> None:
    headers = {"content-length": "1234", "content-type": "text/html; charset=utf-8"}
    web = Web({"/d/a.iso?x": Page(headers=headers)})

    assert looked(web, f"{HOST}/d/a.iso?x") == {
        "filename": "a.iso",
        "size": 1234,
        "mimetype": "text/html",
    }
    assert (web.asked[0].method, web.asked[0].agent) == ("HEAD", "Proxmox VE")


@pytest.mark.parametrize(
    "disposition", ['attachment; filename="b c.iso"; x', "attachment; filename=b c.iso;x=y"]
)
def test_a_server_may_give_a_file_another_name(disposition: str) -> None:
    web = Web({"/a": Page(headers={"content-disposition": disposition})})

    assert looked(web, f"{HOST}/a") == {"filename": "b c.iso"}


def test_a_name_is_that_of_the_first_url() -> None:
    web = Web({"/a": Page(status=307, headers={"location": "/other.iso"}), "/other.iso": Page()})

    assert looked(web, f"{HOST}/a") == {"filename": "a"}


@pytest.mark.parametrize(
    ("url", "trouble", "text"),
    [
        (f"{HOST}/", None, "404 Not Found"),
        ("https://example.com/", None, "500 Can't connect to example.com:443 (Name or service"),
        ("http://10.1.2.3/", None, "500 Can't connect to 10.1.2.3:80 (No route to host)"),
        (f"{HOST}/", Trouble("Connection refused"), "500 Can't connect to 127.66.0.9:8080 (Conn"),
        (f"{HOST}/", Untrusted("x"), "500 Can't connect to 127.66.0.9:8080 (certificate verify"),
        ("http://", None, "400 URL missing"),
    ],
)
def test_a_file_that_cannot_be_told_of(url: str, trouble: Trouble | None, text: str) -> None:
    with pytest.raises(QueryFailed) as failure:
        looked(Web({}, trouble), url)

    assert str(failure.value).startswith(f"invalid server response: '{text}")


def test_a_server_that_sends_on_for_ever_is_not_asked_for_ever() -> None:
    web = Web({"/": Page(status=302, reason="Found", headers={"location": "/"})})

    with pytest.raises(QueryFailed, match="302 Found"):
        looked(web, f"{HOST}/")
    assert len(web.asked) == 8
