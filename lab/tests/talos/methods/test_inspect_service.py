"""Controllers and what they read and write."""

from __future__ import annotations

import pytest

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged

METHOD = "inspect.InspectService/ControllerRuntimeDependencies"
WRITES_ALONE, READS = 0, 2


@pytest.mark.parametrize("version", ["1.11.5", "1.12.1", "1.13.9", "1.14.1"])
def test_controllers_are_told_with_their_resources(version: str) -> None:
    world = staged("single", version)
    edges = Asking(world, machine(world)).call(METHOD).edges
    of_kubelet = {
        (edge.edge_type, edge.resource_namespace, edge.resource_type, edge.resource_id)
        for edge in edges
        if edge.controller_name == "k8s.KubeletSpecController"
    }
    assert (WRITES_ALONE, "", "KubeletSpecs.kubernetes.talos.dev", "") in of_kubelet
    assert (READS, "k8s", "Nodenames.kubernetes.talos.dev", "nodename") in of_kubelet


def test_newer_ones_have_more_of_them() -> None:
    counts = []
    for version in ("1.11.5", "1.12.1", "1.13.9", "1.14.1"):
        world = staged("single", version)
        edges = Asking(world, machine(world)).call(METHOD).edges
        counts.append(len({edge.controller_name for edge in edges}))
    assert counts == sorted(set(counts))
    assert counts[0] > 150
