"""Clusters that wait for a cloud, as an operator brings them up."""

from ipaddress import IPv4Network

from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster

from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.patch import Patch

NETWORK = IPv4Network("127.67.0.0/16")


def test_the_cloud_controller_says_where_machines_are() -> None:
    world = preset_world(PresetOptions("single", NETWORK))
    text = "cluster: {externalCloudProvider: {enabled: true}}\n"
    patches = PatchSet(all=(Patch(label="cloud", file="cloud.yaml", text=text),))
    stage_cluster(world, Staging(preset="single", network=NETWORK, patches=patches, flux=True))

    first = next(iter(world.talos.machines))
    cluster = world.kubernetes.cluster_of(first)
    assert cluster is not None
    (node,) = cluster.controllers.objects.listed("nodes")
    assert node["spec"]["providerID"] == f"proxmox://single/{first.state.vmid}"
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "pve"
    assert "taints" not in node["spec"]
