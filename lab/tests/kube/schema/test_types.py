"""What kinds there are, and how they are made."""

from __future__ import annotations

import pytest
from stockman_lab.kube.schema.type import Kind, ListKind
from stockman_lab.kube.schema.types import Types, UnknownKind

from lab.tests.kube.widgets import definition, types_with

SERVER = Types.of_server()


def test_a_resource_is_found_by_its_path() -> None:
    resource = SERVER.resource("apps", "v1", "deployments")

    assert resource is not None
    assert (resource.kind, resource.namespaced, resource.short_names) == (
        "Deployment",
        True,
        ("deploy",),
    )
    assert resource.subresources["scale"].group == "autoscaling"
    assert (resource.api_version, resource.qualified) == ("apps/v1", "deployments.apps")
    assert SERVER.resource("apps", "v2", "deployments") is None


def test_a_resource_is_found_by_its_kind() -> None:
    resource = SERVER.resource_of_kind("", "v1", "Endpoints")

    assert resource is not None
    assert resource.plural == "endpoints"
    assert SERVER.resource_of_kind("", "v1", "Nothing") is None


def test_types_are_walked_by_names_and_places() -> None:
    deployment = SERVER.type_of("apps", "v1", "Deployment")

    ports = deployment.at(["spec", "template", "spec", "containers", 0, "ports"])

    assert ports is not None
    assert ports.list_kind is ListKind.MAP
    assert ports.keys == ("containerPort", "protocol")
    assert (ports.merges, ports.merge_key) == (True, "containerPort")
    assert deployment.at(["spec", "nothing", "below"]) is None


def test_fields_say_what_go_says_of_them() -> None:
    spec = SERVER.type_of("apps", "v1", "Deployment").at(["spec"])
    assert spec is not None

    replicas, paused, template = (spec.field(one) for one in ("replicas", "paused", "template"))

    assert replicas is not None
    assert replicas.pointer
    assert replicas.type.format == "int32"
    assert paused is not None
    assert (paused.pointer, paused.omitted) == (False, True)
    assert template is not None
    assert (template.required, template.omitted) == (True, False)


def test_atomic_maps_and_enumerations_are_known() -> None:
    pod = SERVER.type_of("", "v1", "Pod")

    node_selector, policy = pod.at(["spec", "nodeSelector"]), pod.at(["spec", "restartPolicy"])

    assert node_selector is not None
    assert node_selector.atomic
    assert policy is not None
    assert policy.enum == ("Always", "Never", "OnFailure")


@pytest.mark.parametrize("kind", ["DeleteOptions", "Status", "WatchEvent"])
def test_some_kinds_are_of_every_group(kind: str) -> None:
    assert SERVER.type_of("batch", "v1", kind).name == f"meta.v1.{kind}"


@pytest.mark.parametrize("kind", [("apps", "v1", "Nothing"), ("example.org", "v1", "Widget")])
def test_a_kind_that_is_not_there_is_said_so(kind: tuple[str, str, str]) -> None:
    with pytest.raises(UnknownKind):
        SERVER.type_of(*kind)


def test_every_resource_has_a_type_for_itself_and_its_list() -> None:
    for resource in SERVER.resources():
        if "list" in resource.verbs:
            made = SERVER.type_of(resource.group, resource.version, resource.kind)
            assert made.kind is Kind.OBJECT
            assert (
                "items"
                in SERVER.type_of(resource.group, resource.version, resource.list_kind).fields
            )


def test_every_field_of_every_type_can_be_read() -> None:
    seen: set[str] = set()
    waiting = [
        SERVER.type_of(resource.group, resource.version, resource.kind)
        for resource in SERVER.resources()
    ]
    while waiting:
        made = waiting.pop()
        if made.element is not None:
            waiting.append(made.element)
        if made.name not in seen:
            seen.add(made.name)
            waiting += [field.type for field in made.fields.values()]

    assert "core.v1.Container" in seen
    assert len(seen) > 300


def test_custom_kinds_come_and_go() -> None:
    types = types_with({})

    resource = types.resource("example.org", "v1", "widgets")

    assert resource is not None
    assert resource.is_custom
    assert (resource.singular, resource.list_kind) == ("widget", "WidgetList")
    assert types.groups()[-1].name == "example.org"
    assert types.type_of("example.org", "v1", "WidgetList").at(["items", 0, "spec"]) is not None
    assert types.without_crd("widgets.example.org").resource("example.org", "v1", "widgets") is None
    assert SERVER.resource("example.org", "v1", "widgets") is None


def test_a_version_that_is_not_served_is_not_there() -> None:
    types = SERVER.with_crd(definition({"type": "object"}, served=False))

    assert types.resource("example.org", "v1", "widgets") is None
    assert types.groups() == SERVER.groups()


def test_versions_of_a_group_are_told_newest_first() -> None:
    crd = definition({"type": "object"})
    names = ["v1alpha1", "v2beta1", "v1", "v10", "foo", "v2"]
    (version,) = crd["spec"]["versions"]
    crd["spec"]["versions"] = [{**version, "name": name} for name in names]

    group = SERVER.with_crd(crd).groups()[-1]

    assert group.versions == ("v10", "v2", "v1", "v2beta1", "v1alpha1", "foo")


def test_custom_objects_have_metadata_that_are_known() -> None:
    types = types_with({"properties": {"size": {"type": "integer"}}})

    labels = types.type_of("example.org", "v1", "Widget").at(["metadata", "labels", "a"])

    assert labels is not None
    assert labels.kind is Kind.STRING
