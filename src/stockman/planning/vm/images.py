"""Images that machines are created from: names, addresses and contents."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlsplit

from stockman.model.desired import Cluster, Node
from stockman.model.guest import Image as GuestImage
from stockman.model.names import SchematicId
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.talos.schematic import (
    EMPTY,
    FactoryImage,
    canonical_text,
    desired_schematic,
    node_image,
    schematic_id,
)

TALOS_IMAGE = re.compile(r"talos-[0-9a-f]{16}-v[0-9][^/]*\.qcow2")
"""Names of images that stockman downloads for nodes."""
_FORMATS = (".qcow2", ".raw", ".vmdk", ".ova")
_INVALID_CHARACTERS = re.compile(r"[^A-Za-z0-9_.-]+")


@record
class DesiredImage:
    """An image, independent of the storages that need it."""

    name: str
    """Its volume name, derived from its content."""
    url: str
    checksum: str = ""
    """`sha256:...`. Empty: unknown."""
    schematic: SchematicId | None = None
    """None: not from the Image Factory."""
    schematic_text: str = ""
    """The schematic to register with the factory. Empty: already registered, or unknown."""


def find_node_image(cluster: Cluster, node: Node, problems: Problems) -> DesiredImage | None:
    """Return the image of a node. None: a problem is reported."""
    image = node_image(node, cluster.talos, problems)
    if image is None:
        return None
    contents = desired_schematic(node.schematic, problems)
    if contents is None and image.schematic == schematic_id(EMPTY):
        contents = EMPTY
    return DesiredImage(
        name=talos_image_name(image),
        url=image.url("qcow2"),
        schematic=image.schematic,
        schematic_text=canonical_text(contents) if contents is not None else "",
    )


def talos_image_name(image: FactoryImage) -> str:
    """Return the volume name of an image; equal content has an equal name."""
    secured = "-secureboot" if image.secureboot else ""
    kind = f"{image.platform}-{image.architecture}{secured}"
    return f"talos-{image.schematic[:16]}-{image.version.tagged}-{kind}.qcow2"


def find_guest_image(image: GuestImage) -> DesiredImage | None:
    """Return the image of a guest that has to be downloaded. None: it is an existing volume."""
    if image.url is None:
        return None
    source = f"{image.url} {image.checksum or ''}"
    stem, _, ending = urlsplit(image.url).path.rsplit("/", 1)[-1].rpartition(".")
    known = f".{ending}" if f".{ending}" in _FORMATS else ".qcow2"
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    name = f"{_INVALID_CHARACTERS.sub('-', stem or 'image')}-{digest}{known}"
    return DesiredImage(name=name, url=image.url, checksum=image.checksum or "")
