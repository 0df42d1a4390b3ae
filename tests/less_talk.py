"""Workers that say what somebody reads, and a list of files that is not searched for every test.

Of a small test, telling of it takes longer than running it: that it began, that it was set up,
that it passed, that it was torn down, that it ended. Only how it went is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]


class LessTalk:
    """Tells of a test how it went, and of its set-up and its end only what went wrong."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def is_enough(config: pytest.Config) -> bool:
    """Whether this is a worker, and nobody wants to know more than how tests went."""
    asked = config.option
    more = asked.verbose >= 0 or asked.durations is not None or asked.xmlpath is not None
    return hasattr(config, "workerinput") and not more


class Files(LoadFileScheduling):  # type: ignore[misc]  # the library has no types
    """Whole files for workers, in order."""

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        super().add_node_collection(node, _Tests(collection))
        if node in self.registered_collections:
            self.registered_collections[node] = _Tests(collection)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        super().mark_test_complete(node, item_index, duration)
        file = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][file].values()):
            del self.assigned_work[node][file]


class _Tests(list[str]):
    """Ids of tests, found without going through all of them."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(ids)
        self._places = {one: place for place, one in reversed([*enumerate(ids)])}

    def index(self, value: str, *_: object) -> int:
        return self._places[value]


def scheduling(config: pytest.Config, log: Any) -> Files | None:
    """What takes the place of `--dist=loadfile`; None: something else is asked for."""
    return Files(config, log) if config.option.dist == "loadfile" else None
