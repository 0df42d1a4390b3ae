"""Cloud controllers: one owner of a node's identity, and nothing that keeps them from starting."""

from __future__ import annotations

from typing import Any

import pytest

from stockman.catalog.registry import components
from stockman.model.component import find_component_facts as known_component
from tests.catalog.estates import rendered
from tests.catalog.looking import values

TALOS: dict[str, object] = {"talos-ccm": {"enabled": True}}
PROXMOX: dict[str, object] = {"proxmox-ccm": {"enabled": True, "token_secret": "file:ccm.txt"}}


@pytest.mark.parametrize("wanted", [TALOS, PROXMOX, TALOS | PROXMOX])
def test_exactly_one_controller_gives_nodes_their_identity(wanted: dict[str, object]) -> None:
    repository = rendered({"components": wanted})

    owners = [name for name in wanted if "cloud-node" in _controllers(repository, name)]

    assert len(owners) == 1


def test_only_talos_approves_certificates_of_kubelets() -> None:
    repository = rendered({"components": TALOS | PROXMOX})

    assert _controllers(repository, "talos-ccm") == ["node-csr-approval"]
    assert _controllers(repository, "proxmox-ccm") == ["cloud-node", "cloud-node-lifecycle"]


def test_the_tolerations_of_the_charts_stay_as_they_are() -> None:
    repository = rendered({"components": TALOS | PROXMOX})

    assert "tolerations" not in values(repository, "talos-ccm")
    assert "tolerations" not in values(repository, "proxmox-ccm")


def test_each_chart_becomes_a_daemon_set_by_its_own_key() -> None:
    repository = rendered({"components": TALOS | PROXMOX})

    assert values(repository, "talos-ccm")["daemonSet"] == {"enabled": True}
    assert "useDaemonSet" not in values(repository, "talos-ccm")
    assert values(repository, "proxmox-ccm")["useDaemonSet"] is True


@pytest.mark.parametrize("wanted", [{}, TALOS, PROXMOX])
def test_names_resolve_on_a_node_that_waits_for_its_identity(wanted: dict[str, object]) -> None:
    tolerated = values(rendered({"components": wanted}), "coredns")["tolerations"]

    new = [item for item in tolerated if item["key"].endswith("/uninitialized")]

    assert len(new) == (1 if wanted else 0)


def test_metrics_server_checks_certificates_where_somebody_approves_them() -> None:
    insecure = "--kubelet-insecure-tls"

    assert insecure in values(rendered(), "metrics-server")["args"]
    assert insecure not in values(rendered({"components": TALOS}), "metrics-server")["args"]


def test_roles_at_talos_are_the_same_in_the_facts_and_in_the_catalog() -> None:
    for component in components():
        known = known_component(component.name)
        assert known is not None
        assert known.talos_role == (component.talos.role if component.talos is not None else "")


def _controllers(repository: Any, name: str) -> list[str]:
    enabled_controllers: list[str] = values(repository, name)["enabledControllers"]
    return enabled_controllers
