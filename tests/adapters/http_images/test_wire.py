"""Images over HTTP: what goes over the wire, and what becomes of trouble."""

from __future__ import annotations

import json
from collections import deque

import pytest
from stockman_lab.http.messages import Cut, Hang, Outcome, Request, Response

from stockman.adapters.images import HttpImages
from stockman.model.errors import Busy, Denied, Refused, Rejected, Unreachable
from stockman.ports.images import ImageSource
from tests.adapters.http_images.talking import Server, talk

VERSIONS = Response(body=b'["v1.13.9"]')
DIGEST = f"sha256:{'a' * 64}"
FOUND = Response(headers={"Docker-Content-Digest": DIGEST})


def one_by_one(*outcomes: Outcome) -> Server:
    left = deque(outcomes)
    return Server(lambda _: left.popleft())


async def versions(images: ImageSource) -> int:
    return len(await images.versions())


def test_connections_are_used_again_and_nothing_is_told_of_the_user() -> None:
    server = Server(lambda _: VERSIONS)

    async def story(images: ImageSource) -> None:
        for _ in range(3):
            await images.versions()

    talk(server, story)

    assert all(one.headers["user-agent"].startswith("stockman/") for one in server.asked)
    assert all("authorization" not in one.headers for one in server.asked)
    assert all("cookie" not in one.headers for one in server.asked)


def test_a_dead_connection_is_replaced_once() -> None:
    assert talk(one_by_one(Cut(), VERSIONS), versions) == 1

    with pytest.raises(Unreachable, match=r"images\.unreachable"):
        talk(one_by_one(Cut(), Cut(), VERSIONS), versions)


def test_an_error_is_not_asked_for_again() -> None:
    server = one_by_one(Response(503), VERSIONS)

    with pytest.raises(Unreachable):
        talk(server, versions)

    assert len(server.asked) == 1


def test_silence_ends_in_time() -> None:
    with pytest.raises(Unreachable) as caught:
        talk(one_by_one(Hang()), versions, seconds=0.2)

    assert caught.value.problem.why == "no complete reply within 0.2 s"


def test_a_download_that_falls_silent_ends_in_time() -> None:
    server = one_by_one(Hang())

    async def story(images: ImageSource) -> None:
        async for _ in images.read(f"{server.url}/image"):
            pass

    with pytest.raises(Unreachable) as caught:
        talk(server, story, silence=0.2)

    assert caught.value.problem.why == "it stopped sending data"


def test_nobody_listens() -> None:
    async def story(images: ImageSource) -> None:
        async with HttpImages("http://127.0.0.1:9") as http_images:
            await http_images.versions()

    with pytest.raises(Unreachable) as caught:
        talk(Server(lambda _: VERSIONS), story)

    assert caught.value.problem.why == "connection refused"


def test_an_anonymous_token_is_fetched_and_kept_for_its_repository() -> None:
    def answer(request: Request) -> Outcome:
        if request.target.startswith("/token"):
            assert request.target == "/token?service=reg&scope=repository%3Aa%2Fb%3Apull"
            return Response(body=json.dumps({"token": "t0ken"}).encode())
        if request.headers.get("authorization") == "Bearer t0ken":
            return FOUND
        realm = f'Bearer realm="{server.url}/token",service="reg",scope="repository:a/b:pull"'
        return Response(401, headers={"WWW-Authenticate": realm})

    server = Server(answer)

    async def story(images: ImageSource) -> list[str]:
        return [await images.digest(f"{server.host}/a/b:v1") for _ in range(2)]

    assert talk(server, story) == [DIGEST, DIGEST]
    assert [one.target.partition("?")[0] for one in server.asked] == [
        "/v2/a/b/manifests/v1",
        "/token",
        "/v2/a/b/manifests/v1",
        "/v2/a/b/manifests/v1",
    ]


@pytest.mark.parametrize(
    "challenge",
    ["", 'Basic realm="x"', 'Bearer realm="http://10.42.0.1/token"', "Bearer realm=x"],
)
def test_a_registry_that_wants_more_is_denied(challenge: str) -> None:
    server = Server(lambda _: Response(401, headers={"WWW-Authenticate": challenge}))

    with pytest.raises(Denied, match=r"images\.denied"):
        talk(server, lambda images: images.digest(f"{server.host}/a/b:v1"))


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"token": "two words"}'])
def test_a_token_service_without_a_token_is_denied(body: bytes) -> None:
    def answer(request: Request) -> Outcome:
        if request.target.startswith("/token"):
            return Response(body=body)
        realm = f'Bearer realm="{server.url}/token"'
        return Response(401, headers={"WWW-Authenticate": realm})

    server = Server(answer)

    with pytest.raises(Denied):
        talk(server, lambda images: images.digest(f"{server.host}/a/b:v1"))


def test_a_redirect_is_followed_without_the_token() -> None:
    def first(request: Request) -> Outcome:
        if request.target == "/token":
            return Response(body=b'{"access_token": "t0ken"}')
        if "authorization" not in request.headers:
            realm = f'Bearer realm="{server.url}/token"'
            return Response(401, headers={"WWW-Authenticate": realm})
        return Response(307, headers={"Location": f"{other.url}/blob"})

    server, other = Server(first), Server(lambda _: FOUND)

    value = talk(server, lambda images: images.digest(f"{server.host}/a/b:v1"), other)

    assert value == DIGEST
    assert "authorization" not in other.asked[0].headers
    assert other.asked[0].method == "HEAD"


def test_an_image_is_read_where_a_redirect_leads() -> None:
    def answer(request: Request) -> Outcome:
        if request.target == "/stored":
            return Response(body=b"image" * 100_000)
        return Response(302, headers={"Location": "/stored"})

    server = Server(answer)

    async def story(images: ImageSource) -> tuple[int, int]:
        pieces = [piece async for piece in images.read(f"{server.url}/image/a")]
        return len(pieces), sum(map(len, pieces))

    pieces, size = talk(server, story)

    assert size == 500_000
    assert pieces > 1


@pytest.mark.parametrize(
    "text", ["http://10.42.0.1/a", "ftp://127.0.0.1/a", "/again", "http://[/", ""]
)
def test_a_redirect_that_leads_nowhere_is_rejected(text: str) -> None:
    server = Server(lambda _: Response(302, headers={"Location": text}))

    with pytest.raises(Rejected, match=r"images\.answer"):
        talk(server, versions)


def test_a_server_may_ask_for_patience_until_a_moment() -> None:
    later = {"Retry-After": "Thu, 01 Jan 2026 00:01:30 GMT"}
    server = Server(lambda _: Response(429, headers=later))

    with pytest.raises(Busy) as caught:
        talk(server, versions)

    assert caught.value.retry_after == 90


def test_an_answer_without_end_is_rejected() -> None:
    server = Server(lambda _: Response(body=b" " * (17 << 20)))

    with pytest.raises(Rejected, match=r"images\.answer"):
        talk(server, versions)


@pytest.mark.parametrize(
    "url",
    ["http://factory.test", "http://10.42.0.5:8080", "ftp://a", "https://u:p@a", "https://a?b=c"],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(Refused, match=r"images\.address"):
        HttpImages(url)
