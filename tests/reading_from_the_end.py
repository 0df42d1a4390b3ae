"""Two workers that share the work of reading test modules: one begins with the last of them.

Compiling a module takes longer than everything else about reading it. What one worker has compiled
the other finds, unless both are at the same module at the same time.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest


class FromTheEnd:
    """Reads modules from the last to the first, and puts their tests in order afterwards."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        """Of modules and directories by id, where they are in their directory."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Directory) and report.result:
            self._places |= {one.nodeid: place for place, one in enumerate(report.result)}
            report.result.reverse()
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=self._place)

    def _place(self, item: pytest.Item) -> tuple[int, ...]:
        return tuple(self._places.get(one.nodeid, 0) for one in item.listchain())


def reads_from_the_end(config: pytest.Config) -> bool:
    """Whether this is the second worker, the fourth, and so on.

    Several places that were named are read in the order in which they were.
    """
    told: dict[str, str] = getattr(config, "workerinput", {})
    number = told.get("workerid", "").removeprefix("gw")
    return len(config.args) == 1 and number.isdigit() and int(number) % 2 == 1
