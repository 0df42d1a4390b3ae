"""The newest tables serve all minors: what is asked and answered has not changed between them."""

import re
from pathlib import Path
from typing import Any

import pytest

from stockman.talos.api import calls
from stockman.talos.wire.schema import ApiSchema, UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS

CALLS = Path(calls.__file__).parent
_SERVICE = re.compile(r'"((?:machine|time|cosi\.resource)\.\w+)/(\w+)"')
_MACHINE = re.compile(r'f"\{MACHINE\}/(\w+)"')
_NEW = {"machine.ImageService", "machine.LifecycleService"}


def called() -> set[tuple[str, str]]:
    """Every method that is called anywhere."""
    shapes_by_name = set[tuple[str, str]]()
    for path in CALLS.glob("*.py"):
        text = path.read_text()
        shapes_by_name |= {(service, name) for service, name in _SERVICE.findall(text)}
        shapes_by_name |= {("machine.MachineService", name) for name in _MACHINE.findall(text)}
    return shapes_by_name


def shapes(wire: ApiSchema, service: str, name: str) -> dict[str, object]:
    """All messages of a method, with their fields."""
    method = wire.method(service, name)
    shapes_by_name: dict[str, object] = {}
    for full_name in (method.request, method.response):
        _add(shapes_by_name, wire.message(full_name).DESCRIPTOR)
    return shapes_by_name


def _add(shapes_by_name: dict[str, object], descriptor: Any) -> None:
    if descriptor.full_name in shapes_by_name:
        return
    shapes_by_name[descriptor.full_name] = {
        field.name: (field.number, field.type, field.is_repeated) for field in descriptor.fields
    }
    for field in descriptor.fields:
        if field.message_type is not None:
            _add(shapes_by_name, field.message_type)


def test_all_families_are_looked_at() -> None:
    assert len(called()) > 30


@pytest.mark.parametrize("minor", MINORS)
def test_messages_are_the_same_in_every_minor(minor: str) -> None:
    newest, wire = load_api_schema(calls._NEWEST_MINOR), load_api_schema(minor)

    different = []
    for service, name in sorted(called()):
        try:
            own = shapes(wire, service, name)
        except UnknownApiName:
            assert service in _NEW
            continue
        if own != shapes(newest, service, name):
            different.append(name)

    assert different == []


def test_fields_that_nobody_knows_are_left_aside() -> None:
    later = b"\x0a\x00" + b"\xfa\x7f\x03new"

    assert calls.decode_reply("machine.MachineService/Version", later) == {"messages": [{}]}
