"""Bodies that are no objects, or none of what they should be."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import CORE, made
from tests.real.kube_api.talking import Step, asked

_MAPS = f"{CORE}/configmaps"
_YAML = "application/yaml"


def _generation(number: str) -> str:
    return f'{{"metadata":{{"name":"q","generation":{number}}}}}'


def _with(name: str, value: str) -> str:
    return f'{{"metadata":{{"{name}":{value},"name":"t"}}}}'


_IN_JSON: tuple[str | bytes, ...] = (
    *("{", '{"a"', '{"metadata":{"name":"q"},}', "nul", '"x"', "5", "null", "true", "\x00"),
    *('{"metadata":{"name":"q"}} x', b"\xff\xfe{}", '{"metadata":{"name":"\\ud800"}}'),
    b'{"metadata":{"name":"q"},"data":{"a":"\xff"}}',
    *(_generation(one) for one in ("1e400", "NaN", "9" * 20, "1.5", "-0", "01", '"x"')),
    *('{"metadata":[]}', '{"metadata":"x"}', '{"metadata":null}', '{"kind":5}'),
    *('{"apiVersion":[]}', '{"kind":null,"metadata":{"name":"nul"}}', "{}"),
    *('{"METADATA":{"name":"case"}}', '{"metadata":{"NAME":"case"}}', '{"metadata":{"name":5}}'),
    *('{"metadata":{"labels":{"a":5}}}', '{"metadata":{"labels":["a"]}}'),
    '{"metadata":{"annotations":{"a":null},"name":"annull"}}',
    '{"metadata":{"creationTimestamp":"yesterday","name":"t"}}',
    *('{"metadata":{"ownerReferences":[{}],"name":"t"}}', '{"metadata":{"name":".."}}'),
    *(_with("finalizers", f'["{one}"]') for one in ("bad one", "x", "a/b/c")),
    *('{"data":{"a b":"c"},"metadata":{"name":"t"}}', '{"data":{"":"c"},"metadata":{"name":"t"}}'),
    '{"binaryData":{"a":"!!"},"metadata":{"name":"t"}}',
    '{"immutable":"yes","metadata":{"name":"t"}}',
    *(_with("labels", f'{{"{one}":"b"}}') for one in ("a/b/c", "x" * 64, "A_/b")),
    '{"metadata":{"labels":{"a":"b c"},"name":"t"}}',
    _with("labels", '{"a":"' + "x" * 64 + '"}'),
    '{"metadata":{"annotations":{"a b":"b"},"name":"t"}}',
    '{"metadata":{"name":"t","managedFields":[{"operation":"X"}]}}',
    '{"metadata":{"name":"t","resourceVersion":"5"}}',
    '{"metadata":{"name":"u","uid":"x","generation":7,"deletionTimestamp":"2020-01-01T00:00:00Z"}}',
    '{"foo":' + "[" * 10_001 + "]" * 10_001 + "}",
    "[" * 100_000,
    "x" * (3 * (1 << 20) + 1),
)
_IN_YAML: tuple[str | bytes, ...] = (
    *("", "a: b: c", "- x", "x", "5", "null", "metadata:\n\tname: x", "metadata: &a [*a]"),
    "---\nmetadata:\n  name: y1\n---\nmetadata:\n  name: y2\n",
    *("metadata: {name: y3}\ndata: {a: yes}", "metadata: *nope", "!!odd/thing {}"),
    "a: &a [x,x,x,x,x,x,x,x]\n"
    + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdef", "bcdefg", strict=True)
    ),
    *("metadata:\n  name: x\n bad: y\n", "metadata: {name: y5}\ndata: {1: x, true: z}"),
    *("metadata: {name: y7, generation: 1_000}", "metadata: {name: y10, generation: .inf}"),
    *("\x01", b"\xff\xfe", b"metadata: {name: \xff}"),
)
_TYPES = ("application/json; charset=utf-8", "APPLICATION/JSON", "text/plain", "json", "*/*", ";")
_ACCEPTED = (
    *("application/json;as=Table;g=meta.k8s.io;v=v2", "application/json;as=Foo;g=meta.k8s.io;v=v1"),
    *("application/json;as=Table", "text/*", "application/json;stream=watch", "bla"),
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
)


def broken_bodies() -> Iterator[Step]:
    yield Step("POST", _MAPS, made("ConfigMap", "v1", "a", data={"k": "v"}))
    for body in _IN_JSON:
        yield Step("POST", _MAPS, body)
    for text in _IN_YAML:
        yield Step("POST", asked(_MAPS, dryRun="All"), text, _YAML)
    doubled = '{"data":{"a":"b","a":"c"},"metadata":{"name":"dup"}}'
    yield Step("POST", _MAPS, doubled)
    yield Step("POST", asked(_MAPS, fieldValidation="Strict"), doubled)
    for kind in _TYPES:
        yield Step("POST", asked(_MAPS, dryRun="All"), made("ConfigMap", "v1", "ct"), kind)
    for accept in _ACCEPTED:
        yield Step("GET", f"{_MAPS}/a", headers={"Accept": accept})
    yield Step("GET", _MAPS, headers={"Accept": "text/plain"})
    large = {"a": "x" * ((1 << 20) + 1)}
    yield Step("POST", _MAPS, made("ConfigMap", "v1", "large", data=large))
    annotations = {"annotations": {"a": "x" * (256 << 10)}}
    yield Step("POST", _MAPS, made("ConfigMap", "v1", "large", metadata=annotations))
    owners = [
        {"apiVersion": "v1", "kind": "X", "name": "n" * 200, "uid": str(number)}
        for number in range(8000)
    ]
    yield Step(
        "POST", _MAPS, made("ConfigMap", "v1", "large", metadata={"ownerReferences": owners})
    )
