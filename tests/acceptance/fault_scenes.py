"""Clusters in which something is about to be done, as faults find them."""

from __future__ import annotations

from pathlib import Path

from stockman_lab.servers.kube_port import memory_kubernetes

from stockman.app.runs.plans import PlanOptions
from stockman.app.runs.workspace import RunWorkspace
from stockman.kubernetes.objects import DEPLOYMENTS
from stockman.steps.ports import Ports
from tests.acceptance.files import NOW, Moment
from tests.acceptance.loop import in_world
from tests.acceptance.reference import reference, scale_up_reference
from tests.acceptance.scene import WORKER, Scene
from tests.engine.simulated import Dice

VMS = PlanOptions(until="vms", push=True)
_ALMOST_A_YEAR = 360 * 86400.0
"""Seconds."""


def bootstrap(root: Path) -> Scene:
    """Nothing but hosts."""
    return Scene.made(root)


def one_more(root: Path) -> Scene:
    """A cluster that works, and one more worker is wanted."""
    scene = reference().scene(root)
    scene.files.append("nodes.yaml", WORKER)
    return scene


def one_less(root: Path) -> Scene:
    """A cluster with five nodes, and one worker is wanted no more."""
    scene = scale_up_reference().scene(root)
    scene.files.edit("nodes.yaml", WORKER, "")
    return scene


def one_less_busy(root: Path) -> Scene:
    """The same, and pods run on that worker."""
    scene = one_less(root)
    cluster = scene.world.kubernetes.cluster_of(next(iter(scene.world.talos.machines)))
    assert cluster is not None
    pod = {
        "nodeSelector": {"kubernetes.io/hostname": "talos-tank"},
        "containers": [{"name": "web", "image": "example.org/web:1"}],
    }
    web = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod},
        },
    }
    create = memory_kubernetes(cluster.api).create(DEPLOYMENTS, web)
    in_world(scene.world, create)
    scene.world.advance(120.0)
    return scene


def another_number(root: Path) -> Scene:
    """A worker whose VM is made anew under another number."""
    scene = scale_up_reference().scene(root)
    scene.files.edit("nodes.yaml", "vmid: 1033", "vmid: 1035")
    return scene


def another_controller(root: Path) -> Scene:
    """A controller whose VM is made anew under another number."""
    scene = scale_up_reference().scene(root)
    scene.files.edit("nodes.yaml", "vmid: 1034", "vmid: 1036")
    return scene


def another_size(root: Path) -> Scene:
    """A worker whose VM has to be switched off and on to become smaller."""
    scene = scale_up_reference().scene(root)
    scene.files.edit("nodes.yaml", "vmid: 1033, host: neo", "vmid: 1033, host: neo, cores: 6")
    return scene


def another_boot(root: Path) -> Scene:
    """A cluster with one worker, which has to boot for another configuration."""
    scene = scale_up_reference().scene(root)
    folder = scene.files.directory / "templates" / "config" / "talos" / "patches" / "worker"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "more.yaml").write_text("machine:\n  env:\n    GRPC_GO_LOG_SEVERITY_LEVEL: info\n")
    return scene


def worn_files(root: Path) -> Scene:
    """A cluster that works, whose talosconfig and kubeconfig were made almost a year ago."""
    scene = reference().scene(root)
    clock = Moment(NOW - _ALMOST_A_YEAR)
    workspace = RunWorkspace(scene.files.directory, {}, clock, Dice("worn"))
    ports = Ports(clock=clock, entropy=Dice("worn"), secrets=workspace.secrets())
    for action in workspace.client_files():
        (scene.files.directory / action.place.place.partition(":")[2]).unlink()
        in_world(scene.world, action.run(ports))
    return scene
