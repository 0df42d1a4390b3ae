"""Parameters are turned into their kinds, and all mistakes are named at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema.schema import PROFILES, Schema
from stockman_lab.pve.schema.verify import merge_parameters, verify

from lab.tests.pve.schema.asking import VM, errors, parameters

NOT_DEFINED = (
    "property is not defined in schema and the schema does not allow additional properties"
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=5,
)


def test_values_get_their_kinds() -> None:
    values = parameters("PUT", f"{VM}/config", cores="4", onboot="1", name="web", cpulimit="1.50")

    assert values == {
        "node": "pve1",
        "vmid": 100,
        "cores": 4,
        "onboot": 1,
        "name": "web",
        "cpulimit": "1.50",
    }


def test_values_of_json_mean_the_same_as_those_of_forms() -> None:
    values = parameters("PUT", f"{VM}/config", cores=4, onboot=True, name=12, cpulimit=2.0)

    assert (values["cores"], values["onboot"], values["name"], values["cpulimit"]) == (
        4,
        1,
        "12",
        "2",
    )


def test_a_body_must_not_contradict_the_path() -> None:
    assert errors("POST", f"{VM}/config", vmid="101", cores="x") == {
        "vmid": "duplicate parameter (already defined in URI) with conflicting values!"
    }


def test_the_parameter_against_caches_is_dropped() -> None:
    routed = Schema.of("9.1").route("GET", "/version")

    assert merge_parameters(routed, {"_dc": "1712345678"}) == {}


def test_repeated_keys_are_joined_for_a_list_in_one_text() -> None:
    values = parameters("PUT", f"{VM}/config", tags=["a", "b"], delete=["cores", "name"])

    assert (values["tags"], values["delete"]) == ("a,b", "cores,name")


def test_zero_is_not_wrapped_for_an_array() -> None:
    found = errors("POST", f"{VM}/agent/exec", command="0")

    assert found == {"command": "type check ('array') failed"}


@pytest.mark.parametrize(
    ("value", "got"),
    [(["a", "b"], "ARRAY"), ({"a": 1}, "HASH"), (True, "JSON::PP::Boolean")],
)
def test_what_is_no_scalar_is_refused_by_its_kind(value: object, got: str) -> None:
    assert errors("PUT", f"{VM}/config", name=value, cores=value) == {
        "name": f"type check ('string') failed - got {got}",
        "cores": f"type check ('integer') failed - got {got}",
    }


def test_a_call_that_takes_others_lets_them_through() -> None:
    assert parameters("GET", f"{VM}/agent", extra="1")["extra"] == "1"


def test_a_variant_depends_on_another_parameter() -> None:
    fabric = "/cluster/sdn/fabrics/fabric/lab1"

    allowed = parameters("PUT", fabric, protocol="ospf", delete=["area"])
    other = errors("PUT", fabric, protocol="openfabric", delete=["area"])
    none = errors("PUT", fabric, delete=["area"])

    assert allowed["delete"] == ["area"]
    assert other == {
        "delete[0]": "value 'area' does not have a value in the enumeration"
        " 'hello_interval, csnp_interval'"
    }
    assert none["delete"] == NOT_DEFINED


def test_huge_numbers_are_held_to_64_bits() -> None:
    values = parameters("GET", "/nodes/pve1/tasks", since="9" * 5000, until=-(10**30))

    assert (values["since"], values["until"]) == (2**63 - 1, 1 - 2**63)


@given(st.sampled_from(PROFILES), st.data())
def test_no_values_break_the_verification(profile: str, data: st.DataObject) -> None:
    schema = Schema.of(profile)
    operation = data.draw(st.sampled_from(list(schema.operations.values())))
    names = st.sampled_from([*operation.rules, "stranger"])
    values = data.draw(st.dictionaries(names, VALUES, max_size=4))

    try:
        found = set(verify(operation, values))
    except ApiError as refused:
        found = {name.partition("[")[0].partition(".")[0] for name in refused.errors}

    assert found <= {*values, *operation.required, *operation.needs.values()}
