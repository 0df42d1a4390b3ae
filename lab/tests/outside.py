"""What is outside of a world in tests: contents by URL, told at once or when asked to."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.images.fetching import Fetched, FetchFailed, QueryFailed
from stockman_lab.world.world import World

from lab.tests.worlds import small_world


class Shelf:
    """Contents by URL."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        self.contents = contents
        self.asked: list[str] = []
        self.waits = False
        """Whether who asks is answered only by `deliver`."""
        self._waiting: list[Callable[[], None]] = []

    def fetch(
        self, url: str, path: str, *, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        del verify
        self.asked.append(url)
        content = self.contents.get(url)
        result = (
            Fetched(content, [f"Saving to: '{path}'"])
            if content is not None
            else FetchFailed("download failed: exit code 8", ("404 Not Found",))
        )
        self._waiting.append(lambda: done(result))
        if not self.waits:
            self.deliver()

    def metadata(
        self, url: str, *, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        del verify
        content = self.contents.get(url)
        if content is None:
            done(QueryFailed("invalid server response: '404 Not Found'"))
        else:
            done({"filename": url.rpartition("/")[2], "size": len(content)})

    def deliver(self) -> None:
        """Answer all who wait."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            one()


def world_with(shelf: Shelf, profile: str = "9.1") -> World:
    """A small world with something outside."""
    return World(small_world(profile).state, shelf)
