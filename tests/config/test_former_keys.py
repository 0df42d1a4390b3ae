"""Advice on unknown keys never names a key of another meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.config.classic import CLASSIC_KEYS
from stockman.config.former_keys import advise_on_key
from stockman.config.load import load
from stockman.config.reference.keys import keys_by_path

CLUSTER = (Path(__file__).parent.parent / "valid/classic-cloudflare-off/cluster.yaml").read_text()
NODES = (Path(__file__).parent.parent / "valid/classic-cloudflare-off/nodes.yaml").read_text()


def advice(line: str) -> str:
    loaded = load({"cluster.yaml": f"{CLUSTER}\n{line}\n".encode(), "nodes.yaml": NODES.encode()})
    return next(problem.fix for problem in loaded.problems if problem.code == "config.unknown-key")


@pytest.mark.parametrize(
    ("line", "successor"),
    [
        ("cluster_ingress_addr: 127.66.0.9", "cluster_gateway_addr"),
        ("cloudflare_ingress_addr: 127.66.0.9", "cloudflare_gateway_addr"),
        ("cilium_lb_pool_cidr: 127.66.0.0/28", "loadbalancer_pool"),
        ("tuppr_enabled: true", "engine: tuppr"),
        ("vm_memory: 4096", "memory in `vm:`"),
        ("proxmox_csi_token_id: a@pve!b", "proxmox-csi: {token_id"),
        ("proxmox_csi_token_secret: ${S}", "proxmox-csi: {token_secret"),
        ("cilium_bgp_enabled: true", "cilium_bgp_router_addr"),
        ("backup_s3_region: eu", "region: REGION"),
    ],
)
def test_a_former_key_gets_its_successor(line: str, successor: str) -> None:
    assert successor in advice(line)


@pytest.mark.parametrize(
    "key",
    ["cluster_egress_addr", "node_pod_cidr", "proxmox_cni_storage", "cloudflare_email", "cores"],
)
def test_a_key_of_another_meaning_is_never_suggested(key: str) -> None:
    assert advise_on_key(key, CLASSIC_KEYS).fix == ""


def test_no_known_key_passes_for_a_misspelling_of_another() -> None:
    siblings: dict[str, list[str]] = {}
    for path in keys_by_path():
        parent, _, name = path.rpartition(".")
        siblings.setdefault(parent, []).append(name)
    siblings[""] = list(CLASSIC_KEYS)
    for names in siblings.values():
        for name in names:
            others = [other for other in names if other.rstrip("sd") != name.rstrip("sd")]
            assert advise_on_key(name, others).nearest is None, name


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("node_cdir", "node_cidr"),
        ("nodecidr", "node_cidr"),
        ("cluster-name", "cluster_name"),
        ("cloudflare_domian", "cloudflare_domain"),
        ("repositry_name", "repository_name"),
    ],
)
def test_a_misspelled_key_gets_the_right_one(typed: str, meant: str) -> None:
    assert advise_on_key(typed, CLASSIC_KEYS).fix == f"write {meant}"
