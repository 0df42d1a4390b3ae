"""Decisions of the scheduler."""

from __future__ import annotations

import pytest
from stockman_lab.kube.nodes.scheduling.deciding import Decision, Scheduling
from stockman_lab.kube.nodes.scheduling.picture import Picture

from lab.tests.kube.nodes.placements import CASES, Case, admitted

BEST = {
    "an empty cluster": "a",
    "the emptier node": "b",
    "a taint that is borne": "a",
    "a taint that is better avoided": "b",
    "one with the label": "b",
    "affinity to nodes": "b",
    "a node that is preferred": "b",
    "near a pod": "b",
    "near itself": "a",
    "a zone without the others": "c",
    "a neighbour that is liked": "b",
    "a neighbour that is not liked": "a",
    "spread over zones": "c",
    "spread if possible": "c",
    "a device": "b",
}


def decided(case: Case) -> Decision:
    others = [
        {**admitted(one), "metadata": {**one["metadata"], "uid": one["metadata"]["name"]}}
        for one in case.others
    ]
    return Scheduling(Picture(case.nodes, others)).decide(admitted(case.pod))


@pytest.mark.parametrize("name", BEST)
def test_the_best_node_is_the_one(name: str) -> None:
    case = next(case_ for case_ in CASES if case_.name == name)
    assert decided(case).node == BEST[name]


def test_a_refusal_counts_reasons() -> None:
    case = next(case_ for case_ in CASES if case_.name == "several reasons at once")
    assert decided(case).message == (
        "0/5 nodes are available: 1 Insufficient cpu, 1 Insufficient memory,"
        " 1 node(s) didn't match Pod's node affinity/selector,"
        " 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable."
    )
