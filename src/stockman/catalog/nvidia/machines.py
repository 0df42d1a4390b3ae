"""Find nodes with GPUs in the configuration."""

from __future__ import annotations

import re

from stockman.catalog.component import ComponentContext
from stockman.model.desired import Node
from stockman.model.problem import Problems

_DRIVERS = re.compile(r"siderolabs/(nvidia-open-gpu-kernel-modules|nonfree-kmod-nvidia)-(\w+)")
_TOOLKIT = re.compile(r"siderolabs/nvidia-container-toolkit-(\w+)")


def gpu_nodes(context: ComponentContext) -> tuple[str, ...]:
    """Return the nodes whose image contains a driver."""
    return tuple(node.name for node in context.desired.nodes if _branches(node)[0])


def check(context: ComponentContext, problems: Problems) -> None:
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
    if not gpu_nodes(context) and not named:
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
