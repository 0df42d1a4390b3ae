"""`ports.Images` in memory: the questions of the product, answered straight out of the world."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from stockman.talos.image_api.client import ImageApi
from stockman.talos.image_api.references import (
    ImageRequest,
    ImageResponse,
    ImageStream,
    unreachable_error,
)
from stockman_lab.http.messages import Request, Response
from stockman_lab.servers.images_handler import WorldImages
from stockman_lab.world.world import World

FACTORY_URL = "https://factory.talos.dev"
_PIECE = 1 << 16
_OK = 200


class WorldImagesWire:
    """Carries questions to a world, whatever host they name."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._images = WorldImages(world)

    async def ask(self, question: ImageRequest) -> ImageResponse:
        answer = self._answer(question)
        if question.method == "HEAD":
            return ImageResponse(status=answer.status, headers=_headers(answer))
        body = b"".join([piece async for piece in _pieces(question, answer)])
        return ImageResponse(status=answer.status, headers=_headers(answer), body=body)

    @asynccontextmanager
    async def stream(self, question: ImageRequest) -> AsyncIterator[ImageStream]:
        found = self._answer(question)
        body = found.body if found.status != _OK else b""
        answer = ImageResponse(status=found.status, headers=_headers(found), body=body)
        yield ImageStream(response=answer, chunks=_pieces(question, found))

    def _answer(self, question: ImageRequest) -> Response:
        split = urlsplit(question.url)
        request = Request(
            method=question.method,
            target=f"{split.path}?{split.query}" if split.query else split.path,
            headers={
                "host": split.netloc,
                **{name.lower(): value for name, value in question.headers.items()},
            },
            body=question.body,
            peer="",
            secure=True,
        )
        answer = self._images.answer(request)
        if answer.seconds:
            self._world.advance(answer.seconds)
        if not isinstance(answer.outcome, Response):
            raise unreachable_error(question, "the connection was lost")
        return answer.outcome


def memory_images(world: World, factory_url: str = FACTORY_URL) -> ImageApi:
    """The port, with the factory and the registry of a world behind it."""
    return ImageApi(WorldImagesWire(world), factory_url)


def _headers(response: Response) -> dict[str, str]:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return {"content-length": str(len(response.body)), **headers}


async def _pieces(question: ImageRequest, response: Response) -> AsyncIterator[bytes]:
    body = response.body
    for at in range(0, len(body), _PIECE):
        yield body[at : at + _PIECE]
    if len(body) < int(_headers(response)["content-length"]):
        raise unreachable_error(question, "the connection was lost")
