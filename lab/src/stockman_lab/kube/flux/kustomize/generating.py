"""ConfigMaps and Secrets that a kustomization makes from files and words."""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re

from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.identity import Identity
from stockman_lab.kube.flux.kustomize.patches import Read
from stockman_lab.kube.flux.kustomize.resource import Resource, Resources, append, ever_called
from stockman_lab.kube.objects import Object, metadata_of, part_of

_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_LETTERS = str.maketrans("013ae", "ghkmt")


def generated(kind: str, entry: Object, common: Object, read: Read) -> Resource:
    """What one entry of a generator makes."""
    name = str(entry.get("name") or "")
    if not name:
        raise BuildFailure("a configmap must have a name")
    options = _options(entry.get("options") or {}, common)
    content: Object = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
    if entry.get("namespace"):
        content["metadata"]["namespace"] = entry["namespace"]
    for part in ("labels", "annotations"):
        if options.get(part):
            content["metadata"][part] = dict(options[part])
    if kind == "Secret":
        content["type"] = entry.get("type") or "Opaque"
    for key, value in _data(entry, name, read).items():
        _put(content, key, value)
    if options.get("immutable"):
        content["immutable"] = True
    needs_hash = not options.get("disableNameSuffixHash")
    return Resource(content, behavior=str(entry.get("behavior") or ""), needs_hash=needs_hash)


def _options(own: Object, common: Object) -> Object:
    options = {**common, **own}
    for part in ("labels", "annotations"):
        options[part] = {**(common.get(part) or {}), **(own.get(part) or {})}
    for word in ("disableNameSuffixHash", "immutable"):
        options[word] = bool(own.get(word)) or bool(common.get(word))
    return options


def _put(content: Object, key: str, value: bytes) -> None:
    if content["kind"] == "Secret":
        content.setdefault("data", {})[key] = base64.b64encode(value).decode()
        return
    try:
        content.setdefault("data", {})[key] = value.decode()
    except UnicodeDecodeError:
        if not content["data"]:
            del content["data"]
        content.setdefault("binaryData", {})[key] = base64.b64encode(value).decode()


def _data(entry: Object, name: str, read: Read) -> dict[str, bytes]:
    pairs: list[tuple[str, bytes]] = []
    paths = [*(entry.get("envs") or ()), *([entry["env"]] if entry.get("env") else ())]
    for what, sources, pairs_of in (
        ("env source files:", paths, _variables),
        ("literal sources", entry.get("literals") or (), _literal),
        ("file sources:", entry.get("files") or (), _file),
    ):
        for source in sources:
            try:
                pairs += pairs_of(str(source), read)
            except BuildFailure as why:
                shown = " ".join(map(str, sources))
                raise BuildFailure(f"loading KV pairs: {what} [{shown}]: {why}") from None
    values: dict[str, bytes] = {}
    for key, value in pairs:
        if not _KEY.fullmatch(key) or key in {".", ".."}:
            raise BuildFailure(f'"{key}" is not a valid key name')
        if key in values:
            raise BuildFailure(f"configmap {name} illegally repeats the key `{key}`")
        values[key] = value
    return values


def _variables(path: str, read: Read) -> list[tuple[str, bytes]]:
    variables = []
    for line in read(path).decode("utf-8-sig").splitlines():
        text = line.lstrip()
        if text and not text.startswith("#"):
            name, equals, value = text.partition("=")
            variables.append((name, value.encode() if equals else b""))
    return variables


def _literal(source: str, _: Read) -> list[tuple[str, bytes]]:
    name, equals, value = source.partition("=")
    if not equals or not name:
        raise BuildFailure(f"invalid literal source {source}, expected key=value")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return [(name, value.encode())]


def _file(source: str, read: Read) -> list[tuple[str, bytes]]:
    name, equals, path = source.partition("=")
    if not equals:
        return [(posixpath.basename(source), read(source))]
    if "=" in path:
        raise BuildFailure(f"source \"{source}\" key name or file path contains '='")
    if not name:
        raise BuildFailure(f'missing key name for file path "{path}" in source "{source}"')
    if not path:
        raise BuildFailure(f'missing file path for key name "{name}" in source "{source}"')
    return [(name, read(path))]


def absorb(resources: Resources, made: Resource) -> None:
    """Add what a generator made, or let it change what there is."""
    name = made.now
    found = ever_called(resources, name.is_same)
    if not found:
        if made.behavior in {"merge", "replace"}:
            raise BuildFailure(f"id {_in_go(name)} does not exist; cannot merge or replace")
        append(resources, made)
        return
    old = found[0]
    if made.behavior not in {"merge", "replace"}:
        behavior = made.behavior or "unspecified"
        raise BuildFailure(
            f"id {_in_go(name)} exists; can not use behavior: '{behavior}',"
            " behavior must be merge or replace"
        )
    for part in ("labels", "annotations"):
        both = {**(metadata_of(old.content).get(part) or {}), **(_own(made, part))}
        if both:
            made.content["metadata"][part] = both
    if made.behavior == "merge":
        for part in ("data", "binaryData"):
            both = {**part_of(old.content, part), **part_of(made.content, part)}
            if both:
                made.content[part] = both
    made.content["metadata"] = {**old.content["metadata"], **made.content["metadata"]}
    made.content["metadata"]["name"] = old.content["metadata"]["name"]
    made.before = list(old.before)
    made.prefixes, made.suffixes = list(old.prefixes), list(old.suffixes)
    made.needs_hash = made.needs_hash or old.needs_hash
    resources[resources.index(old)] = made


def _own(made: Resource, part: str) -> Object:
    return metadata_of(made.content).get(part) or {}


def _in_go(name: Identity) -> str:
    return (
        f'resid.ResId{{Gvk:resid.Gvk{{Group:"{name.group}", Version:"{name.version}",'
        f' Kind:"{name.kind}", isClusterScoped:{str(name.is_cluster_wide).lower()}}},'
        f' Name:"{name.name}", Namespace:"{name.namespace}"}}'
    )


def add_hashes(resources: Resources) -> None:
    """Name what generators made after what is in it."""
    for resource in resources:
        if resource.needs_hash:
            resource.remember()
            resource.rename(f"{resource.now.name}-{hash_of(resource.content)}")


def hash_of(content: Object) -> str:
    """Ten letters for what a ConfigMap or a Secret holds."""
    kind = content["kind"]
    said: Object = {"data": content.get("data") or "", "kind": kind}
    said["name"] = ""
    if kind == "Secret":
        said["type"] = content.get("type", "")
    more = "stringData" if kind == "Secret" else "binaryData"
    if content.get(more):
        said[more] = content[more]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return hashlib.sha256(text.encode()).hexdigest()[:10].translate(_LETTERS)
