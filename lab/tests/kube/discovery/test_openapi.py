"""OpenAPI documents have what clients look for."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.discovery.openapi import document_v2, document_v3, group_version_paths
from stockman_lab.kube.schema.types import Types

from lab.tests.kube.widgets import types_with

SERVER = Types.of_server()
APPS = document_v3(SERVER, "apps", "v1", "1.36")
SCHEMAS = APPS["components"]["schemas"]


def references(value: Any) -> set[str]:
    """All definitions that a document refers to."""
    if isinstance(value, dict):
        own = {value["$ref"].rpartition("/")[2]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_there_is_a_document_for_every_version_of_every_group() -> None:
    paths = [path for _, _, path in group_version_paths(SERVER)]

    assert paths[0] == "api/v1"
    assert "apis/apps/v1" in paths


def test_documents_refer_only_to_what_they_define() -> None:
    for group, version, _ in group_version_paths(SERVER):
        document = document_v3(SERVER, group, version, "1.36")
        assert references(document) <= document["components"]["schemas"].keys()
    whole = document_v2(SERVER, "1.36")
    assert references(whole) <= whole["definitions"].keys()


def test_patches_say_that_they_can_be_checked() -> None:
    path = APPS["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]

    names = [parameter["name"] for parameter in path["patch"]["parameters"]]

    assert "fieldValidation" in names
    assert path["get"]["x-kubernetes-group-version-kind"]["kind"] == "Deployment"


def test_lists_say_how_they_are_merged() -> None:
    containers = SCHEMAS["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]

    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-patch-strategy"] == "merge"


def test_kinds_are_marked_and_fields_required() -> None:
    deployment = SCHEMAS["io.k8s.api.apps.v1.Deployment"]

    assert deployment["x-kubernetes-group-version-kind"] == [
        {"group": "apps", "kind": "Deployment", "version": "v1"}
    ]
    assert SCHEMAS["io.k8s.api.apps.v1.DeploymentSpec"]["required"] == ["selector", "template"]


def test_custom_kinds_keep_their_schema_and_gain_what_every_object_has() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    types = types_with({"properties": {"size": {"type": "integer"}, "pod": embedded}})

    schemas = document_v3(types, "example.org", "v1", "1.36")["components"]["schemas"]

    widget = schemas["org.example.v1.Widget"]
    assert widget["properties"].keys() == {"apiVersion", "kind", "metadata", "spec"}
    spec = widget["properties"]["spec"]["properties"]
    assert spec["size"] == {"type": "integer"}
    assert spec["pod"]["required"] == ["apiVersion", "kind"]
    assert schemas["org.example.v1.WidgetList"]["required"] == ["items"]
