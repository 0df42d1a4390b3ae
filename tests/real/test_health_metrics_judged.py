"""Metrics of a cluster are judged by Prometheus' own checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.app.runs.metrics import run_history, run_metrics
from stockman.assessment.status.metrics import prometheus_text, status_metrics
from stockman.assessment.status.status import assess as judged_status
from tests.app.status.scene import Scene, scene, told
from tests.real.test_run_metrics_judged import judged
from tools.pytest_plugin import RealTool


def metrics_of(here: Scene) -> str:
    """Everything that `stockman health -o prometheus` prints."""
    seen = here.look()
    found = judged_status(seen)
    history = told(run_history(here.home, here.ports.clock))
    return prometheus_text((*status_metrics(found, seen), *run_metrics(history, found.at)))


@pytest.mark.parametrize("lost", [(), ("niobe",), ("niobe", "neo")])
def test_promtool_finds_nothing_wrong(
    real_tool: RealTool, tmp_path: Path, lost: tuple[str, ...]
) -> None:
    here = scene(tmp_path)
    for host in lost:
        here.lose_host(host)

    text = metrics_of(here)

    assert judged(real_tool, text) == ""
    assert f'stockman_healthy{{cluster="k8s"}} {0}\n' in text, "there are no certificates"
