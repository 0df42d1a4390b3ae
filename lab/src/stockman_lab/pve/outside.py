"""What is outside of the world, and how it is asked: downloads are real."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stockman_lab.images.fetching import Fetched, FetchFailed, QueryFailed


class Outside(Protocol):
    """Fetches bytes for the world; whoever asks is called back, sooner or later."""

    def fetch(
        self, url: str, path: str, *, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        """Fetch what a URL leads to; `path` is what the log calls the file."""
        ...

    def metadata(
        self, url: str, *, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        """Ask what a URL leads to."""
        ...


class NothingOutside:
    """A world on its own: no URL leads anywhere."""

    def fetch(
        self, url: str, path: str, *, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        from stockman_lab.images.fetching import FetchFailed

        del path, verify
        done(FetchFailed(f"download failed: unable to resolve host address of '{url}'"))

    def metadata(
        self, url: str, *, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        from stockman_lab.images.fetching import QueryFailed

        del verify
        done(QueryFailed(f"invalid server response: '500 Can't connect to {url}'"))
