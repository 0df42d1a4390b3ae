"""The image that a node of the desired state boots from."""

from __future__ import annotations

from stockman.model.desired import Node, Talos
from stockman.model.problem import Problems
from stockman.talos.images import Architecture, Image
from stockman.talos.schematic_reader import check_extensions, image_schematic, wanted_id


def node_image(
    node: Node, talos: Talos, problems: Problems, *, architecture: Architecture = "amd64"
) -> Image | None:
    """Schematic, platform and version of a node's image. None: the problems say why.

    Extensions that the version does not have are reported; an id of the Image Factory hides them.
    """
    wish = node.schematic
    contents = image_schematic(wish, problems)
    if contents is not None:
        origin = wish.where("extensions") or wish.where("written")
        check_extensions(contents.extensions, talos.version, problems, origin)
    schematic = wanted_id(wish, problems)
    if schematic is None:
        return None
    return Image(
        factory_url=talos.factory_url,
        schematic=schematic,
        version=talos.version,
        platform=talos.platform,
        secureboot=node.secureboot,
        architecture=architecture,
    )
