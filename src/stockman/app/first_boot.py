"""What a node reads at its first boot, and how Proxmox can give it that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from stockman.app.private_files import write_private
from stockman.app.show import desired
from stockman.model.desired import Cluster, Desired, Node
from stockman.model.errors import NotFound
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.vm_first_boot import needs_labels
from stockman.ports.clock import Clock
from stockman.ports.entropy import Entropy
from stockman.talos.nocloud.meta_data import meta_data
from stockman.talos.nocloud.native import Delivery, NativeKeys, native_or_iso
from stockman.talos.nocloud.network import Wish
from stockman.talos.nocloud.network_config import Form, network_config, suitable_form, unsaid
from stockman.talos.nocloud.node_network import node_network
from stockman.talos.nocloud.seed import Seed

Text = Callable[[str], Secret]
"""The machine configuration of a node, by its name."""


@record
class Asked:
    """How a node is to be given its files."""

    form: Form | None = None
    """Version of network-config. None: the one that says most."""
    snippet: str = ""
    """Volume with the machine configuration. Empty: none."""
    first_boot: bool = False
    """Whether it reads its configuration at first boot."""


@record
class FirstBoot:
    """The files of one node, and the keys that say the same where they suffice."""

    node: str
    meta_data: str
    network_config: str
    user_data: Secret
    """The machine configuration."""
    way: Literal["keys", "image"]
    """Whether the keys of the VM suffice, or an image is needed."""
    keys: dict[str, str]
    """Empty: they do not suffice."""
    wishes: tuple[Wish, ...]
    """What the keys cannot say."""
    unsaid: tuple[Wish, ...]
    """What network-config cannot say."""


def first_boot(directory: Path, name: str, asked: Asked, text: Text | None) -> FirstBoot:
    """The files of a node. Without `text` its configuration is not opened, and not known."""
    wanted = desired(directory)
    cluster, node = _found(wanted, name)
    network = node_network(cluster, node)
    form = asked.form or suitable_form(network)
    delivery = Delivery(
        first_boot=asked.first_boot, snippet=asked.snippet, labels=needs_labels(wanted)
    )
    native = native_or_iso(node, network, delivery)
    suffices = isinstance(native, NativeKeys)
    return FirstBoot(
        node=name,
        meta_data=meta_data(node),
        network_config=network_config(network, form),
        user_data=Secret("") if text is None else text(name),
        way="keys" if suffices else "image",
        keys=native.keys if isinstance(native, NativeKeys) else {},
        wishes=native.later if isinstance(native, NativeKeys) else native.wishes,
        unsaid=unsaid(network, form),
    )


def write_image(path: Path, made: FirstBoot, clock: Clock, entropy: Entropy) -> int:
    """Write the ISO image of a node's files; gives its size in bytes."""
    seed = Seed(
        user_data=made.user_data,
        meta_data=made.meta_data,
        network_config=made.network_config,
    )
    content = seed.image(clock.now())
    write_private(path, content, entropy)
    return len(content)


def _found(wanted: Desired, name: str) -> tuple[Cluster, Node]:
    for node in wanted.nodes:
        if node.name == name and wanted.cluster is not None:
            return wanted.cluster, node
    from stockman.config.nearest import nearest

    known = [str(node.name) for node in wanted.nodes]
    near = nearest(name, known)
    raise NotFound(
        Problem(
            code="config.no-such-node",
            what=f"there is no node {name}",
            why=f"the nodes are {', '.join(known) or 'none'}",
            fix=f"try {near}" if near else "name a node",
        )
    )
