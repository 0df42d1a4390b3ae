"""Parameters are turned into their kinds, and all mistakes are named at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema.schema import PROFILES, Schema
from stockman_lab.pve.schema.verify import merged, verified

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
    found = parameters("PUT", f"{VM}/config", cores="4", onboot="1", name="web", cpulimit="1.50")

    assert found == {
        "node": "pve1",
        "vmid": 100,
        "cores": 4,
        "onboot": 1,
        "name": "web",
        "cpulimit": "1.50",
    }


def test_values_of_json_mean_the_same_as_those_of_forms() -> None:
    found = parameters("PUT", f"{VM}/config", cores=4, onboot=True, name=12, cpulimit=2.0)

    assert (found["cores"], found["onboot"], found["name"], found["cpulimit"]) == (4, 1, "12", "2")


def test_defaults_are_not_filled_in() -> None:
    assert parameters("GET", f"{VM}/config") == {"node": "pve1", "vmid": 100}


def test_all_mistakes_are_named_at_once() -> None:
    found = errors(
        "POST",
        "/nodes/pve1/qemu",
        vmid="1",
        cores="x",
        onboot="true",
        cpulimit="fast",
        ostype="beos",
        scsi31="local:1",
        balloon="-1",
        tdf="0",
        machine="q" * 50,
    )

    assert found == {
        "vmid": "invalid format - value does not look like a valid VM ID\n",
        "cores": "type check ('integer') failed - got 'x'",
        "onboot": "type check ('boolean') failed - got 'true'",
        "cpulimit": "type check ('number') failed - got 'fast'",
        "ostype": "value 'beos' does not have a value in the enumeration 'other, wxp, w2k, w2k3,"
        " w2k8, wvista, win7, win8, win10, win11, l24, l26, solaris'",
        "scsi31": NOT_DEFINED,
        "balloon": "value must have a minimum value of 0",
        "machine": "invalid format - format error\n"
        "machine.type: value does not match the regex pattern\n",
    }


def test_what_has_to_be_given_is_missed() -> None:
    assert errors("POST", "/nodes/pve1/qemu") == {
        "vmid": "property is missing and it is not optional"
    }


def test_null_counts_as_not_given() -> None:
    assert errors("POST", "/nodes/pve1/qemu", vmid=None) == {
        "vmid": "property is missing and it is not optional"
    }
    assert "cores" not in parameters("PUT", f"{VM}/config", cores=None)


def test_texts_have_bounds() -> None:
    long = errors("POST", f"{VM}/snapshot", snapname="s" * 41)
    short = errors("POST", "/nodes/pve1/network", iface="e", type="bridge")

    assert long == {"snapname": "value may only be 40 characters long"}
    assert short["iface"] == "invalid format - invalid network interface name 'e'\n"


def test_numbers_have_bounds() -> None:
    assert errors("POST", f"{VM}/config", background_delay="31") == {
        "background_delay": "value must have a maximum value of 30"
    }


def test_a_pattern_has_to_match() -> None:
    assert errors("PUT", f"{VM}/resize", disk="scsi0", size="big") == {
        "size": "value does not match the regex pattern"
    }


def test_a_parameter_that_needs_another_one_says_so() -> None:
    new = errors("PUT", "/access/roles/Herder", append="1")
    old = errors("PUT", "/access/roles/Herder", "8.4", append="1")

    assert new == {"privs": "missing property required by 'append'"}
    assert old == {"privs": "missing property - 'append' requires this property"}


def test_two_problems_at_one_place_are_joined() -> None:
    found = errors("PUT", "/cluster/backup/job1", protected="1", notes__template="x")

    assert found == {
        "storage": "missing property required by 'notes-template'\\n"
        "missing property required by 'protected'"
    }


def test_a_parameter_may_be_in_path_and_body_if_both_agree() -> None:
    found = parameters("POST", f"{VM}/config", node="pve1", vmid=100, cores="1")

    assert found == {"node": "pve1", "vmid": 100, "cores": 1}


def test_a_body_must_not_contradict_the_path() -> None:
    assert errors("POST", f"{VM}/config", vmid="101", cores="x") == {
        "vmid": "duplicate parameter (already defined in URI) with conflicting values!"
    }


def test_the_parameter_against_caches_is_dropped() -> None:
    routed = Schema.of("9.1").route("GET", "/version")

    assert merged(routed, {"_dc": "1712345678"}) == {}


def test_repeated_keys_are_joined_for_a_list_in_one_text() -> None:
    found = parameters("PUT", f"{VM}/config", tags=["a", "b"], delete=["cores", "name"])

    assert (found["tags"], found["delete"]) == ("a,b", "cores,name")


def test_a_single_value_is_wrapped_for_an_array() -> None:
    one = parameters(
        "POST", "/cluster/mapping/pci", id="gpu", map="node=pve1,path=0000:01:00,id=10de:2204"
    )

    assert one["map"] == ["node=pve1,path=0000:01:00,id=10de:2204"]


def test_zero_is_not_wrapped_for_an_array() -> None:
    found = errors("POST", f"{VM}/agent/exec", command="0")

    assert found == {"command": "type check ('array') failed"}


def test_items_of_an_array_are_checked_where_they_stand() -> None:
    found = errors("POST", "/cluster/mapping/usb", id="key", map=["node=pve1,id=046d:c52b", "id=x"])

    assert found == {
        "map[1]": "invalid format - format error\n"
        "map[1].node: property is missing and it is not optional\n"
        "map[1].id: value does not match the regex pattern\n"
    }


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


def test_the_values_of_compression_are_known() -> None:
    found = errors(
        "POST",
        "/nodes/pve1/storage/local/download-url",
        content="iso",
        filename="a.iso",
        url="http://127.0.0.1/a",
        compression="xz",
    )

    assert found == {
        "compression": "value 'xz' does not have a value in the enumeration 'gz, lzo, zst, bz2'"
    }


def test_huge_numbers_are_held_to_64_bits() -> None:
    found = parameters("GET", "/nodes/pve1/tasks", since="9" * 5000, until=-(10**30))

    assert (found["since"], found["until"]) == (2**63 - 1, 1 - 2**63)


def test_numbers_beyond_all_reason_are_none() -> None:
    assert errors("GET", "/nodes/pve1/tasks", since=10**1000) == {
        "since": "type check ('integer') failed - got 'Inf'"
    }


@given(st.sampled_from(PROFILES), st.data())
def test_no_values_break_the_verification(profile: str, data: st.DataObject) -> None:
    schema = Schema.of(profile)
    operation = data.draw(st.sampled_from(list(schema.operations.values())))
    names = st.sampled_from([*operation.rules, "stranger"])
    values = data.draw(st.dictionaries(names, VALUES, max_size=4))

    try:
        found = set(verified(operation, values))
    except ApiError as refused:
        found = {name.partition("[")[0].partition(".")[0] for name in refused.errors}

    assert found <= {*values, *operation.required, *operation.needs.values()}
