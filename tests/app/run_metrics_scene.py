"""Runs of toys that metrics are made of."""

from __future__ import annotations

import asyncio

from stockman.app.runs.metrics import run_history, run_metrics
from stockman.assessment.status.metrics import prometheus_text
from stockman.engine.lifecycle import start_run
from stockman.steps.plan import Plan
from tests.engine.toys import ONE_AT_A_TIME, Break, Exists, Scene, make, plan_of, way

FAILS = plan_of(
    make("a", seconds=90.0),
    make("b", "a", action=Break(key="b"), seconds=60.0),
    make("c", "b", seconds=30.0),
)
WAITS = plan_of(make("w", gates=(Exists(key="never"),), deadline=50.0))


def carried_out(scene: Scene, plan: Plan) -> str:
    """Carry a plan out; the name of the run."""
    home, ports = scene.process()
    return asyncio.run(start_run(home, plan, ports, way(settings=ONE_AT_A_TIME))).state.run


def metrics_text(scene: Scene) -> str:
    """The metrics of a scene's runs."""
    home, ports = scene.process()
    history = asyncio.run(run_history(home, ports.clock))
    return prometheus_text(run_metrics(history, scene.clock.now()))
