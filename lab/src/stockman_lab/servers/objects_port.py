"""`ports.Objects` in memory: the requests of the product, answered straight out of the world."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from stockman.model.secret import Secret
from stockman.s3.client import S3Client
from stockman.s3.credentials import S3Credentials
from stockman.s3.location import S3Location
from stockman.s3.transport import NotSent, ReplyLost, S3Reply, S3Request
from stockman_lab.http.messages import Request, Response
from stockman_lab.objects.api import ObjectsApi
from stockman_lab.objects.buckets import Buckets
from stockman_lab.objects.state import first_key
from stockman_lab.world.world import World


def world_objects(world: World, clock: Callable[[], datetime] | None = None) -> ObjectsApi:
    """The object storage of a world; without a clock of its own it goes by the world's."""
    state = world.state
    buckets = Buckets(state.objects, state.blobs, lambda: world.now)
    return ObjectsApi(
        buckets,
        state.faults,
        lambda: world.now,
        clock or (lambda: datetime.fromtimestamp(world.now, UTC)),
    )


ENDPOINT = "https://objects.test"


class WorldObjectsWire:
    """Carries requests to the object storage of a world, whatever host they name."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._api = world_objects(world)

    async def send(self, request: S3Request) -> S3Reply:
        split = urlsplit(request.url)
        http_request = Request(
            method=request.method,
            target=f"{split.path}?{split.query}" if split.query else split.path,
            headers=dict(request.headers),
            body=request.body,
            peer="",
            secure=True,
        )
        answer = self._api.answer(http_request)
        if answer.seconds:
            self._world.advance(answer.seconds)
        if answer.is_refused:
            raise NotSent("connection refused")
        if not isinstance(answer.outcome, Response):
            raise ReplyLost("the connection was lost")
        headers = {name.lower(): value for name, value in answer.outcome.headers.items()}
        headers.setdefault("content-length", str(len(answer.outcome.body)))
        body = b"" if request.method == "HEAD" else answer.outcome.body
        return S3Reply(status=answer.outcome.status, headers=headers, body=body)


def memory_objects(
    world: World, place: S3Location, credentials: S3Credentials | None = None
) -> S3Client:
    """The port, with the object storage of a world behind it; with the world's own key if none."""

    def now() -> datetime:
        return datetime.fromtimestamp(world.now, UTC)

    return S3Client(WorldObjectsWire(world), place, credentials or world_credentials(world), now)


def world_credentials(world: World) -> S3Credentials:
    """The first key of a world's object storage."""
    key = first_key(world.state.objects, world.state.dice.seed)
    return S3Credentials(
        access_key=Secret(key.id, resolved=True), secret_key=Secret(key.secret, resolved=True)
    )
