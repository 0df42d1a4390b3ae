"""NVIDIA GPUs for pods, in the way that the Talos version supports."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.nvidia.machines import check, gpu_nodes
from stockman.catalog.nvidia.plugin import plugin_sheets
from stockman.catalog.objects import chart_sheets

_OPERATOR_SINCE = (1, 13)
_TEST_NAME = "stockman-gpu-test"


def _apps(context: ComponentContext) -> Iterator[App]:
    if _by_operator(context):
        sheets: tuple[Sheet, ...] = chart_sheets(context, _operator())
    else:
        sheets = plugin_sheets(context, gpu_nodes(context))
    yield App(name="nvidia", namespace=context.namespace, sheets=sheets)


def _by_operator(context: ComponentContext) -> bool:
    return context.cluster.talos.version.line >= _OPERATOR_SINCE


def _operator() -> Object:
    return {
        # Driver and toolkit are Talos extensions.
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
        "metadata": {"name": _TEST_NAME, "namespace": "default"},
        "spec": {"restartPolicy": "Never", **more, "containers": [container]},
    }
    return SmokeTest(
        says="a pod with a GPU runs",
        objects=(pod,),
        until=(
            Condition(
                kind="v1 Pod",
                name=_TEST_NAME,
                expr="object.status.phase == 'Succeeded'",
                says="the pod can use its GPU",
                namespace="default",
            ),
        ),
        seconds=600,
    )


COMPONENT = Component(
    name="nvidia",
    about="NVIDIA GPUs for pods.",
    phase=Phase.PLATFORM,
    apps=_apps,
    check=check,
    ready=(
        Condition(
            kind="v1 Node",
            name="",
            expr="!('nvidia.com/gpu' in object.status.capacity)"
            " || int(object.status.allocatable['nvidia.com/gpu']) >= 1",
            says="nodes with a GPU advertise it",
        ),
    ),
    smoke_test=_smoke_test(),
    smoke_test_for=lambda context: (
        _smoke_test() if _by_operator(context) else _smoke_test(runtimeClassName="nvidia")
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
    known_problems=(
        KnownProblem(
            symptom="no node advertises nvidia.com/gpu",
            cause="the schematic lacks the driver or the toolkit, or their branches differ",
            fix="add both extensions of one branch to the node, such as -production",
        ),
        KnownProblem(
            symptom="the machine does not start after configuring a file in /var/cri",
            cause="Talos never reads that directory, and refuses files outside of /var",
            fix="remove the file: the toolkit extension configures containerd itself",
        ),
    ),
)
