"""NVIDIA GPUs for pods, in the way that the Talos version supports."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.objects import artifact_sheets, chart_sheets, merge_values
from stockman.model.desired import Node
from stockman.model.pattern import pattern
from stockman.model.problem import Problems

_OPERATOR_SINCE = (1, 13)
_TEST_NAME = "stockman-gpu-test"
_PLUGIN = "nvidia-device-plugin"
_RUNTIME: Object = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "nvidia"},
    "handler": "nvidia",
}
_DRIVERS = pattern(r"siderolabs/(nvidia-open-gpu-kernel-modules|nonfree-kmod-nvidia)-(\w+)")
_TOOLKIT = pattern(r"siderolabs/nvidia-container-toolkit-(\w+)")


def _apps(context: ComponentContext) -> Iterator[App]:
    if _by_operator(context):
        sheets: tuple[Sheet, ...] = chart_sheets(context, _operator())
    else:
        sheets = _plugin_sheets(context, _gpu_nodes(context))
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


def _plugin_sheets(context: ComponentContext, nodes: tuple[str, ...]) -> tuple[Sheet, ...]:
    """Return the files of the device plugin, for nodes with a GPU, before Talos 1.13."""
    source = context.facts.artifacts[_PLUGIN]
    values: Object = {"runtimeClassName": "nvidia"}
    if nodes:
        values["affinity"] = _gpu_nodes_only(nodes)
    values = merge_values(values, context.options.values)
    return (
        *artifact_sheets(_PLUGIN, _PLUGIN, source, values),
        Sheet(name="runtimeclass.yaml", objects=(_RUNTIME,)),
    )


def _gpu_nodes_only(nodes: tuple[str, ...]) -> Object:
    """Replaces the chart's node affinity, which needs labels that do not exist here."""
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": sorted(nodes)}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [expression]}]
            }
        }
    }


def _gpu_nodes(context: ComponentContext) -> tuple[str, ...]:
    """Return the nodes whose image contains a driver."""
    return tuple(node.name for node in context.desired.nodes if _branches(node)[0])


def _check(context: ComponentContext, problems: Problems) -> None:
    """Report images with an incomplete set of extensions, and clusters without GPUs."""
    for node in context.desired.nodes:
        drivers, toolkits = _branches(node)
        if drivers != toolkits:
            problems.error(
                "nvidia.extensions",
                f"the image of {node.name} has a driver without its toolkit, or a toolkit "
                "without its driver",
                why=f"driver: {_join_names(drivers)}; toolkit: {_join_names(toolkits)}; both "
                "must be of one branch",
                fix="add both extensions with the same suffix to the node",
                at=node.schematic.where("extensions"),
            )
    named = any(node.schematic.id is not None for node in context.desired.nodes)
    if not _gpu_nodes(context) and not named:
        problems.error(
            "nvidia.no-driver",
            "nvidia is enabled, but no node has a driver",
            why="drivers are Talos extensions, and no node's image contains one",
            fix="add siderolabs/nvidia-open-gpu-kernel-modules-production and"
            " siderolabs/nvidia-container-toolkit-production to the extensions of the nodes",
            at=context.options.where("enabled"),
        )


def _branches(node: Node) -> tuple[set[str], set[str]]:
    drivers, toolkits = set(), set()
    for extension in node.schematic.extensions:
        driver, toolkit = _DRIVERS.fullmatch(extension), _TOOLKIT.fullmatch(extension)
        if driver is not None:
            drivers.add(driver[2])
        if toolkit is not None:
            toolkits.add(toolkit[1])
    return drivers, toolkits


def _join_names(branches: set[str]) -> str:
    return ", ".join(sorted(branches)) or "none"


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
    check=_check,
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
