"""Functions are found by method and minor."""

from __future__ import annotations

import pytest
from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import MethodKind, Methods, all_methods

from stockman.talos.wire.schema import UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS
from stockman.talos.wire.values import Fields

SERVICE = "machine.MachineService"


def nothing(call: Call) -> Fields:
    del call
    return {}


def test_a_method_can_have_one_function_for_each_stretch_of_minors() -> None:
    methods = Methods()
    methods.method(SERVICE, "Upgrade", until="1.12")(nothing)
    methods.method(SERVICE, "Upgrade", since="1.14")(nothing)

    known = [methods.entry_of(SERVICE, "Upgrade", minor) is not None for minor in MINORS]

    assert known == [True, True, False, True]


def test_two_functions_for_one_method_are_a_mistake() -> None:
    methods = Methods()
    methods.method(SERVICE, "Upgrade", until="1.13")(nothing)

    with pytest.raises(ValueError, match="answered twice"):
        methods.method(SERVICE, "Upgrade", since="1.13")(nothing)


@pytest.mark.parametrize("minor", MINORS)
def test_functions_stream_as_their_methods_do(minor: str) -> None:
    kinds = {
        (False, False): MethodKind.UNARY,
        (False, True): MethodKind.STREAMED,
        (True, False): MethodKind.UPLOADED,
        (True, True): MethodKind.TALKED,
    }
    methods = all_methods()
    for service, name in methods.names():
        entry = methods.entry_of(service, name, minor)
        try:
            method = load_api_schema(minor).method(service, name)
        except UnknownApiName:
            continue
        if entry is not None:
            assert entry.kind is kinds[method.client_stream, method.server_stream], name
