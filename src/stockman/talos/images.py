"""Images and installers of the image factory."""

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
    """One image of the image factory: a schematic built for a platform and version."""

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
        """Reference of the installer that installs or upgrades a machine with this image.

        It must match the platform: with that of another platform a machine loses its network.
        """
        host = urlsplit(self.factory_url).netloc
        name = f"{self.platform}-installer{self._secured}"
        return f"{host}/{name}/{self.schematic}:{self.version.tagged}"

    def url(self, form: ImageForm) -> str:
        """Return the URL of the image file."""
        separator = "-" if form == "uki.efi" else "."
        file = f"{self.platform}-{self.architecture}{self._secured}{separator}{form}"
        return f"{self._base}/image/{self.schematic}/{self.version.tagged}/{file}"

    @property
    def pxe_url(self) -> str:
        """URL of the script that boots the image over the network."""
        kind = f"{self.platform}-{self.architecture}{self._secured}"
        return f"{self._base}/pxe/{self.schematic}/{self.version.tagged}/{kind}"

    @property
    def _base(self) -> str:
        return self.factory_url.rstrip("/")


_DIGITS = 8


def template_name(prefix: str, image: FactoryImage) -> str:
    """Return the name of a template VM, unique per version and schematic and valid in DNS."""
    secured = "-secureboot" if image.secureboot else ""
    version = image.version.tagged.replace(".", "-").replace("+", "-").lower()
    return f"{prefix}-{version}-{image.schematic[:_DIGITS]}{secured}"


def node_image(
    node: Node, talos: Talos, problems: Problems, *, architecture: Architecture = "amd64"
) -> FactoryImage | None:
    """Return schematic, platform and version of a node's image. None: the problems say why.

    Unavailable extensions are reported, unless only the schematic ID is known.
    """
    schematic = node.schematic
    contents = desired_schematic(schematic, problems)
    if contents is not None:
        origin = schematic.where("extensions") or schematic.where("written")
        check_extensions(contents.extensions, talos.version, problems, origin)
    image_id = desired_schematic_id(schematic, problems)
    if image_id is None:
        return None
    return FactoryImage(
        factory_url=talos.factory_url,
        schematic=image_id,
        version=talos.version,
        platform=talos.platform,
        secureboot=node.secureboot,
        architecture=architecture,
    )
