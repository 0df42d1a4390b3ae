"""Every minor has its own messages, enums and services."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stockman.talos.wire.schema import ApiSchema, UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS, packages

MACHINE = "machine.MachineService"


@pytest.mark.parametrize("minor", MINORS)
def test_every_message_of_the_tables_can_be_made(minor: str) -> None:
    wire = ApiSchema(minor)
    made = 0

    for package in packages().values():
        for name, (span, _) in package.get("messages", {}).items():
            if not span or minor in _minors(span):
                assert wire.message(name)().SerializeToString() == b""
                made += 1

    assert made > 420


def _minors(span: str) -> tuple[str, ...]:
    first, _, last = span.partition("-")
    return MINORS[MINORS.index(first) : MINORS.index(last) + 1]


@pytest.mark.parametrize("minor", MINORS)
def test_every_method_has_its_messages(minor: str) -> None:
    wire = load_api_schema(minor)
    services = [name for package in packages().values() for name in package.get("services", {})]

    for service in services:
        try:
            methods = wire.service(service)
        except UnknownApiName:
            continue
        for method in methods.values():
            assert wire.message(method.request).DESCRIPTOR.full_name == method.request
            assert wire.message(method.response).DESCRIPTOR.full_name == method.response


@pytest.mark.parametrize(
    ("minor", "known"), [("1.11", False), ("1.12", False), ("1.13", True), ("1.14", True)]
)
def test_a_service_is_known_where_it_came_in(minor: str, known: bool) -> None:
    try:
        load_api_schema(minor).service("machine.LifecycleService")
    except UnknownApiName:
        assert not known
    else:
        assert known


def test_a_method_that_was_taken_away_is_not_there_any_more() -> None:
    assert "GenerateConfiguration" in load_api_schema("1.12").service(MACHINE)

    with pytest.raises(UnknownApiName):
        load_api_schema("1.13").method(MACHINE, "GenerateConfiguration")


@pytest.mark.parametrize(
    ("service", "name", "kind"),
    [
        (MACHINE, "Version", (False, False)),
        (MACHINE, "Events", (False, True)),
        (MACHINE, "EtcdRecover", (True, False)),
        ("machine.DebugService", "ContainerRun", (True, True)),
        ("cosi.resource.State", "Watch", (False, True)),
    ],
)
def test_methods_say_which_sides_stream(service: str, name: str, kind: tuple[bool, bool]) -> None:
    method = load_api_schema("1.14").method(service, name)

    assert (method.client_stream, method.server_stream) == kind


def test_a_value_of_an_enum_is_known_where_it_came_in() -> None:
    assert "FORCE" not in load_api_schema("1.11").enum("machine.RebootRequest.Mode")
    assert load_api_schema("1.12").enum("machine.RebootRequest.Mode")["FORCE"] == 2


def test_a_field_has_the_type_that_its_minor_gave_it() -> None:
    name = "talos.resource.definitions.network.VLANSpec"
    number = [
        load_api_schema(minor).message(name).DESCRIPTOR.fields_by_name["vid"].type
        for minor in MINORS
    ]

    fixed, plain = 7, 13
    assert number == [fixed, plain, plain, plain]


def test_messages_of_two_minors_are_strangers() -> None:
    old, new = (load_api_schema(minor).message("machine.Version") for minor in ("1.11", "1.14"))

    assert old is not new


@pytest.mark.parametrize("name", ["machine.Nothing", "nowhere.Message", "Message", ""])
def test_what_nobody_knows_is_not_there(name: str) -> None:
    with pytest.raises(UnknownApiName):
        load_api_schema("1.13").message(name)


def test_a_minor_that_nobody_knows_is_not_there() -> None:
    with pytest.raises(UnknownApiName):
        ApiSchema("1.10")


def test_names_of_enums_and_services_that_nobody_knows_are_not_there() -> None:
    with pytest.raises(UnknownApiName):
        load_api_schema("1.13").enum("machine.Nothing")
    with pytest.raises(UnknownApiName):
        load_api_schema("1.13").service("nowhere.Service")


def test_the_tables_are_read_without_the_library_of_messages() -> None:
    code = "import stockman.talos.wire.schema, sys; sys.exit('google.protobuf' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
