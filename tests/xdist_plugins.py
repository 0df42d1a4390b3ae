"""Plugins that make pytest-xdist faster: fewer reports, fast scheduling, two-way collection."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]


class ResultReports:
    """Sends one report per test, and set-up and teardown only if they fail.

    For a small test, sending all reports takes longer than the test.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def needs_only_results(config: pytest.Config) -> bool:
    """Whether this is a worker, and no option needs more than the result of each test."""
    option = config.option
    needs_more = option.verbose >= 0 or option.durations is not None or option.xmlpath is not None
    return hasattr(config, "workerinput") and not needs_more


class FileScheduling(LoadFileScheduling):  # type: ignore[misc]  # the library has no types
    """`--dist=loadfile` without a linear search for every finished test."""

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        super().add_node_collection(node, _TestIds(collection))
        if node in self.registered_collections:
            self.registered_collections[node] = _TestIds(collection)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        super().mark_test_complete(node, item_index, duration)
        file = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][file].values()):
            del self.assigned_work[node][file]


class _TestIds(list[str]):
    """Test ids with a fast `index`."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(ids)
        self._index = {test: index for index, test in reversed([*enumerate(ids)])}

    def index(self, value: str, *_: object) -> int:
        return self._index[value]


def make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    """Return the scheduler for `--dist=loadfile`. None: another one was requested."""
    return FileScheduling(config, log) if config.option.dist == "loadfile" else None


class ReverseCollection:
    """Imports test modules from the last to the first, and restores the order of tests afterwards.

    Compiling modules takes most of the collection time. If one of two workers starts at the end,
    each module is compiled once, because the other worker then finds it in the cache.
    """

    def __init__(self) -> None:
        self._positions: dict[str, int] = {}
        """Positions of modules and directories in their directory, by id."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Directory) and report.result:
            self._positions |= {node.nodeid: index for index, node in enumerate(report.result)}
            report.result.reverse()
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=self._position)

    def _position(self, item: pytest.Item) -> tuple[int, ...]:
        return tuple(self._positions.get(node.nodeid, 0) for node in item.listchain())


def collects_in_reverse(config: pytest.Config) -> bool:
    """Whether this is the second worker, the fourth, and so on, and one path was given.

    Several paths are collected in the given order.
    """
    worker: dict[str, str] = getattr(config, "workerinput", {})
    number = worker.get("workerid", "").removeprefix("gw")
    return len(config.args) == 1 and number.isdigit() and int(number) % 2 == 1
