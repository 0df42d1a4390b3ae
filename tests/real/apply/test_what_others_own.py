"""What others do by right is neither drift nor planned away.

Machines of the cluster are changed for that: tests that look at them have to come before this one.
"""

from __future__ import annotations

import pytest

from tests.real.apply import stories
from tests.real.apply.herd import Made
from tools.pytest_plugin import RealTool


@pytest.mark.parametrize("cluster", ["1.13"])
def test_what_others_own_is_neither_drift_nor_planned_away(
    cluster: str, made: Made, real_tool: RealTool
) -> None:
    stories.what_others_own_is_no_drift(made, real_tool)
