"""Kubernetes, Flux and components: what is told of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from stockman_lab.core.faults import Effect, Point

from stockman.assessment.status.findings import Health, StatusCheck
from stockman.assessment.status.node_links import PROXMOX, TALOS
from stockman.assessment.status.observed import ObservedRepository, ObservedRuns, StatusInput
from stockman.assessment.status.status import assess
from stockman.model.problem import Severity
from stockman.planning.kubernetes.desired import FOLLOWED, DesiredKubernetes
from stockman.planning.observed.kubernetes import ObjectOwner, ObservedNode, ObservedObject
from stockman.steps.kubernetes.readiness import ConditionResult, ObjectCondition
from tests.app.status.scene import NEO, NIOBE, TRINITY, Scene, codes, severity

COMMIT = "77aa66bb55cc44dd33ee22ff11aa00bb99cc88dd"
OLD = "3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a"
TAINT = "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule"


def with_kubernetes(seen: StatusInput, **changes: Any) -> StatusInput:
    """The same look, with Kubernetes otherwise."""
    kubernetes = seen.observed.kubernetes
    assert kubernetes is not None
    fresh = replace(kubernetes, **changes)
    return replace(seen, observed=replace(seen.observed, kubernetes=fresh))


def with_nodes(seen: StatusInput, *names: str, **changes: Any) -> StatusInput:
    """The same look, with some nodes of Kubernetes otherwise."""
    nodes = tuple(
        replace(node, **changes) if node.name in names else node for node in seen.nodes.values()
    )
    return with_kubernetes(seen, nodes=nodes)


def of_flux(kind: str, name: str, **more: Any) -> ObservedObject:
    by_name: dict[str, Any] = {"ready": True, "owner": ObjectOwner.FLUX, "uid": name, **more}
    return ObservedObject(kind=kind, namespace="flux-system", name=name, **by_name)


def workload(name: str) -> ObservedObject:
    return ObservedObject(
        kind="DaemonSet",
        namespace="kube-system",
        name=name,
        uid=name,
        owner=ObjectOwner.HELM,
        ready=True,
    )


def test_an_api_that_does_not_answer_is_told_once_and_the_rest_is_unknown(
    simulation: Scene,
) -> None:
    seen = with_kubernetes(simulation.look(), version=None, unknown={"version": "no answer: cut"})

    status = assess(seen, [StatusCheck.KUBERNETES, StatusCheck.FLUX])

    assert [finding.problem.code for finding in status.findings] == ["status.api-silent"]
    assert [section.health for section in status.parts] == [Health.ERROR, Health.ERROR]
    assert not assess(seen, [StatusCheck.FLUX]).healthy


def test_a_kubelet_that_says_no_is_told(simulation: Scene) -> None:
    simulation.fault(Point.NODE, Effect.FAIL, machine=NEO)
    simulation.world.advance(120.0)

    assert simulation.codes(StatusCheck.TALOS, StatusCheck.KUBERNETES) == {
        "status.node-not-ready": [NEO]
    }


def test_a_node_that_kubernetes_does_not_know_is_told(simulation: Scene) -> None:
    seen = simulation.look()
    without = tuple(node for node in seen.nodes.values() if node.name != NEO)

    status = assess(with_kubernetes(seen, nodes=without), [StatusCheck.KUBERNETES])

    assert codes(status.parts) == {"status.node-missing": [NEO]}


def test_no_nodes_at_all_are_no_success(simulation: Scene) -> None:
    status = assess(with_kubernetes(simulation.look(), nodes=()), [StatusCheck.KUBERNETES])

    assert codes(status.parts) == {"status.node-missing": [TRINITY, NEO, NIOBE]}
    assert not status.healthy


def test_nodes_that_could_not_be_listed_are_unknown(simulation: Scene) -> None:
    seen = with_kubernetes(simulation.look(), nodes=None, unknown={"nodes": "no answer: cut"})

    status = assess(seen, [StatusCheck.KUBERNETES])

    assert status.parts[0].health is Health.UNKNOWN
    assert status.findings[0].problem.why == "no answer: cut"
    assert not status.healthy


def test_a_cordon_that_no_run_holds_is_told_and_one_that_a_run_holds_is_not(
    simulation: Scene,
) -> None:
    seen = with_nodes(simulation.look(), NEO, unschedulable=True)
    held = replace(seen, runs=ObservedRuns(cordoned=frozenset({NEO})))

    assert codes(assess(seen, [StatusCheck.KUBERNETES]).parts) == {"status.node-cordoned": [NEO]}
    assert codes(assess(held, [StatusCheck.KUBERNETES]).parts) == {}


def test_a_node_that_runs_out_of_disk_is_told(simulation: Scene) -> None:
    seen = with_nodes(simulation.look(), NEO, pressures=("DiskPressure",))

    assert codes(assess(seen, [StatusCheck.KUBERNETES]).parts) == {"status.node-pressure": [NEO]}


def test_a_taint_that_nobody_takes_away_names_the_controller_to_look_at(simulation: Scene) -> None:
    seen = simulation.look()
    born = seen.at - timedelta(minutes=12)
    seen = with_nodes(seen, NEO, taints=(TAINT,), created=born)
    served = with_kubernetes(seen, workloads=(workload(PROXMOX),))

    nobody = assess(seen, [StatusCheck.KUBERNETES])
    status = assess(served, [StatusCheck.KUBERNETES])

    assert codes(nobody.parts) == {"status.no-cloud-controller": [NEO]}
    assert codes(status.parts) == {"status.uninitialized": [NEO]}
    assert "since 12 minutes" in status.findings[0].problem.why
    assert f"logs ds/{PROXMOX}" in status.findings[0].problem.fix


@pytest.mark.parametrize(
    ("labels", "wrong"),
    [
        ({"region": "pve", "zone": "neo"}, []),
        ({"region": "elsewhere", "zone": "neo"}, ["status.topology"]),
        ({"region": "pve", "zone": "trinity"}, ["status.topology"]),
        ({"region": "", "zone": ""}, []),
    ],
)
def test_a_wrong_region_or_zone_is_told(
    simulation: Scene, labels: dict[str, str], wrong: list[str]
) -> None:
    status = assess(with_nodes(simulation.look(), NEO, **labels), [StatusCheck.KUBERNETES])

    assert list(codes(status.parts)) == wrong


def test_labels_that_a_cloud_controller_should_have_set_are_missed(simulation: Scene) -> None:
    seen = replace(
        with_nodes(simulation.look(), NEO, region="", zone=""), components={"talos-ccm": True}
    )

    status = assess(seen, [StatusCheck.KUBERNETES])

    whats = [finding.problem.what for finding in status.findings if finding.subject == NEO]
    assert whats == [f"the node {NEO} has no region", f"the node {NEO} has no zone"]


def test_a_node_with_the_identity_of_another_vm_is_told(simulation: Scene) -> None:
    seen = with_nodes(simulation.look(), NEO, provider_id="proxmox://pve/9999")

    status = assess(seen, [StatusCheck.KUBERNETES])

    assert codes(status.parts) == {"status.provider-id": [NEO]}
    assert "proxmox://pve/1031" in status.findings[0].problem.why


def test_identities_of_different_kinds_show_that_two_controllers_fight(simulation: Scene) -> None:
    seen = with_nodes(simulation.look(), NEO, provider_id="talos://talos-neo")

    found = codes(assess(seen, [StatusCheck.KUBERNETES]).parts)

    assert found == {
        "status.provider-id": [NEO],
        "status.cloud-controllers": ["cloud controllers"],
    }


def test_two_controllers_that_write_to_one_node_fight(simulation: Scene) -> None:
    seen = with_nodes(simulation.look(), NEO, managers=("kubelet", TALOS, PROXMOX))

    found = codes(assess(seen, [StatusCheck.KUBERNETES]).parts)

    assert found == {"status.cloud-controllers": ["cloud controllers"]}


@pytest.mark.parametrize(("has_talos_ccm", "fights"), [(True, False), (False, True)])
def test_a_controller_beside_the_wanted_one_fights(
    simulation: Scene, has_talos_ccm: bool, fights: bool
) -> None:
    seen = with_kubernetes(simulation.look(), workloads=(workload(PROXMOX), workload(TALOS)))
    labelled = with_nodes(seen, TRINITY, region="pve", zone="trinity")
    for name, zone in ((NEO, "neo"), (NIOBE, "niobe")):
        labelled = with_nodes(labelled, name, region="pve", zone=zone)
    seen = replace(labelled, components={"proxmox-ccm": True, "talos-ccm": has_talos_ccm})

    found = codes(assess(seen, [StatusCheck.KUBERNETES]).parts)

    assert ("status.cloud-controllers" in found) is fights


def test_nodes_of_others_are_told_and_no_failure(simulation: Scene) -> None:
    seen = simulation.look()
    observed_node = ObservedNode(
        name="karpenter-1",
        uid="1",
        is_ready=False,
        unschedulable=False,
        is_controller=False,
        kubelet="v1.34.1",
        system="",
        provider_id="",
        region="",
        zone="",
        addresses=(),
        taints=(),
        boot_id="",
        machine_id="",
        why="it boots",
    )

    status = assess(
        with_kubernetes(seen, nodes=(*seen.nodes.values(), observed_node)), [StatusCheck.KUBERNETES]
    )

    assert codes(status.parts) == {"status.node-not-ready": ["karpenter-1"]}
    assert severity(status, "status.node-not-ready") is Severity.WARNING
    assert status.healthy


def test_a_cluster_without_flux_does_not_follow_anything(simulation: Scene) -> None:
    status = assess(with_kubernetes(simulation.look(), flux=()), [StatusCheck.FLUX])

    assert codes(status.parts) == {"status.flux-missing": ["Flux"]}


def test_what_flux_says_is_told_and_what_waits_for_it_is_a_warning(simulation: Scene) -> None:
    broken = of_flux("Kustomization", "apps", ready=False, seen="path not found")
    waits = of_flux(
        "Kustomization", "more", ready=False, seen="dependency 'flux-system/apps' is not ready"
    )
    paused = of_flux("HelmRelease", "cilium", suspended=True)
    static = of_flux("HelmRepository", "charts", ready=None)

    status = assess(
        with_kubernetes(simulation.look(), flux=(broken, waits, paused, static)), [StatusCheck.FLUX]
    )

    rows = [
        (finding.problem.code, finding.subject, finding.problem.is_error)
        for finding in status.findings
    ]
    assert rows == [
        ("status.flux-not-ready", "Kustomization flux-system/apps", True),
        ("status.flux-not-ready", "Kustomization flux-system/more", False),
        ("status.flux-suspended", "HelmRelease flux-system/cilium", False),
    ]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("GitRepository", "source git"),
        ("OCIRepository", "source oci"),
        ("HelmRepository", "source helm"),
        ("Kustomization", "kustomization"),
        ("HelmRelease", "helmrelease"),
    ],
)
def test_what_is_suspended_is_resumed_by_the_words_that_flux_knows(
    simulation: Scene, kind: str, text: str
) -> None:
    paused = of_flux(kind, "one", suspended=True)

    status = assess(with_kubernetes(simulation.look(), flux=(paused,)), [StatusCheck.FLUX])

    assert [finding.problem.fix for finding in status.findings] == [
        f"`flux resume {text} one -n flux-system` when it is no longer needed"
    ]


def test_an_object_of_flux_that_says_nothing_is_not_ready(simulation: Scene) -> None:
    silent = of_flux("Kustomization", "apps", ready=None)

    status = assess(with_kubernetes(simulation.look(), flux=(silent,)), [StatusCheck.FLUX])

    assert codes(status.parts) == {"status.flux-not-ready": ["Kustomization flux-system/apps"]}


@pytest.mark.parametrize(
    ("repository", "texts"),
    [
        (ObservedRepository(branch="main", local=COMMIT, pushed=COMMIT), []),
        (ObservedRepository(branch="main", local=OLD, pushed=OLD), ["status.repository-behind"]),
        (ObservedRepository(branch="main", local=OLD, pushed=COMMIT), ["status.not-pushed"]),
        (
            ObservedRepository(
                branch="main", local=COMMIT, pushed=COMMIT, uncommitted=("cluster.yaml",)
            ),
            ["status.not-committed"],
        ),
        (ObservedRepository(branch="trial", local=OLD, pushed=OLD), ["status.unknown"]),
        (ObservedRepository(branch="main", local=COMMIT, why="no answer"), ["status.unknown"]),
    ],
)
def test_the_commit_of_the_cluster_is_compared_with_the_pushed_one(
    simulation: Scene, repository: ObservedRepository, texts: list[str]
) -> None:
    source = of_flux("GitRepository", "flux-system", revision=f"main@sha1:{COMMIT}")
    seen = replace(with_kubernetes(simulation.look(), flux=(source,)), repository=repository)

    status = assess(seen, [StatusCheck.FLUX])

    assert list(codes(status.parts)) == texts
    assert status.healthy is ("status.repository-behind" not in texts)


def _wish(**conditions: tuple[ObjectCondition, ...]) -> DesiredKubernetes:
    return DesiredKubernetes(
        branch="main",
        namespaces=(),
        definitions=(),
        secrets=(),
        charts=(),
        followed=(),
        others=conditions,
    )


def test_components_are_judged_by_their_conditions_and_unknown_without(simulation: Scene) -> None:
    ready = ObjectCondition(
        api_version="apps/v1", kind="DaemonSet", name="cilium", expr="", says="cilium is ready"
    )
    wish = _wish(cilium=(ready,), spegel=(ready,), tuppr=(ready,))
    working = {
        FOLLOWED: (),
        "cilium": (ConditionResult(condition=ready, holds=True, seen="3 of 3 ready"),),
        "spegel": (ConditionResult(condition=ready, holds=False, seen="2 of 3 ready"),),
    }
    seen = replace(with_kubernetes(simulation.look(), working=working), desired_kubernetes=wish)

    status = assess(seen, [StatusCheck.COMPONENTS])

    assert codes(status.parts) == {
        "status.component": ["spegel"],
        "status.unknown": ["component tuppr"],
    }
    assert status.parts[0].summary == "1 of 3 work"
    assert {item.name: item.health for item in status.parts[0].items} == {
        "cilium": Health.OK,
        "spegel": Health.ERROR,
        "tuppr": Health.UNKNOWN,
    }
