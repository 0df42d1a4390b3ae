"""Why a Job did not install a chart."""

from __future__ import annotations

from contextlib import aclosing

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.logs import LogWish
from stockman.ports.kubernetes.objects import Object, Selection
from stockman.ports.kubernetes.pods import Pod
from stockman.steps import kube_problems as problems
from stockman.steps.kube_job import Install, names_of
from stockman.steps.kube_reading import condition

_LINES = 8


async def failure(kubernetes: Kubernetes, install: Install, job: Object) -> Problem:
    """What a Job and the last lines of its pod say."""
    ref = names_of(install).job
    selection = Selection(namespace=ref.namespace, labels=f"job-name={ref.name}")
    pods = await kubernetes.pods(selection)
    told = condition(job, "Failed")
    reasons = [f"{told.reason}: {told.message}"] if told.holds else ["it did not end in time"]
    reasons += [one for pod in pods for one in _waits(pod)]
    lines: list[str] = []
    where = ref.shown
    for pod in reversed(pods):
        lines = await _last_lines(kubernetes, pod)
        where = f"{ref.shown}, pod {pod.name} on {pod.node or 'no node'}"
        if lines:
            break
    why = "; ".join(dict.fromkeys(reasons))
    return problems.install_failed(install.release, where, why, lines)


def _waits(pod: Pod) -> list[str]:
    found = [f"{one.name} waits: {one.waiting}" for one in pod.containers if one.waiting]
    placed = (one for one in pod.conditions if one.type == "PodScheduled" and not one.holds)
    return [*found, *(f"not placed: {one.message}" for one in placed)]


async def _last_lines(kubernetes: Kubernetes, pod: Pod) -> list[str]:
    wish = LogWish(namespace=pod.namespace, pod=pod.name, last=_LINES)
    found: list[str] = []
    try:
        async with aclosing(kubernetes.log(wish)) as lines:
            async for line in lines:
                found.append(line)  # noqa: PERF401  # what came before a failure counts
    except StockmanError as error:
        return [*found, f"(its log cannot be read: {error.problem.what})"]
    return found[-_LINES:]
