"""A node offers graphics cards when card, driver and plugin are all there, and not before."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Network
from typing import Any

import pytest
from stockman_lab.kube.clusters.clusters import KubernetesCluster
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_files
from stockman_lab.world.world import World

from lab.tests.kube.nodes.test_talos_nodes import NODES, SYSTEM, ask, cluster_of
from stockman.config.presets import Answers, render_preset
from stockman.talos.schematic import ImageSchematic, canonical_text
from tests.fast_yaml import dump_yaml, load_yaml

NETWORK = IPv4Network("127.67.0.0/16")
CONTROLLER, WORKER = "k8s-ctrl-1", "k8s-work-4"
DRIVER = ("siderolabs/nvidia-open-gpu-kernel-modules-lts", "siderolabs/qemu-guest-agent")
GPU = "nvidia.com/gpu"
PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"


@cache
def _file(*, card: bool, driver: bool) -> bytes:
    answers = Answers(talos_version="1.13.9")
    texts = render_preset("fifteen-node", network=NETWORK, answers=answers)
    yaml = load_yaml(texts["nodes.yaml"])
    yaml["nodes"] = [node for node in yaml["nodes"] if node["name"] in (CONTROLLER, WORKER)]
    (worker,) = (node for node in yaml["nodes"] if node["name"] == WORKER)
    if not card:
        del worker["vm"]["pci"]
        del worker["expect"]
    world = preset_world(PresetOptions("fifteen-node", NETWORK))
    schematic = load_yaml(texts["cluster.yaml"])["worker_schematic_id"]
    extensions = DRIVER if driver else DRIVER[1:]
    world.factory.schematics[schematic] = canonical_text(ImageSchematic(extensions=extensions))
    staging = Staging(preset="fifteen-node", network=NETWORK, network_plugin=True)
    stage_files(world, {**texts, "nodes.yaml": dump_yaml(yaml)}, staging)
    return world_file(world.state)


def loaded(*, card: bool = True, driver: bool = True) -> tuple[World, KubernetesCluster]:
    world = World(read_world(_file(card=card, driver=driver)))
    return world, cluster_of(world)


def bring_plugin(world: World, cluster: KubernetesCluster) -> None:
    spec = {
        "nodeName": WORKER,
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "plugin", "image": PLUGIN}],
    }
    ask(cluster, "POST", SYSTEM, {"metadata": {"name": "plugin"}, "spec": spec})
    world.settle()


def offered(cluster: KubernetesCluster) -> Any:
    return ask(cluster, "GET", f"{NODES}/{WORKER}")["status"]["allocatable"].get(GPU)


def test_all_three_make_a_card_that_can_be_had() -> None:
    world, cluster = loaded()
    assert offered(cluster) is None
    bring_plugin(world, cluster)
    assert offered(cluster) == "1"


@pytest.mark.parametrize(("card", "driver"), [(True, False), (False, True)])
def test_without_card_or_driver_a_plugin_offers_nothing(card: bool, driver: bool) -> None:
    world, cluster = loaded(card=card, driver=driver)
    bring_plugin(world, cluster)
    assert offered(cluster) is None


def test_a_plugin_that_goes_leaves_none() -> None:
    world, cluster = loaded()
    bring_plugin(world, cluster)
    ask(cluster, "DELETE", f"{SYSTEM}/plugin")
    world.settle()
    assert offered(cluster) == "0"


def test_a_pod_that_wants_a_card_gets_one_and_the_next_waits() -> None:
    world, cluster = loaded()
    bring_plugin(world, cluster)
    pods = "/api/v1/namespaces/default/pods"
    for name in ("one", "two"):
        container = {"name": "main", "image": "example/a:1", "resources": {"limits": {GPU: "1"}}}
        spec = {"containers": [container], "tolerations": [{"operator": "Exists"}]}
        ask(cluster, "POST", pods, {"metadata": {"name": name}, "spec": spec})
    world.settle()
    result = {item["metadata"]["name"]: item for item in ask(cluster, "GET", pods)["items"]}
    assert result["one"]["status"]["phase"] == "Running"
    assert result["two"]["status"]["phase"] == "Pending"
