"""NVIDIA GPUs: pods can ask for them, in the way that works on the cluster's Talos."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.nvidia.machines import check, gpu_nodes
from stockman.catalog.nvidia.plugin import plugin_sheets
from stockman.catalog.objects import chart_sheets

_OPERATOR_SINCE = (1, 13)
_TRIAL = "stockman-gpu-trial"


def _apps(scene: ComponentContext) -> Iterator[App]:
    if _by_operator(scene):
        sheets: tuple[Sheet, ...] = chart_sheets(scene, _operator())
    else:
        sheets = plugin_sheets(scene, gpu_nodes(scene))
    yield App(name="nvidia", namespace=scene.namespace, sheets=sheets)


def _by_operator(scene: ComponentContext) -> bool:
    return scene.cluster.talos.version.line >= _OPERATOR_SINCE


def _operator() -> Object:
    return {
        # Driver and toolkit are extensions of Talos.
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "hostPaths": {"driverInstallDir": "/usr/local"},
    }


def _smoke_test(**more: object) -> SmokeTest:
    container: Object = {
        "name": "list",
        "image": "nvcr.io/nvidia/cuda:12.9.1-base-ubuntu24.04",
        "command": ["nvidia-smi", "--list-gpus"],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": _TRIAL, "namespace": "default"},
        "spec": {"restartPolicy": "Never", **more, "containers": [container]},
    }
    return SmokeTest(
        says="a pod with a GPU runs",
        objects=(pod,),
        until=(
            Condition(
                kind="v1 Pod",
                name=_TRIAL,
                expr="object.status.phase == 'Succeeded'",
                says="the pod saw its GPU",
                namespace="default",
            ),
        ),
        seconds=600,
    )


COMPONENT = Component(
    name="nvidia",
    about="Pods can ask for NVIDIA GPUs.",
    phase=Phase.PLATFORM,
    apps=_apps,
    check=check,
    ready=(
        Condition(
            kind="v1 Node",
            name="",
            expr="!('nvidia.com/gpu' in object.status.capacity)"
            " || int(object.status.allocatable['nvidia.com/gpu']) >= 1",
            says="nodes with a GPU offer it",
        ),
    ),
    trial=_smoke_test(),
    trial_of=lambda scene: (
        _smoke_test() if _by_operator(scene) else _smoke_test(runtimeClassName="nvidia")
    ),
    alerts=(
        Alert(
            name="GpuGone",
            expr='kube_node_status_capacity{resource="nvidia_com_gpu"} > 0'
            ' and kube_node_status_allocatable{resource="nvidia_com_gpu"} == 0',
            holds="10m",
            severity="warning",
            summary="The node {{ $labels.node }} has a GPU that pods cannot use.",
            metrics=("kube_node_status_capacity", "kube_node_status_allocatable"),
        ),
    ),
    troubles=(
        KnownProblem(
            shows="no node offers nvidia.com/gpu",
            because="the schematic lacks the driver or the toolkit, or they are of two branches",
            fix="give the node both extensions of one branch, such as -production",
        ),
        KnownProblem(
            shows="the machine does not start after a file under /var/cri was configured",
            because="Talos never reads that directory, and refuses files outside of /var",
            fix="remove the file: the toolkit extension configures containerd itself",
        ),
    ),
)
