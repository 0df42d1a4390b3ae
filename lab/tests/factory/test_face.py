"""The Image Factory over HTTP."""

from __future__ import annotations

import hashlib
import json
import lzma

import pytest
from stockman_lab.core.faults import Effect
from stockman_lab.core.saved import plain, restored
from stockman_lab.factory.schematics import schematic_of
from stockman_lab.factory.state import EMPTY_ID, FactoryState
from stockman_lab.http.messages import Cut, Hang
from stockman_lab.images.compression import pieces
from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form, read_image

from lab.tests.factory.asking import HOST, Factory, refusal
from stockman.talos.schematic import EMPTY, ImageSchematic, MetaValue, Overlay

AGENT = ImageSchematic(
    extensions=("siderolabs/qemu-guest-agent",),
    kernel_args=("net.ifnames=1",),
    meta=(MetaValue(key=10, value="x"),),
)
UNKNOWN = "0" * 64
MIB = 1 << 20


def facts_in(content: bytes) -> ImageFacts:
    facts = read_image(content).facts
    assert facts is not None
    return facts


def test_a_schematic_is_taken_and_shown_as_the_factory_writes_it() -> None:
    factory = Factory()
    body = json.dumps({"customization": {"extraKernelArgs": ["noapic", "nolapic"]}}).encode()

    made = factory.ask("/schematics", "POST", body)

    data = json.loads(made.body)
    assert made.status == 201
    assert data["id"] == "9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c"
    assert data["schematic"] == (
        "customization:\n    extraKernelArgs:\n        - noapic\n        - nolapic\n"
    )
    shown = factory.ask(f"/schematics/{data['id']}")
    assert shown.headers["Content-Type"] == "application/yaml"
    assert shown.body.decode() == data["schematic"]
    assert refusal(factory.ask(f"/schematics/{UNKNOWN}")) == (404, "schematic not found")


def test_a_schematic_of_somebody_is_for_another_edition() -> None:
    result = Factory().ask("/schematics", "POST", b"owner: x\ncustomization: {}\n")

    assert refusal(result) == (400, "owner field is only supported in Enterprise edition")


def test_what_an_id_stands_for_is_found_again_after_the_world_was_saved() -> None:
    factory = Factory()
    board = ImageSchematic(
        overlay=Overlay(image="siderolabs/sbc-raspberrypi", name="rpi_generic", options={"a": 1}),
        machine_configuration="version: v1alpha1\n",
        bootloader="grub",
        sector_size=4096,
    )
    ids = [factory.knows(one) for one in (AGENT, board)]

    state = restored(FactoryState, json.loads(json.dumps(plain(factory.state))))

    assert state == factory.state
    assert [schematic_of(state, one) for one in ids] == [AGENT, board]
    assert schematic_of(state, EMPTY_ID) == EMPTY
    assert schematic_of(state, UNKNOWN) is None


def test_a_request_keeps_its_id_or_gets_one() -> None:
    factory = Factory()

    assert factory.ask("/versions", x_request_id="mine").headers["X-Request-ID"] == "mine"
    first, second = (factory.ask("/versions").headers["X-Request-ID"] for _ in range(2))
    assert first != second
    assert factory.ask("/nothing").status == 404


@pytest.mark.parametrize("path", ["/version/1.13/extensions/official", "/image/{}/x/a.iso"])
def test_a_version_that_is_none_is_an_error_of_the_factory(path: str) -> None:
    result = Factory().ask(path.format(EMPTY_ID))

    assert refusal(result) == (500, "internal server error")


def test_a_version_that_is_not_on_offer_is_not_there() -> None:
    factory = Factory()
    agent = factory.knows(AGENT)

    plain_one = factory.image("metal-amd64.iso", "v1.99.0")
    with_more = factory.image("metal-amd64.iso", "v1.99.0", agent)

    assert refusal(plain_one) == (404, "version 1.99.0 is not available")
    assert refusal(with_more) == (
        404,
        (
            "error enhancing profile from schematic: error getting official extensions: "
            "version 1.99.0 is not available"
        ),
    )
    assert refusal(factory.ask("/talosctl/v1.99.0"))[0] == 404


def test_extensions_and_overlays_are_those_of_the_version() -> None:
    factory = Factory()
    factory.state.withdrawn["v1.14.1"] = ["siderolabs/qemu-guest-agent"]

    rows = factory.read("/version/v1.14.0/extensions/official")
    fewer = factory.read("/version/1.14.1/extensions/official")
    overlays = factory.read("/version/v1.14.0/overlays/official")

    assert isinstance(rows, list)
    assert isinstance(fewer, list)
    assert isinstance(overlays, list)
    assert len(rows) == len(fewer) + 1
    assert set(rows[0]) == {"name", "ref", "digest", "author", "description"}
    assert set(overlays[0]) == {"name", "image", "ref", "digest"}


def test_broken_versions_are_listed_apart() -> None:
    factory = Factory()
    factory.state.broken.append("v1.13.3")

    assert factory.read("/versions?broken=true") == ["v1.13.3"]
    assert "v1.13.3" in str(factory.read("/versions"))


def test_an_extension_that_a_version_lacks_is_refused_when_an_image_is_made() -> None:
    factory = Factory()
    odd = factory.knows(ImageSchematic(extensions=("siderolabs/no-such-thing",)))
    renamed = factory.knows(ImageSchematic(extensions=("siderolabs/xe-guest-utilities",)))

    assert refusal(factory.image("metal-amd64.iso", schematic=odd)) == (
        400,
        (
            "error enhancing profile from schematic: official extension "
            '"siderolabs/no-such-thing" is not available for Talos version v1.13.9'
        ),
    )
    assert factory.image("metal-amd64.iso", schematic=renamed).status == 200


@pytest.mark.parametrize(
    ("schematic", "version", "file"),
    [
        (ImageSchematic(machine_configuration="a: b\n"), "v1.11.5", "metal-amd64.iso"),
        (ImageSchematic(overlay=Overlay(image="a/b", name="c")), "v1.13.9", "metal-arm64.iso"),
    ],
)
def test_what_a_version_cannot_do_is_refused(
    schematic: ImageSchematic, version: str, file: str
) -> None:
    factory = Factory()

    image = factory.image(file, version, factory.knows(schematic))

    status, text = refusal(image)
    assert status == 400
    assert text.startswith("error enhancing profile from schematic: ")


@pytest.mark.parametrize("ending", ["sha256", "sha512"])
def test_checksums_are_for_another_edition(ending: str) -> None:
    image = Factory().image(f"nocloud-amd64.raw.xz.{ending}", schematic=UNKNOWN)

    assert refusal(image) == (402, "enterprise not enabled: checksum endpoint is not available")


def test_signatures_are_for_another_edition() -> None:
    image = Factory().image("nocloud-amd64.raw.xz.sigstore.json", schematic=UNKNOWN)

    text = "enterprise signing is not enabled: signature endpoint is not available"
    assert refusal(image) == (402, text)


@pytest.mark.parametrize("ending", ["sha256", "sha512"])
def test_the_other_edition_tells_the_checksum_of_what_it_serves(ending: str) -> None:
    factory = Factory(FactoryState(enterprise=True))

    image = factory.image("nocloud-amd64.qcow2")
    result = factory.image(f"nocloud-amd64.qcow2.{ending}")

    line = f"{hashlib.new(ending, image.body).hexdigest()}  nocloud-amd64.qcow2\n"
    assert (result.status, result.body.decode()) == (200, line)
    named = f'attachment; filename="nocloud-amd64.qcow2.{ending}"'
    assert result.headers["Content-Disposition"] == named


def test_an_image_of_an_unknown_schematic_is_not_there() -> None:
    image = Factory().image("nocloud-amd64.raw.xz", schematic=UNKNOWN)

    assert refusal(image) == (404, f'schematic ID "{UNKNOWN}" not found')


@pytest.mark.parametrize(
    ("file", "form", "size"),
    [
        ("nocloud-amd64.qcow2", Form.QCOW2, 2247 * MIB),
        ("nocloud-arm64.qcow2", Form.QCOW2, 1246 * MIB),
        ("aws-arm64.qcow2", Form.QCOW2, 8192 * MIB),
        ("nocloud-amd64.raw", Form.RAW, 8 * MIB),
        ("nocloud-amd64.iso", Form.ISO, None),
    ],
)
def test_an_image_says_what_it_was_made_from(file: str, form: Form, size: int | None) -> None:
    factory = Factory()
    agent = factory.knows(AGENT)

    content = factory.image(file, schematic=agent).body

    image = read_image(content)
    assert (image.form, image.is_bootable) == (form, True)
    assert image.virtual_size == (len(content) if size is None else size)
    image_facts = facts_in(content)
    platform, _, rest = file.partition("-")
    assert (image_facts.platform, image_facts.version, image_facts.schematic) == (
        platform,
        "v1.13.9",
        agent,
    )
    assert image_facts.architecture == rest[:5]
    assert schematic_of(factory.state, image_facts.schematic) == AGENT


@pytest.mark.parametrize(
    ("file", "loader"),
    [
        ("nocloud-amd64.qcow2", "dual-boot"),
        ("nocloud-arm64.qcow2", "sd-boot"),
        ("nocloud-amd64-secureboot.qcow2", "sd-boot"),
    ],
)
def test_the_bootloader_is_the_one_that_talos_would_take(file: str, loader: str) -> None:
    image_facts = facts_in(Factory().image(file).body)

    assert image_facts.more["bootloader"] == loader
    assert image_facts.secure_boot is ("secureboot" in file)


def test_a_schematic_chooses_its_bootloader_but_not_with_secure_boot() -> None:
    factory = Factory()
    grub = factory.knows(ImageSchematic(bootloader="grub"))

    plain_one = facts_in(factory.image("metal-amd64.qcow2", schematic=grub).body)
    secure = facts_in(factory.image("metal-amd64-secureboot.qcow2", schematic=grub).body)

    assert (plain_one.more["bootloader"], secure.more["bootloader"]) == ("grub", "sd-boot")


def test_a_packed_disk_is_the_disk() -> None:
    factory = Factory()
    raw = factory.image("nocloud-amd64.raw").body

    assert lzma.decompress(factory.image("nocloud-amd64.raw.xz").body) == raw
    assert b"".join(pieces(factory.image("nocloud-amd64.raw.zst").body, "zst")) == raw
    assert b"".join(pieces(factory.image("nocloud-amd64.raw.gz").body, "gz")) == raw


def test_an_image_has_its_type_its_name_and_another_one_on_request() -> None:
    factory = Factory()

    own = factory.image("nocloud-amd64.iso")
    other = factory.ask(f"/image/{EMPTY_ID}/v1.13.9/nocloud-amd64.iso?filename=a.iso", "HEAD")

    assert own.headers["Content-Type"] == "application/x-iso9660-image"
    assert own.headers["Content-Disposition"] == 'attachment; filename="nocloud-amd64.iso"'
    assert other.headers["Content-Disposition"] == 'attachment; filename="a.iso"'
    assert own.body == other.body


@pytest.mark.parametrize("file", ["vmware-amd64.ova", "azure-amd64.vhd", "toaster-amd64.iso"])
def test_what_is_not_made_here_is_an_error(file: str) -> None:
    assert refusal(Factory().image(file)) == (500, "internal server error")


def test_the_command_line_of_an_image_can_be_read() -> None:
    factory = Factory()
    agent = factory.knows(AGENT)

    line = factory.image("cmdline-nocloud-amd64", schematic=agent).body.decode().split()

    assert line[:4] == [
        "talos.platform=nocloud",
        "console=tty1",
        "console=ttyS0",
        "net.ifnames=0",
    ]
    assert "net.ifnames=1" in line


def test_programs_are_listed() -> None:
    factory = Factory()

    listed = factory.read("/talosctl/v1.13.9")

    assert isinstance(listed, list)
    assert f"http://{HOST}/talosctl/v1.13.9/talosctl-linux-amd64" in listed
    assert factory.read("/talosctl/v1.10.9") == []


def test_a_method_that_a_route_does_not_have_is_refused() -> None:
    result = Factory().ask("/schematics")

    assert refusal(result) == (405, "Method Not Allowed")
    assert result.headers["Allow"] == "OPTIONS, POST"


def test_an_old_image_is_delivered_under_a_new_name() -> None:
    factory = Factory()
    factory.let(Effect.LIE)
    factory.let(Effect.LIE, message="v1.12.0", skip=0)

    versions = [facts_in(factory.image("nocloud-amd64.qcow2").body).version for _ in range(3)]

    assert versions == ["v1.13.8", "v1.12.0", "v1.13.9"]


@pytest.mark.parametrize(("effect", "outcome"), [(Effect.HANG, Hang), (Effect.CUT, Cut)])
def test_no_answer_is_one_way_to_fail(effect: Effect, outcome: type) -> None:
    factory = Factory()
    factory.let(effect)

    assert isinstance(factory.told("/versions").outcome, outcome)
    assert factory.ask("/versions").status == 200
