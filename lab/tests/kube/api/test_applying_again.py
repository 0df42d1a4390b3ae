"""Who applies the same again changes nothing, and gets the same answer as long as that holds."""

from __future__ import annotations

from typing import Any

from lab.tests.kube.asking import APPLY, MAPS, Served, served
from lab.tests.kube.widgets import definition, widget

_MAP = f"{MAPS}/one"
_WANTED = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "one"},
    "data": {"wool": "white"},
}
_HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WIDGET = "/apis/example.org/v1/namespaces/default/widgets/one"


def _applied(api: Served, path: str, content: object, manager: str = "dog") -> Any:
    return api.ask("PATCH", f"{path}?fieldManager={manager}&force=true", content, APPLY)


def test_an_object_stays_at_its_version_however_often_the_same_is_applied() -> None:
    api = served()

    found = []
    for _ in range(3):
        found.append(_applied(api, _MAP, _WANTED))
        api.now += 60.0

    assert found[0] == found[1] == found[2]
    assert api.ask("GET", _MAP) == found[0]


def test_what_another_changed_meanwhile_is_put_back() -> None:
    api = served()
    for _ in range(2):
        _applied(api, _MAP, _WANTED)
    _applied(api, _MAP, {**_WANTED, "data": {"wool": "black"}}, "wolf")

    found = _applied(api, _MAP, _WANTED)

    assert found["data"] == {"wool": "white"}
    assert api.ask("GET", _MAP) == found


def test_somebody_else_who_applies_the_same_becomes_a_manager_too() -> None:
    api = served()
    for _ in range(2):
        _applied(api, _MAP, _WANTED)

    found = _applied(api, _MAP, _WANTED, "shepherd")

    assert {managed_field["manager"] for managed_field in found["metadata"]["managedFields"]} == {
        "dog",
        "shepherd",
    }


def test_nobody_is_answered_without_a_quorum() -> None:
    api = served(3)
    for _ in range(2):
        _applied(api, _MAP, _WANTED)
    del api.alive[1:]

    answer = api.respond("PATCH", f"{_MAP}?fieldManager=dog&force=true", _WANTED, APPLY)

    assert answer.status == 500


def test_a_default_that_a_definition_gained_is_filled_in() -> None:
    api = served()
    spec: dict[str, Any] = {"type": "object", "properties": {"legs": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    api.ask("POST", _DEFINITIONS, definition(schema))
    for _ in range(2):
        before = _applied(api, _WIDGET, widget())
    spec["properties"]["legs"]["default"] = 4
    place = f"{_DEFINITIONS}/widgets.example.org"
    api.ask("PATCH", place, definition(schema), "application/merge-patch+json")

    found = _applied(api, _WIDGET, widget())

    assert before["spec"] == {}
    assert found["spec"] == {"legs": 4}
