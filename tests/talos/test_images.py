"""Addresses of images and installers."""

from dataclasses import replace

from stockman.model.names import SchematicId
from stockman.model.problem import Problems
from stockman.model.version import Version
from stockman.talos.schematic import FactoryImage, node_image
from tests.config.written import CLUSTER, desired
from tests.talos.schematics import EMPTY_ID

IMAGE = FactoryImage(
    factory_url="https://factory.talos.dev",
    schematic=SchematicId(EMPTY_ID),
    version=Version.parse("1.13.9"),
    platform="nocloud",
)


def test_every_platform_has_its_own_installer() -> None:
    metal = replace(IMAGE, platform="metal")
    secured = replace(IMAGE, secureboot=True)

    assert IMAGE.installer == f"factory.talos.dev/nocloud-installer/{EMPTY_ID}:v1.13.9"
    assert metal.installer == f"factory.talos.dev/metal-installer/{EMPTY_ID}:v1.13.9"
    assert secured.installer == f"factory.talos.dev/nocloud-installer-secureboot/{EMPTY_ID}:v1.13.9"


def test_files_are_named_by_platform_architecture_and_form() -> None:
    base = f"https://factory.talos.dev/image/{EMPTY_ID}/v1.13.9"
    other = replace(IMAGE, platform="metal", architecture="arm64", secureboot=True)

    assert IMAGE.url("raw.xz") == f"{base}/nocloud-amd64.raw.xz"
    assert IMAGE.url("iso") == f"{base}/nocloud-amd64.iso"
    assert other.url("iso") == f"{base}/metal-arm64-secureboot.iso"
    assert other.url("uki.efi") == f"{base}/metal-arm64-secureboot-uki.efi"


def test_a_factory_of_ones_own_keeps_its_port() -> None:
    own = replace(IMAGE, factory_url="http://127.0.0.1:8080/")

    assert own.installer.startswith("127.0.0.1:8080/nocloud-installer/")
    assert own.url("iso").startswith("http://127.0.0.1:8080/image/")


def image_of(cluster: str) -> tuple[FactoryImage | None, list[str]]:
    problems = Problems()
    state = desired(cluster)
    assert state.cluster is not None
    image = node_image(state.nodes[0], state.cluster.talos, problems)
    return image, [problem.code for problem in problems]


def test_a_node_boots_from_the_image_that_the_files_describe() -> None:
    image, codes = image_of(CLUSTER)

    guest_agent = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
    assert codes == []
    assert image is not None
    assert (image.schematic, image.platform, image.secureboot) == (guest_agent, "nocloud", False)


def test_an_extension_that_the_version_does_not_have_is_told() -> None:
    image, codes = image_of(CLUSTER.replace("qemu-guest-agent", "nvidia-fabricmanager"))

    assert image is not None
    assert codes == ["schematic.extension"]
