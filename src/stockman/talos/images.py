"""Where images and installers of a schematic are had from."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from stockman.model.desired import Node, Talos
from stockman.model.names import SchematicId
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.version import Version
from stockman.talos.schematic import check_extensions, desired_schematic, desired_schematic_id

Platform = Literal["metal", "nocloud"]
Architecture = Literal["amd64", "arm64"]
ImageForm = Literal["iso", "raw.xz", "raw.zst", "qcow2", "uki.efi"]


@record
class FactoryImage:
    """One image of the Image Factory: a schematic built for a kind of machine."""

    factory_url: str
    schematic: SchematicId
    version: Version
    platform: Platform
    secureboot: bool = False
    architecture: Architecture = "amd64"

    @property
    def _secured(self) -> str:
        return "-secureboot" if self.secureboot else ""

    @property
    def installer(self) -> str:
        """Reference of the installer that makes or upgrades a machine with this image.

        Each platform has its own: with the one of another, a machine loses its network.
        """
        host = urlsplit(self.factory_url).netloc
        name = f"{self.platform}-installer{self._secured}"
        return f"{host}/{name}/{self.schematic}:{self.version.tagged}"

    def url(self, form: ImageForm) -> str:
        """Address of the image as a file."""
        separator = "-" if form == "uki.efi" else "."
        file = f"{self.platform}-{self.architecture}{self._secured}{separator}{form}"
        return f"{self._base}/image/{self.schematic}/{self.version.tagged}/{file}"

    @property
    def pxe_url(self) -> str:
        """Address of the script that starts the image over the network."""
        kind = f"{self.platform}-{self.architecture}{self._secured}"
        return f"{self._base}/pxe/{self.schematic}/{self.version.tagged}/{kind}"

    @property
    def _base(self) -> str:
        return self.factory_url.rstrip("/")


_DIGITS = 8


def template_name(prefix: str, image: FactoryImage) -> str:
    """The name of the VM: another one for every version and schematic, and fit for DNS."""
    secured = "-secureboot" if image.secureboot else ""
    version = image.version.tagged.replace(".", "-").replace("+", "-").lower()
    return f"{prefix}-{version}-{image.schematic[:_DIGITS]}{secured}"


def node_image(
    node: Node, talos: Talos, problems: Problems, *, architecture: Architecture = "amd64"
) -> FactoryImage | None:
    """Schematic, platform and version of a node's image. None: the problems say why.

    Extensions that the version does not have are reported; an id of the Image Factory hides them.
    """
    wish = node.schematic
    contents = desired_schematic(wish, problems)
    if contents is not None:
        origin = wish.where("extensions") or wish.where("written")
        check_extensions(contents.extensions, talos.version, problems, origin)
    schematic = desired_schematic_id(wish, problems)
    if schematic is None:
        return None
    return FactoryImage(
        factory_url=talos.factory_url,
        schematic=schematic,
        version=talos.version,
        platform=talos.platform,
        secureboot=node.secureboot,
        architecture=architecture,
    )
