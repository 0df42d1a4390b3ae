"""The Image Factory as hosts of a world reach it: without a network in between."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from stockman_lab.http.messages import Request, Response
from stockman_lab.images.fetching import Fetched, FetchFailed, QueryFailed
from stockman_lab.servers.images_handler import WorldImages
from stockman_lab.world.world import World

_OK = 200


class FactoryOutside:
    """`lab.pve.outside.Outside` that leads to the factory of the same world."""

    def __init__(self) -> None:
        self.world: World | None = None
        self.cut: int | None = None
        """Where what comes through ends, as slices count. None: it is whole."""
        self.swaps = False
        """Whether something on the way puts another byte at the end."""

    def fetch(
        self, url: str, path: str, *, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        del path, verify
        answer = self._answer("GET", url)
        if answer is None:
            done(FetchFailed("download failed: 404"))
            return
        content = answer.body[: self.cut]
        done(Fetched(content[:-1] + bytes([content[-1] ^ 1]) if self.swaps else content))

    def metadata(
        self, url: str, *, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        del verify
        answer = self._answer("GET", url)
        if answer is None:
            done(QueryFailed("invalid server response: '404 Not Found'"))
            return
        done({"filename": url.rsplit("/", 1)[-1], "size": len(answer.body)})

    def _answer(self, method: str, url: str) -> Response | None:
        if self.world is None:
            return None
        split = urlsplit(url)
        request = Request(
            method=method,
            target=split.path,
            headers={"host": split.netloc},
            body=b"",
            peer="",
            secure=True,
        )
        outcome = WorldImages(self.world).answer(request).outcome
        fits = isinstance(outcome, Response) and outcome.status == _OK
        return outcome if fits and isinstance(outcome, Response) else None
