"""The firewall opens what the cluster needs, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from stockman.config.rules.access import OWN_RULES
from tests.talos.machine.clusters import desired, documents, section

LINES = ["1.11", "1.12", "1.13", "1.14"]
ON = "talos: {extensions: [siderolabs/nfsd], firewall: {enabled: true}}\n"


def rules(cluster: str, name: str, line: str = "1.13") -> dict[str, Any]:
    """Sources by rule."""
    config = documents(desired(line, cluster), name)
    return {
        key.split(" ")[1]: [source["subnet"] for source in section(rule, "ingress")]
        for key, rule in config.items()
        if key.startswith("NetworkRuleConfig")
    }


@pytest.mark.parametrize("line", LINES)
def test_everything_is_closed_in_every_contract(line: str) -> None:
    config = documents(desired(line, ON), "work-1")

    assert config["NetworkDefaultActionConfig"]["ingress"] == "block"


@pytest.mark.parametrize("line", LINES)
def test_without_the_key_there_is_no_firewall(line: str) -> None:
    assert "NetworkDefaultActionConfig" not in documents(desired(line), "work-1")


def test_a_worker_opens_what_talos_recommends() -> None:
    assert rules(ON, "work-1") == {
        "apid-ingress": ["127.66.0.0/24", "10.42.0.0/16"],
        "kubelet-ingress": ["127.66.0.0/24", "10.42.0.0/16"],
        "cilium-ingress": ["127.66.0.0/24"],
        "cilium-tunnel-ingress": ["127.66.0.0/24"],
    }


def test_a_controller_opens_both_apis_and_keeps_etcd_to_controllers() -> None:
    config = rules(ON, "cp-1")

    assert config["apid-ingress"] == config["kubernetes-api-ingress"] == ["0.0.0.0/0", "::/0"]
    assert config["trustd-ingress"] == ["127.66.0.0/24"]
    assert config["etcd-ingress"] == ["127.66.0.21/32"]


def test_management_networks_close_the_apis_to_everyone_else() -> None:
    cluster = ON.replace("enabled: true", "enabled: true, management: [127.99.0.0/24]")

    for name in ("cp-1", "work-1"):
        assert rules(cluster, name)["apid-ingress"] == [
            "127.66.0.0/24",
            "10.42.0.0/16",
            "127.99.0.0/24",
        ]
    assert "127.99.0.0/24" in rules(cluster, "cp-1")["kubernetes-api-ingress"]


def test_own_rules_hold_for_their_machines() -> None:
    own = (
        "rules: {a: {ports: [9100, 9200-9210]}, b: {ports: [1], nodes: workers, from: [0.0.0.0/0]}}"
    )
    cluster = ON.replace("enabled: true", f"enabled: true, {own}")

    assert rules(cluster, "work-1")["b"] == ["0.0.0.0/0"]
    assert "b" not in rules(cluster, "cp-1")
    rule = documents(desired("1.13", cluster), "cp-1")["NetworkRuleConfig a"]
    assert rule["portSelector"] == {"ports": [9100, "9200-9210"], "protocol": "tcp"}


def test_names_of_all_rules_are_reserved() -> None:
    cluster = ON.replace("firewall:", "kubespan: true, firewall:")

    assert set(rules(cluster, "cp-1")) == set(OWN_RULES)
