"""The context of rules, and what many of them need."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from stockman.config.classic import dialect_key
from stockman.config.language import Configuration
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, LoadedConfig
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problems


class RuleContext:
    """The configuration with its problems, and the names of keys in the user's dialect."""

    def __init__(self, loaded: LoadedConfig) -> None:
        self.configuration: Configuration = loaded.configuration
        self.problems: Problems = loaded.problems
        self.complete = loaded.complete
        self.patch_nodes = loaded.patch_nodes
        self._classic = loaded.classic
        self._opaque = {origin.name for origin in loaded.encrypted}
        self._unfit = {
            problem.where for problem in loaded.problems if isinstance(problem.where, Position)
        }

    @property
    def has_cluster(self) -> bool:
        """Whether there are Talos nodes."""
        return bool(self.configuration.nodes)

    def name(self, path: str) -> str:
        """Return the name of a key in the user's dialect."""
        return dialect_key(path, classic=self._classic)

    def is_reported(self, origin: Origin | None) -> bool:
        """Return whether a problem is already reported at this position, or the value is
        encrypted."""
        if origin is None:
            return False
        return origin.at in self._unfit or origin.name in self._opaque

    @property
    def only_region(self) -> str | None:
        """Region of machines without one; None: several clusters, or none."""
        proxmox = self.configuration.proxmox
        if proxmox is None or len(proxmox.clusters) > 1:
            return None
        return proxmox.clusters[0].region if proxmox.clusters else proxmox.region

    @property
    def cluster_file(self) -> Position:
        """Position for problems of missing cluster keys."""
        return Position(CLUSTER_YAML if self._classic else CLUSTER_TOML, 1, 1)


T = TypeVar("T")


def repeated(items: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[T]:
    """Yield items whose key an earlier one has."""
    known: set[Hashable] = set()
    for item in items:
        if key(item) in known:
            yield item
        known.add(key(item))
