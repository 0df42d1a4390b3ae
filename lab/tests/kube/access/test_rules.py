"""Rules of roles: what they allow, and what is missing in them."""

from __future__ import annotations

import pytest
from stockman_lab.kube.access.attributes import Attributes, attributes_of
from stockman_lab.kube.access.rules import Rule, uncovered
from stockman_lab.kube.api.messages import Request

PODS = Rule(("get", "list"), ("",), ("pods",))


@pytest.mark.parametrize(
    ("rule", "asked", "allowed"),
    [
        (PODS, Attributes(verb="get", resource="pods", name="one"), True),
        (PODS, Attributes(verb="watch", resource="pods"), False),
        (PODS, Attributes(verb="get", resource="pods", subresource="log"), False),
        (PODS, Attributes(verb="get", group="apps", resource="pods"), False),
        (
            Rule(("get",), ("",), ("*/scale",)),
            Attributes(verb="get", resource="x", subresource="scale"),
            True,
        ),
        (Rule(("*",), ("*",), ("*",)), Attributes(verb="x", group="y", resource="z"), True),
        (Rule(("*",), ("*",), ("*",)), Attributes(verb="get", path="/metrics"), False),
        (
            Rule(("get",), ("",), ("pods",), ("one",)),
            Attributes(verb="get", resource="pods", name="two"),
            False,
        ),
        (
            Rule(("get",), ("",), ("pods",), ("one",)),
            Attributes(verb="get", resource="pods", name="one"),
            True,
        ),
        (Rule(("get",), paths=("/logs/*",)), Attributes(verb="get", path="/logs/kubelet"), True),
        (Rule(("get",), paths=("/logs/*",)), Attributes(verb="get", path="/metrics"), False),
        (Rule(("get",), paths=("/logs",)), Attributes(verb="get", path="/logs/kubelet"), False),
    ],
)
def test_a_rule_allows_what_it_names(rule: Rule, asked: Attributes, allowed: bool) -> None:
    assert rule.allows(asked) is allowed


def test_what_is_missing_is_put_together_again() -> None:
    rule = Rule(("get", "list", "watch"), ("",), ("pods", "secrets"))

    missing = uncovered([PODS], [rule])

    assert [one.shown for one in missing] == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}',
    ]


def test_nothing_is_missing_under_a_rule_for_everything() -> None:
    assert not uncovered([Rule(("*",), ("*",), ("*",))], [PODS])


def test_a_rule_for_single_objects_covers_no_others() -> None:
    single = Rule(("get", "list"), ("",), ("pods",), ("one",))

    assert uncovered([single], [PODS])
    assert not uncovered([PODS], [single])


@pytest.mark.parametrize(
    ("method", "path", "query", "verb", "resource", "namespace", "name"),
    [
        ("GET", "/api/v1/pods", {}, "list", "pods", "", ""),
        ("GET", "/api/v1/pods", {"watch": ["true"]}, "watch", "pods", "", ""),
        ("GET", "/api/v1/watch/pods", {}, "watch", "pods", "", ""),
        ("GET", "/api/v1/namespaces/a/pods/b", {}, "get", "pods", "a", "b"),
        ("DELETE", "/api/v1/namespaces/a/pods", {}, "deletecollection", "pods", "a", ""),
        ("PATCH", "/apis/apps/v1/namespaces/a/deployments/b", {}, "patch", "deployments", "a", "b"),
        ("POST", "/api/v1/namespaces/a/pods/b/log", {}, "create", "pods/log", "a", "b"),
        ("GET", "/api/v1/namespaces/a", {}, "get", "namespaces", "a", "a"),
        ("PUT", "/api/v1/namespaces/a/finalize", {}, "update", "namespaces/finalize", "a", "a"),
        ("GET", "/api/v1/namespaces", {}, "list", "namespaces", "", ""),
        (
            *("GET", "/api/v1/pods", {"fieldSelector": ["metadata.name=b"]}),
            *("list", "pods", "", "b"),
        ),
    ],
)
def test_a_path_says_what_is_wanted(
    method: str,
    path: str,
    query: dict[str, list[str]],
    verb: str,
    resource: str,
    namespace: str,
    name: str,
) -> None:
    attributes = attributes_of(Request(method, path, query))

    assert (attributes.verb, attributes.qualified, attributes.namespace, attributes.name) == (
        *(verb, resource, namespace, name),
    )
    assert not attributes.path


@pytest.mark.parametrize("path", ["/", "/healthz", "/api", "/api/v1", "/apis/apps/v1", "/version/"])
def test_other_paths_are_about_no_objects(path: str) -> None:
    attributes = attributes_of(Request("GET", path))

    assert (attributes.path, attributes.verb, attributes.resource) == (path, "get", "")
