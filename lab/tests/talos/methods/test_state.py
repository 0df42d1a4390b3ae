"""The service of resources answers and refuses as the real one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import yaml
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.cosi.tables import definitions

from lab.tests.talos.cosi.asking import LINKS, READER, SERVICES, answers
from lab.tests.talos.cosi.handmade import MINORS, HandMade, handmade_land, waiting_machine
from stockman.talos.api.transport import GrpcCode

CONFIG = {"namespace": "config", "type": "MachineConfigs.config.talos.dev"}


def machine(minor: str = "1.13") -> HandMade:
    return handmade_land(minor).machines[0]


def refused(
    hand_made: HandMade, name: str, request: Mapping[str, object], **more: object
) -> Refusal:
    with pytest.raises(Refusal) as raised:
        answers(hand_made, name, request, **more)  # type: ignore[arg-type]
    return raised.value


@pytest.mark.parametrize("minor", MINORS)
def test_one_resource_is_read(minor: str) -> None:
    request = {"namespace": "network", "type": LINKS, "id": "eth0"}
    (answer,) = answers(machine(minor), "Get", request)
    resource = answer["resource"]

    assert resource["metadata"]["version"] == "1"  # type: ignore[index]
    assert resource["metadata"]["owner"] == "network.LinkStatusController"  # type: ignore[index]
    assert yaml.safe_load(resource["spec"]["yaml_spec"])["type"] == "ether"  # type: ignore[index]


@pytest.mark.parametrize("minor", MINORS)
def test_all_definitions_of_a_minor_are_listed(minor: str) -> None:
    request = {"namespace": "meta", "type": "ResourceDefinitions.meta.cosi.dev"}
    result = answers(machine(minor), "List", request)
    names = [one["resource"]["metadata"]["id"] for one in result]  # type: ignore[index]

    assert names == sorted(definitions(minor))


def test_a_kind_that_has_nothing_lists_nothing() -> None:
    assert (
        answers(machine(), "List", {"namespace": "perf", "type": "CPUStats.perf.talos.dev"}) == []
    )


def test_a_kind_is_in_its_own_namespace_only() -> None:
    assert answers(machine(), "List", {"namespace": "runtime", "type": LINKS}) == []


def test_what_is_not_there_is_not_found() -> None:
    result = refused(machine(), "Get", {"namespace": "network", "type": LINKS, "id": "eth9"})

    assert result.code is GrpcCode.NOT_FOUND
    assert result.message == f"resource {LINKS}(network/eth9@undefined) doesn't exist"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"namespace": "x", "type": "Cows.dev"}, 'resource type "Cows.dev" is not supported'),
        ({"namespace": "barn", "type": LINKS}, 'namespace "barn" is not supported'),
    ],
)
@pytest.mark.parametrize("name", ["Get", "List", "Watch"])
def test_unknown_places_are_refused(name: str, request_: dict[str, object], message: str) -> None:
    result = refused(machine(), name, request_)

    assert (result.code, result.message) == (GrpcCode.PERMISSION_DENIED, message)


@pytest.mark.parametrize("name", ["Get", "List", "Watch"])
def test_secrets_are_for_administrators(name: str) -> None:
    result = refused(machine(), name, CONFIG, roles=READER)

    assert (result.code, result.message) == (GrpcCode.PERMISSION_DENIED, "not authorized")


@pytest.mark.parametrize("minor", MINORS)
def test_readers_see_all_kinds_but_the_sensitive_ones(minor: str) -> None:
    one = machine(minor)
    denied = set()
    for definition in definitions(minor).values():
        request = {"namespace": definition.namespace, "type": definition.type}
        try:
            answers(one, "List", request, roles=READER)
        except Refusal:
            denied.add(definition.type)

    assert denied == {one.type for one in definitions(minor).values() if one.is_sensitive}


@pytest.mark.parametrize("minor", MINORS)
def test_anybody_reads_from_a_machine_in_maintenance_but_no_secrets(minor: str) -> None:
    waiting = waiting_machine(handmade_land(minor), minor, "127.51.0.9")
    request = {"namespace": "runtime", "type": "Disks.block.talos.dev"}

    assert len(answers(waiting, "List", request, roles=frozenset())) == 1
    assert refused(waiting, "List", CONFIG, roles=frozenset()).message == "not authorized"


@pytest.mark.parametrize(
    ("minor", "has_text", "annotations"),
    [
        ("1.11", False, None),
        ("1.12", True, {"talos.dev/yaml-spec": "1"}),
        ("1.14", True, {"talos.dev/yaml-spec": "1"}),
    ],
)
def test_a_configuration_is_a_text_since_the_second_minor(
    minor: str, has_text: bool, annotations: dict[str, str] | None
) -> None:
    one = machine(minor)
    (answer,) = answers(one, "Get", {**CONFIG, "id": "v1alpha1"})
    resource = answer["resource"]
    text = resource["spec"]["yaml_spec"]  # type: ignore[index]
    held = yaml.safe_load(text) if has_text else text

    assert held.encode() == one.state.config
    assert resource["metadata"].get("annotations") == annotations  # type: ignore[index]


@pytest.mark.parametrize("name", ["Create", "Update", "Destroy"])
@pytest.mark.parametrize("minor", MINORS)
def test_nothing_is_written(minor: str, name: str) -> None:
    result = refused(machine(minor), name, {})

    assert (result.code, result.message) == (
        GrpcCode.PERMISSION_DENIED,
        "write access is not allowed",
    )


@pytest.mark.parametrize("name", ["Teardown", "TeardownAndDestroy"])
def test_the_newest_minor_refuses_two_ways_more(name: str) -> None:
    assert refused(machine("1.14"), name, {}).message == "write access is not allowed"


def test_a_service_that_stopped_is_no_resource() -> None:
    one = machine()
    one.state.services["kubelet"].state = "Finished"
    result = answers(one, "List", {"namespace": "runtime", "type": SERVICES})
    names = [each["resource"]["metadata"]["id"] for each in result]  # type: ignore[index]

    assert "kubelet" not in names
    assert "apid" in names
