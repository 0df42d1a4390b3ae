"""Canonical schematics and their ids, without the Image Factory."""

import pytest

from stockman.model.desired import Schematic
from stockman.model.names import SchematicId
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problems
from stockman.model.version import Version
from stockman.talos.schematic import (
    EMPTY,
    ImageSchematic,
    canonical_text,
    check_extensions,
    desired_schematic,
    desired_schematic_id,
    read_schematic,
    schematic_id,
)
from tests.talos.schematics import COMPUTED, EMPTY_ID, PUBLISHED, REFUSED, Document

AT = Position("cluster.yaml", 12, 3)


@pytest.mark.parametrize(
    ("written", "expected_id"),
    [*PUBLISHED.values(), *COMPUTED.values()],
    ids=[*PUBLISHED, *COMPUTED],
)
def test_the_id_is_that_of_the_image_factory(written: Document, expected_id: str) -> None:
    problems = Problems()

    image_schematic = read_schematic(written, problems, AT)

    assert list(problems) == []
    assert image_schematic is not None
    assert schematic_id(image_schematic) == expected_id


def test_the_text_is_that_of_the_image_factory() -> None:
    agent = ImageSchematic(extensions=("siderolabs/qemu-guest-agent",))

    assert canonical_text(EMPTY) == "customization: {}\n"
    assert canonical_text(agent) == (
        "customization:\n"
        "    systemExtensions:\n"
        "        officialExtensions:\n"
        "            - siderolabs/qemu-guest-agent\n"
    )


def test_the_order_of_extensions_is_part_of_the_id() -> None:
    one, other = "siderolabs/iscsi-tools", "siderolabs/qemu-guest-agent"

    first = schematic_id(ImageSchematic(extensions=(one, other)))

    assert first != schematic_id(ImageSchematic(extensions=(other, one)))


@pytest.mark.parametrize("written", REFUSED.values(), ids=REFUSED)
def test_what_the_image_factory_refuses_is_refused_with_its_place(written: Document) -> None:
    problems = Problems()

    assert read_schematic(written, problems, AT) is None
    assert {problem.where for problem in problems} == {AT}
    assert {problem.code for problem in problems} <= {"schematic.unknown-key", "schematic.value"}


def test_all_mistakes_are_named_at_once_with_the_nearest_key() -> None:
    problems = Problems()

    read_schematic({"customization": {"extraKernelArg": [], "bootloader": "lilo"}}, problems, AT)

    assert [(problem.code, problem.fix) for problem in problems] == [
        ("schematic.unknown-key", "use extraKernelArgs"),
        ("schematic.value", "use one of none, dual-boot, sd-boot, grub"),
    ]


def test_arguments_that_lost_their_text_are_refused() -> None:
    problems = Problems()

    assert read_schematic({"customization": {"extraKernelArgs": [791]}}, problems, AT) is None
    assert "need quotes" in next(iter(problems)).why


def test_a_line_separator_that_go_writes_in_a_way_of_its_own_is_refused() -> None:
    problems = Problems()

    assert (
        read_schematic({"customization": {"extraKernelArgs": ["a\u2028b"]}}, problems, AT) is None
    )
    assert [problem.code for problem in problems] == ["schematic.value"]


def wish(**given: object) -> Schematic:
    values = {"id": None, "written": None, "extensions": (), "kernel_args": ()} | given
    return Schematic(**values)  # type: ignore[arg-type]  # fields by name


def test_a_node_that_names_an_id_has_that_id_and_unknown_contents() -> None:
    named = wish(id=SchematicId(EMPTY_ID))

    assert desired_schematic_id(named, Problems()) == EMPTY_ID
    assert desired_schematic(named, Problems()) is None


def test_a_node_that_lists_extensions_and_arguments_has_their_schematic() -> None:
    listed = wish(extensions=("siderolabs/iscsi-tools",), kernel_args=("net.ifnames=0",))

    assert desired_schematic(listed, Problems()) == ImageSchematic(
        extensions=("siderolabs/iscsi-tools",), kernel_args=("net.ifnames=0",)
    )


def test_a_node_with_a_schematic_written_out_has_that_one() -> None:
    document, expected_id = COMPUTED["everything"]

    assert desired_schematic_id(wish(written=document), Problems()) == expected_id


def test_a_mistake_in_a_schematic_written_out_is_told_at_its_place() -> None:
    problems = Problems()
    broken = wish(written={"customisation": {}}, origins={"written": Origin(AT, "talos.schematic")})

    assert desired_schematic_id(broken, problems) is None
    assert [(problem.code, problem.where) for problem in problems] == [
        ("schematic.unknown-key", AT)
    ]


@pytest.mark.parametrize(
    ("name", "talos", "code"),
    [
        ("siderolabs/qemu-guest-agent", "1.12.1", None),
        ("siderolabs/bird2", "1.11.5", "schematic.extension"),
        ("siderolabs/made-up", "1.12.1", "schematic.unknown-extension"),
    ],
)
def test_extensions_are_checked_against_the_list_of_the_version(
    name: str, talos: str, code: str | None
) -> None:
    problems = Problems()

    check_extensions([name], Version.parse(talos), problems, AT)

    assert [problem.code for problem in problems] == ([] if code is None else [code])
    assert len(problems.errors) == (code == "schematic.extension")
