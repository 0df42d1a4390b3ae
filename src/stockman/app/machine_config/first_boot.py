"""Files that a node reads at its first boot, and how Proxmox VE can provide them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from stockman.app.workspace.private_files import write_private
from stockman.app.workspace.validation import load_desired
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.errors import NotFound
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.vm.desired import needs_labels
from stockman.ports.system import Clock, Entropy
from stockman.talos.nocloud.native_keys import FirstBootData, NativeKeys, choose_delivery
from stockman.talos.nocloud.network import UnsupportedSetting, build_node_network
from stockman.talos.nocloud.seed import (
    NetworkConfigVersion,
    NocloudSeed,
    choose_version,
    meta_data,
    network_config,
    unsupported_settings,
)

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
