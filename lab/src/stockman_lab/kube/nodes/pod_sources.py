"""Secrets and ConfigMaps that pods are given: a pod does not begin before they are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of


@dataclass(frozen=True, slots=True)
class Source:
    """A Secret or ConfigMap that something of a pod is taken from."""

    kind: str
    """`Secret` or `ConfigMap`."""
    name: str
    keys: tuple[str, ...] = ()
    """Keys of it that have to be there. Empty: whatever it has."""
    optional: bool = False

    @property
    def called(self) -> str:
        return f'{self.kind.lower()} "{self.name}"'


def missing_mount(objects: Objects, pod: Object) -> str:
    """Why a volume of a pod cannot be mounted, in the words of the kubelet. Empty: all can."""
    used = {
        entry.get("name")
        for kind in ("initContainers", "containers")
        for container in entries_of(pod, "spec", kind)
        for entry in entries_of(container, "volumeMounts")
    }
    for volume in entries_of(pod, "spec", "volumes"):
        for source in _sources(volume) if volume.get("name") in used else ():
            why = _lack(objects, pod, source, _no_such_file(source))
            if why:
                return f'MountVolume.SetUp failed for volume "{volume["name"]}" : {why}'
    return ""


def missing_variable(objects: Objects, pod: Object, container: Object) -> str:
    """Why a container cannot have its environment, in the words of the kubelet. Empty: it can."""
    space = metadata_of(pod).get("namespace", "")
    for source in (*_all_of(container), *_single(container)):
        key = next(iter(source.keys), "")
        no_key = f"couldn't find key {key} in {source.kind} {space}/{source.name}"
        why = _lack(objects, pod, source, no_key)
        if why:
            return why
    return ""


def _lack(objects: Objects, pod: Object, source: Source, no_key: str) -> str:
    if source.optional:
        return ""
    space = metadata_of(pod).get("namespace", "")
    content = objects.get(f"{source.kind.lower()}s", f"{space}/{source.name}")
    if content is None:
        return f"{source.called} not found"
    there = {
        *part_of(content, "data"),
        *part_of(content, "binaryData"),
        *part_of(content, "stringData"),
    }
    return no_key if {*source.keys} - there else ""


def _no_such_file(source: Source) -> str:
    what = "secret" if source.kind == "Secret" else "config"
    return f"references non-existent {what} key: {', '.join(source.keys)}"


def _sources(volume: Object) -> Iterator[Source]:
    secret = part_of(volume, "secret")
    if "secret" in volume:
        yield _source("Secret", secret.get("secretName"), secret, _items(secret))
    if "configMap" in volume:
        config_map = part_of(volume, "configMap")
        yield _source("ConfigMap", config_map.get("name"), config_map, _items(config_map))
    for entry in entries_of(volume, "projected", "sources"):
        for key, kind in (("secret", "Secret"), ("configMap", "ConfigMap")):
            if key in entry:
                config_map = part_of(entry, key)
                yield _source(kind, config_map.get("name"), config_map, _items(config_map))


def _all_of(container: Object) -> Iterator[Source]:
    for entry in entries_of(container, "envFrom"):
        for key, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
            if key in entry:
                result = part_of(entry, key)
                yield _source(kind, result.get("name"), result)


def _single(container: Object) -> Iterator[Source]:
    for entry in entries_of(container, "env"):
        for key, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
            value_from = part_of(entry, "valueFrom", key)
            if value_from:
                yield _source(
                    kind, value_from.get("name"), value_from, (str(value_from.get("key", "")),)
                )


def _source(kind: str, name: object, content: Object, keys: Iterable[str] = ()) -> Source:
    return Source(kind, str(name or ""), tuple(keys), bool(content.get("optional")))


def _items(content: Object) -> Iterator[str]:
    return (str(entry.get("key", "")) for entry in entries_of(content, "items"))
