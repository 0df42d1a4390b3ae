"""Answers of factories and registries, and what they mean."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from stockman.model.errors import Denied, NotFound, Rejected, StockmanError, Unreachable
from stockman.model.version import Version
from stockman.talos.image_api.client import ImageApi
from stockman.talos.image_api.references import ImageRequest, ImageResponse, ImageStream

T = TypeVar("T")
DIGEST = f"sha256:{'a' * 64}"
BODY = b'{"manifests": []}'
REFERENCE = "factory.test/metal-installer/abc:v1.13.9"


class OneAnswer:
    """A wire that answers everything alike."""

    def __init__(self, answer: ImageResponse) -> None:
        self.response = answer
        self.asked: list[ImageRequest] = []

    async def ask(self, question: ImageRequest) -> ImageResponse:
        self.asked.append(question)
        return self.response

    @asynccontextmanager
    async def stream(self, question: ImageRequest) -> AsyncIterator[ImageStream]:
        self.asked.append(question)

        async def chunks() -> AsyncIterator[bytes]:
            yield self.response.body

        yield ImageStream(response=self.response, chunks=chunks())


def told(
    story: Callable[[ImageApi], Awaitable[T]], body: bytes = b"", status: int = 200, **headers: str
) -> T:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    wire = OneAnswer(ImageResponse(status=status, headers=named, body=body))

    async def run() -> T:
        return await story(ImageApi(wire, "https://factory.test/"))

    return asyncio.run(run())


async def all_of(images: ImageApi) -> list[bytes]:
    return [piece async for piece in images.read("https://factory.test/image")]


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'["x"]', b"[" * 100_000])
def test_an_answer_that_is_no_list_of_versions_is_rejected(body: bytes) -> None:
    with pytest.raises(Rejected, match=r"images\.answer"):
        told(lambda images: images.versions(), body)


@pytest.mark.parametrize("body", [b"[1]", b'[{"name": "a"}]', b'[{"name": 1, "ref": 2}]'])
def test_an_answer_that_is_no_list_of_extensions_is_rejected(body: bytes) -> None:
    with pytest.raises(Rejected, match=r"images\.answer"):
        told(lambda images: images.extensions(Version.parse("1.13.9")), body)


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"id": "short"}', b'{"id": 5}'])
def test_an_answer_without_an_id_is_rejected(body: bytes) -> None:
    with pytest.raises(Rejected, match=r"images\.answer"):
        told(lambda images: images.register("a"), body, 201)


def test_an_id_that_is_not_of_the_schematic_is_rejected() -> None:
    body = b'{"id": "%s", "schematic": "customization: {}\\n"}' % (b"0" * 64)

    with pytest.raises(Rejected, match=r"images\.content"):
        told(lambda images: images.register("a"), body, 201)


def test_an_older_factory_does_not_show_the_schematic() -> None:
    body = b'{"id": "%s"}' % (b"0" * 64)

    assert told(lambda images: images.register("a"), body, 201) == "0" * 64


def test_a_registry_that_tells_no_digest_is_asked_for_the_manifest() -> None:
    answer = told(lambda images: images.digest(REFERENCE), BODY)

    assert answer == f"sha256:{hashlib.sha256(BODY).hexdigest()}"


@pytest.mark.parametrize("body", [b"", b"<html>", b"0" * 63, b"0" * 65, b"Z" * 64])
def test_a_checksum_that_is_none_is_rejected(body: bytes) -> None:
    with pytest.raises(Rejected, match=r"images\.answer"):
        told(lambda images: images.checksum("https://a.test/b.qcow2"), body)


@pytest.mark.parametrize("status", [400, 402, 403, 404])
def test_a_server_without_checksums_tells_none(status: int) -> None:
    answer = told(lambda images: images.checksum("https://a.test/b.qcow2"), b"no", status)

    assert answer == ""


def test_a_pinned_digest_that_becomes_another_one_is_rejected() -> None:
    other = f"sha256:{'b' * 64}"

    with pytest.raises(Rejected, match=r"images\.content"):
        told(lambda images: images.digest(f"a.test/b@{other}"), docker_content_digest=DIGEST)


def test_a_digest_that_is_none_is_rejected() -> None:
    with pytest.raises(Rejected, match=r"images\.answer"):
        told(lambda images: images.digest(REFERENCE), docker_content_digest="md5:0")


def test_one_manifest_does_not_say_its_architecture() -> None:
    answer = told(lambda images: images.image(REFERENCE), b'{"schemaVersion": 2}')

    assert answer.architectures == ()


def test_attestations_are_no_architectures() -> None:
    rows = b'{"os": "linux", "architecture": "arm64"}', b'{"os": "unknown", "architecture": "x"}'
    body = b'{"manifests": [%s]}' % b",".join(b'{"platform": %s}' % row for row in rows)

    assert told(lambda images: images.image(REFERENCE), body).architectures == ("arm64",)


def test_a_content_of_another_length_is_rejected() -> None:
    with pytest.raises(Rejected) as caught:
        told(all_of, b"abc", content_length="4")

    assert caught.value.problem.why == "size mismatch: expected 4, got 3"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Rejected),
        (402, Rejected),
        (401, Denied),
        (403, Denied),
        (404, NotFound),
        (500, Unreachable),
        (599, Unreachable),
        (304, Rejected),
    ],
)
def test_a_status_has_its_meaning(status: int, kind: type[StockmanError]) -> None:
    with pytest.raises(StockmanError) as caught:
        told(lambda images: images.versions(), b"the reason\n\x1b[31m", status)

    assert type(caught.value) is kind
    assert "\x1b" not in str(caught.value.problem)


def test_the_reason_of_a_failed_download_is_told() -> None:
    with pytest.raises(NotFound) as caught:
        told(all_of, b"schematic not found\n", 404)

    assert caught.value.problem.why == "status 404 Not Found: schematic not found"


def test_a_plain_registry_is_asked_over_https_and_this_machine_over_http() -> None:
    wire = OneAnswer(ImageResponse(status=200, headers={"docker-content-digest": DIGEST}))
    images = ImageApi(wire, "https://factory.test")

    async def run() -> None:
        for host in ("ghcr.io", "127.0.0.1:5000", "[::1]:5000", "localhost"):
            await images.digest(f"{host}/a:v1")

    asyncio.run(run())

    assert [request.url.partition("/v2")[0] for request in wire.asked] == [
        "https://ghcr.io",
        "http://127.0.0.1:5000",
        "http://[::1]:5000",
        "http://localhost",
    ]
