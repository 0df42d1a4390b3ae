"""Schematics of the images that nodes boot from, computed offline."""

from __future__ import annotations

from pathlib import Path

from stockman.app.workspace.validation import load_desired
from stockman.model.desired import Desired, Node
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.talos.schematic import FactoryImage, canonical_text, desired_schematic, node_image


@record
class NodesImage:
    """One image and the nodes that boot from it."""

    schematic: str
    """ID of the schematic."""
    nodes: tuple[str, ...]
    classes: tuple[str, ...]
    """Classes of these nodes, each once."""
    platform: str
    secureboot: bool
    installer: str
    """Reference of the installer image."""
    image_url: str
    """URL of the disk image."""
    text: str
    """The schematic for the Image Factory. Empty: only its ID is known."""


@record
class ImageList:
    """Images in the order of nodes, and warnings."""

    images: tuple[NodesImage, ...]
    warnings: tuple[Problem, ...]


def list_images(directory: Path, name: str | None = None) -> ImageList:
    """Return every image of the configuration, or that of one class or node."""
    desired = load_desired(directory)
    chosen = [node for node in desired.nodes if name in (None, node.name, node.node_class)]
    if name is not None and not chosen:
        raise NotFound(_no_such(name, desired))
    problems = Problems()
    groups: dict[tuple[str, str], list[tuple[Node, FactoryImage]]] = {}
    for node in chosen:
        image = _image(desired, node, problems)
        groups.setdefault((image.installer, _text(node)), []).append((node, image))
    images = tuple(_group_nodes(members) for members in groups.values())
    return ImageList(images=images, warnings=problems.warnings)


def _image(desired: Desired, node: Node, problems: Problems) -> FactoryImage:
    cluster = desired.cluster
    image = node_image(node, cluster.talos, problems) if cluster is not None else None
    for problem in problems.errors:
        raise Refused(problem)
    if image is None:
        raise ValueError(f"no image for {node.name}, and no reason")
    return image


def _text(node: Node) -> str:
    contents = desired_schematic(node.schematic, Problems())
    return "" if contents is None else canonical_text(contents)


def _group_nodes(members: list[tuple[Node, FactoryImage]]) -> NodesImage:
    first, image = members[0]
    classes = [str(node.node_class) for node, _ in members if node.node_class is not None]
    return NodesImage(
        schematic=image.schematic,
        nodes=tuple(str(node.name) for node, _ in members),
        classes=tuple(dict.fromkeys(classes)),
        platform=image.platform,
        secureboot=image.secureboot,
        installer=image.installer,
        image_url=image.url("raw.xz"),
        text=_text(first),
    )


def _no_such(name: str, desired: Desired) -> Problem:
    from stockman.config.nearest import nearest_name

    known = [str(node.name) for node in desired.nodes]
    known += [str(node.node_class) for node in desired.nodes if node.node_class is not None]
    near = nearest_name(name, dict.fromkeys(known))
    return Problem(
        code="config.no-such-node",
        what=f"there is no node and no class {name}",
        why=f"the nodes are {', '.join(str(node.name) for node in desired.nodes) or 'none'}",
        fix=f"try {near}" if near else "name a node, or a class that a node has",
    )
