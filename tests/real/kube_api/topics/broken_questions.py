"""Patches, options, queries and paths that make no sense."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import CORE, made
from tests.real.kube_api.talking import APPLY, JSON_PATCH, MERGE, STRATEGIC, Step, asked

_MAPS = f"{CORE}/configmaps"
_ONE = f"{_MAPS}/a"
_OBJECT = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"%s}%s}'
_PATCHES = {
    JSON_PATCH: (
        *("", "{", "{}", "[{}]", "null", "[null]", '["x"]', '[{"op":5}]'),
        *('[{"op":"bad","path":"/data"}]', '[{"op":"add","path":"data"}]'),
        *('[{"op":"remove","path":"/data/nope"}]', '[{"op":"test","path":"/data/k","value":"w"}]'),
        *('[{"op":"move","from":"/data/k"}]', '[{"op":"copy","from":"/nope","path":"/data/c"}]'),
        *('[{"op":"add","path":"/data/k","value":5}]', '[{"op":"remove","path":"/metadata"}]'),
        '[{"op":"add","path":"/metadata/name","value":"b"}]',
        '[{"op":"add","path":"/metadata/finalizers/5","value":"x/y"}]',
    ),
    MERGE: (
        *("", "[]", "{", "null", '"x"', "5", '{"data":5}', '{"data":{"a":5}}', '{"foo":1}'),
        *('{"metadata":null}', '{"metadata":{"name":"z"}}', '{"metadata":{"uid":"z"}}'),
        *('{"metadata":{"resourceVersion":"1"}}', '{"metadata":{"resourceVersion":"x"}}'),
        *('{"kind":"Foo"}', '{"apiVersion":"v2"}', '{"metadata":{"namespace":"other"}}'),
        *('{"metadata":{"labels":{"a b":"c"}}}', '{"metadata":{"generation":5}}'),
        *('{"metadata":{"deletionTimestamp":"2001-01-01T00:00:00Z"}}',),
    ),
    STRATEGIC: (
        *("", "[]", "{", "null", '"x"', '{"$patch":"bad"}', '{"$patch":"delete"}'),
        *('{"data":{"$patch":"merge"}}', '{"data":{"$retainKeys":["k"]}}'),
        '{"metadata":{"$deleteFromPrimitiveList/finalizers":"x"}}',
        '{"metadata":{"ownerReferences":[{"$patch":"delete"}]}}',
    ),
    APPLY: (
        *("", "[]", "null", "a: b: c", '"x"', "x: &a [*a]", '{"metadata":{"name":"a"}}'),
        _OBJECT.replace("ConfigMap", "Secret") % ("", ""),
        _OBJECT.replace('"a"', '"b"') % ("", ""),
        *(_OBJECT % ("", ',"data":{"k":5}'), _OBJECT % ("", ',"foo":1')),
        *(_OBJECT % (',"resourceVersion":"1"', ""), _OBJECT % (',"uid":"1"', "")),
        _OBJECT % (',"managedFields":[{"manager":"x"}]', ""),
    ),
    "application/foo": ("{}",),
    "application/json": ("{}",),
}
_DELETIONS = (
    *("{", "[]", "5", '{"gracePeriodSeconds":"x"}', '{"kind":"Foo","apiVersion":"v1"}'),
    *('{"dryRun":["x"]}', '{"dryRun":"All"}', '{"preconditions":5}', '{"orphanDependents":"x"}'),
    '{"foo":1,"dryRun":["All"]}',
)
_QUERIES = (
    *("limit=-1", "limit=1.5", "limit=99999999999999999999", "limit=&continue=x", "continue=x"),
    "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIifQ",
    "continue=eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6ImEifQ",
    "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0",
    "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi9hIn0",
    *("continue=bnVsbA", "resourceVersion=-1", "resourceVersion=18446744073709551616"),
    *("resourceVersion=0&resourceVersionMatch=NotOlderThan", "timeoutSeconds=x"),
    *("resourceVersion=1&resourceVersionMatch=NotOlderThan", "timeoutSeconds=-5"),
    *("resourceVersion=1&resourceVersionMatch=exact", "sendInitialEvents=false", "watch=false"),
    *("labelSelector=%3D", "labelSelector=a%20in%20()", "labelSelector=a%3Eb", "labelSelector=-"),
    *("labelSelector=a%3E5", "labelSelector=%21", "labelSelector=a%2Fb%2Fc", "labelSelector=("),
    *("labelSelector=a%3Db%20c", f"labelSelector=a%3D{'x' * 64}", "labelSelector=%C3%A9"),
    *("labelSelector=a%2C%2Cb", "fieldSelector=metadata.name%3Da%5C", "fieldSelector=%3D"),
    *("fieldSelector=metadata.name%3D%3Da%3Db", "fieldSelector=%2C", "%zz=1", "limit=1;x"),
)
_PATHS = (
    *("//api", "/api/v1//configmaps", "/api/v1/namespaces//configmaps/a", "/api/v2", "/foo"),
    *(f"{CORE}/../configmaps", f"{_MAPS}/%2e%2e", f"{_MAPS}/a%2fb", f"{_MAPS}/a/b/c"),
    *(f"{_MAPS}/%61", f"{_MAPS}/A", f"{_MAPS}/x_y%20z", "/apis/foo", "/apis/apps/v9"),
    *(f"{_ONE}?resourceVersion=-1", f"{_ONE}?resourceVersion=99999999999999999999"),
    *(f"{_ONE}?export=1", f"{CORE}/pods/x/exec", f"{CORE}/pods/x/log", "/api/v1/nodes/x/proxy/"),
)


def broken_questions() -> Iterator[Step]:
    yield Step("POST", _MAPS, made("ConfigMap", "v1", "a", data={"k": "v"}))
    yield Step("POST", _MAPS, made("ConfigMap", "v1", "b"))
    for kind, bodies in _PATCHES.items():
        for body in bodies:
            path = asked(_ONE, fieldManager="m") if kind == APPLY else _ONE
            yield Step("PATCH", path, body, kind)
    yield Step("PATCH", asked(_ONE, force="true"), {}, MERGE)
    yield Step("PATCH", asked(_ONE, fieldManager="x\ny"), {}, MERGE)
    for dry in ("dryRun=", "dryRun=All&dryRun=All", "dryRun=All&dryRun=x"):
        yield Step("PATCH", f"{_ONE}?{dry}", {}, MERGE)
    for body in _DELETIONS:
        yield Step("DELETE", _ONE, body)
    for query in ("gracePeriodSeconds=x", "propagationPolicy=x", "dryRun=x"):
        yield Step("DELETE", f"{_ONE}?{query}")
    for query in _QUERIES:
        yield Step("GET", f"{_MAPS}?{query}")
    for path in _PATHS:
        yield Step("GET", path)
    yield Step("POST", "/version")
    yield Step("FOO", _ONE)
    yield Step("DELETE", asked(_ONE, dryRun="All"), {"propagationPolicy": "Background"})
    yield Step("GET", _ONE)
    yield from _logs()


def _logs() -> Iterator[Step]:
    spec = {"containers": [{"name": name, "image": "x"} for name in ("a", "b")]}
    yield Step("POST", f"{CORE}/pods", made("Pod", "v1", "two", spec=spec))
    for query in (
        *("", "container=a", "container=z", "container=a&tailLines=-1", "tailLines=x"),
        *("sinceSeconds=0", "sinceSeconds=5&sinceTime=2020-01-01T00:00:00Z", "sinceTime=x"),
        *("limitBytes=0", "stream=Stdout", "container=a&follow=true"),
    ):
        yield Step("GET", f"{CORE}/pods/two/log?{query}")
    yield Step("GET", f"{CORE}/pods/two/portforward")
    yield Step("POST", f"{CORE}/pods/two/exec?command=ls")
