"""Groups, versions and resources are told of."""

from __future__ import annotations

from stockman_lab.kube.discovery.aggregated import aggregated
from stockman_lab.kube.discovery.groups import api_versions, group_list, resource_list
from stockman_lab.kube.schema.types import Types

from lab.tests.kube.widgets import types_with

SERVER = Types.of_server()
WIDGETS = types_with({}, subresources={"status": {}, "scale": {}})


def test_the_first_group_has_no_name_and_tells_where_the_server_is() -> None:
    found = api_versions("10.42.0.1:6443")

    assert found["versions"] == ["v1"]
    assert found["serverAddressByClientCIDRs"][0]["serverAddress"] == "10.42.0.1:6443"


def test_custom_groups_come_last() -> None:
    names = [group["name"] for group in group_list(WIDGETS)["groups"]]

    assert names[0] == "apiregistration.k8s.io"
    assert names[-1] == "example.org"


def test_resources_come_with_what_is_below_them() -> None:
    found = resource_list(WIDGETS, "example.org", "v1")

    assert found is not None
    assert [resource["name"] for resource in found["resources"]] == [
        *("widgets", "widgets/status", "widgets/scale")
    ]
    assert found["resources"][2]["group"] == "autoscaling"
    assert resource_list(WIDGETS, "example.org", "v2") is None


def test_aggregated_discovery_tells_everything_at_once() -> None:
    found = aggregated(WIDGETS, is_legacy=False)

    by_name = {one["metadata"]["name"]: one for one in found["items"]}
    assert by_name.keys() == {group.name for group in WIDGETS.groups() if group.name}
    (version,) = by_name["example.org"]["versions"]
    (widgets,) = version["resources"]
    assert widgets["scope"] == "Namespaced"
    assert widgets["responseKind"] == {"group": "example.org", "version": "v1", "kind": "Widget"}
    assert [subresource["subresource"] for subresource in widgets["subresources"]] == [
        "status",
        "scale",
    ]


def test_the_group_without_a_name_is_told_apart() -> None:
    (found,) = aggregated(WIDGETS, is_legacy=True)["items"]

    assert found["metadata"] == {}
    assert found["versions"][0]["resources"][0]["responseKind"]["group"] == ""
