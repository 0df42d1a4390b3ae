"""What belongs to somebody goes with them, before them, or stays alone."""

from __future__ import annotations

import pytest

from lab.tests.kube.controllers.playing import APPS, CORE, Played, played, workload


def deployed() -> Played:
    lab = played()
    lab.ask("POST", f"{APPS}/deployments", workload(replicas=1))
    return lab


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_pods_go_with_their_deployment(policy: str) -> None:
    lab = deployed()

    lab.ask("DELETE", f"{APPS}/deployments/wool", {"propagationPolicy": policy})

    assert lab.items(f"{APPS}/deployments") == []
    assert lab.items(f"{APPS}/replicasets") == []
    assert lab.items(f"{CORE}/pods") == []


def test_an_owner_waits_for_what_blocks_it() -> None:
    lab = deployed()
    name = lab.names(f"{CORE}/pods")[0]
    lab.patch(f"{CORE}/pods/{name}", {"metadata": {"finalizers": ["example.org/wool"]}})

    lab.ask("DELETE", f"{APPS}/deployments/wool", {"propagationPolicy": "Foreground"})
    assert lab.names(f"{APPS}/deployments") == ["wool"]
    lab.patch(f"{CORE}/pods/{name}", {"metadata": {"finalizers": None}})

    assert lab.items(f"{APPS}/deployments") == []


def test_orphans_stay_and_name_no_owner() -> None:
    lab = deployed()

    lab.ask("DELETE", f"{APPS}/deployments/wool", {"propagationPolicy": "Orphan"})

    assert lab.items(f"{APPS}/deployments") == []
    assert "ownerReferences" not in lab.items(f"{APPS}/replicasets")[0]["metadata"]
    assert len(lab.items(f"{CORE}/pods")) == 1


def test_what_names_an_owner_that_never_was_goes() -> None:
    lab = played()
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}

    body = {"metadata": {"name": "left", "ownerReferences": [owner]}}
    lab.ask("POST", f"{CORE}/configmaps", body)

    assert "left" not in lab.names(f"{CORE}/configmaps")


def test_one_of_two_owners_is_enough_to_stay() -> None:
    lab = played()
    kept = lab.ask("POST", f"{CORE}/configmaps", {"metadata": {"name": "kept"}})
    owners = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "kept", "uid": kept["metadata"]["uid"]},
    ]

    lab.ask("POST", f"{CORE}/configmaps", {"metadata": {"name": "left", "ownerReferences": owners}})

    references = lab.get(f"{CORE}/configmaps/left")["metadata"]["ownerReferences"]
    assert [reference["name"] for reference in references] == ["kept"]
