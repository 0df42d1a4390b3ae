"""What a node boots: its image, and the files that it reads at its first boot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from stockman.app.workspace.private_files import write_private
from stockman.app.workspace.validation import load_desired
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.vm.desired import needs_labels
from stockman.ports.system import Clock, Entropy
from stockman.talos.nocloud.network import UnsupportedSetting, build_node_network
from stockman.talos.nocloud.seed import (
    FirstBootData,
    NativeKeys,
    NetworkConfigVersion,
    NocloudSeed,
    choose_delivery,
    choose_version,
    meta_data,
    network_config,
    unsupported_settings,
)
from stockman.talos.schematic import FactoryImage, canonical_text, desired_schematic, node_image

ConfigurationReader = Callable[[str], Secret]
"""Returns the machine configuration of a node by name."""


@record
class FirstBootOptions:
    """How a node gets its files."""

    form: NetworkConfigVersion | None = None
    """Version of network-config. None: the most expressive one."""
    snippet: str = ""
    """Volume with the machine configuration. Empty: none."""
    first_boot: bool = False
    """Whether the node reads its configuration at first boot."""


@record
class FirstBoot:
    """The files of one node, and VM keys with the same meaning if they suffice."""

    node: str
    meta_data: str
    network_config: str
    user_data: Secret
    """The machine configuration."""
    delivery: Literal["keys", "image"]
    """Whether VM keys suffice or an image is needed."""
    keys: dict[str, str]
    """Empty: they do not suffice."""
    unsupported_by_keys: tuple[UnsupportedSetting, ...]
    """Settings that the keys cannot express."""
    unsupported: tuple[UnsupportedSetting, ...]
    """Settings that network-config cannot express."""


def first_boot_files(
    directory: Path, name: str, options: FirstBootOptions, text: ConfigurationReader | None
) -> FirstBoot:
    """Return the files of a node. Without `text`, its configuration is not opened."""
    desired = load_desired(directory)
    cluster, node = _find_node(desired, name)
    network = build_node_network(cluster, node)
    form = options.form or choose_version(network)
    delivery = FirstBootData(
        first_boot=options.first_boot, snippet=options.snippet, labels=needs_labels(desired)
    )
    native = choose_delivery(node, network, delivery)
    suffices = isinstance(native, NativeKeys)
    return FirstBoot(
        node=name,
        meta_data=meta_data(node),
        network_config=network_config(network, form),
        user_data=Secret("") if text is None else text(name),
        delivery="keys" if suffices else "image",
        keys=native.keys if isinstance(native, NativeKeys) else {},
        unsupported_by_keys=native.later if isinstance(native, NativeKeys) else native.settings,
        unsupported=unsupported_settings(network, form),
    )


def write_image(path: Path, first_boot: FirstBoot, clock: Clock, entropy: Entropy) -> int:
    """Write the ISO image of a node's files; return its size in bytes."""
    seed = NocloudSeed(
        user_data=first_boot.user_data,
        meta_data=first_boot.meta_data,
        network_config=first_boot.network_config,
    )
    content = seed.image(clock.now())
    write_private(path, content, entropy)
    return len(content)


def _find_node(desired: Desired, name: str) -> tuple[Cluster, Node]:
    for node in desired.nodes:
        if node.name == name and desired.cluster is not None:
            return desired.cluster, node
    from stockman.config.nearest import nearest_name

    known = [str(node.name) for node in desired.nodes]
    near = nearest_name(name, known)
    raise NotFound(
        Problem(
            code="config.no-such-node",
            what=f"there is no node {name}",
            why=f"the nodes are {', '.join(known) or 'none'}",
            fix=f"try {near}" if near else "name a node",
        )
    )


def machine_text(directory: Path, environment: Mapping[str, str], name: str) -> Secret:
    """Return the configuration of one node with all patches and secrets."""
    from stockman.app.machine_config.machines import load_machines
    from stockman.talos.machine.assembly import trees_text

    machines = load_machines(directory, environment)
    documents = machines.documents(machines.find(name), show_secrets=True)
    return Secret(trees_text(documents))


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
