"""Which tests against real programs go to the same worker, which come first, and what they tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]  # it has no types of its own
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # likewise

HERE = Path(__file__).parent
TOGETHER = {
    "test_talosctl_configures": "machines",
    "test_talosctl_etcd": "machines",
    "test_talosctl_looks_after": "machines",
    "test_talosctl_power": "machines",
    "test_talosctl_recovers": "machines",
}
"""Files whose tests answer on the same addresses. Any other file, and any folder, is by itself."""
LONGEST = (
    "apply",
    "machines",
    "test_rendered_objects_judged",
    "test_demo_judged",
    "test_bpg_acceptance",
    "test_opentofu_judges",
    "test_flux_build_judged",
    "test_talosctl_on_clusters",
    "test_lab_configurations_judged",
    "test_client_go_judged",
)
"""What takes longest begins first, so that no worker is left alone with it at the end; beside the
first, which has more to do than one processor can, those that wait for others most of the time."""


class Groups(LoadScopeScheduling):  # type: ignore[misc]  # likewise
    """Gives every group of tests to one worker, in the order in which they were found."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(self.config.rootpath / nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Groups:
    """Let workers take groups."""
    return Groups(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    items.sort(key=_turn)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what tests measured, whichever worker they ran in."""
    passed = terminalreporter.getreports("passed")
    for name, value in dict(fact for one in passed for fact in one.user_properties).items():
        terminalreporter.write_line(f"{name}: {value}")


def group_of(path: Path) -> str:
    """Tests of the same group share what lasts for a session, or addresses."""
    first = path.relative_to(HERE).with_suffix("").parts[0]
    return TOGETHER.get(first, first)


def _turn(item: pytest.Item) -> int:
    group = group_of(item.path)
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)
