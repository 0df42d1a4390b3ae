"""Checks of rendered objects: metadata, dependencies, pinned images and references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from stockman.model.component import all_component_facts
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.rendering.checks.kinds import SUBSTITUTED, Fault
from stockman.rendering.checks.objects import (
    FLUX,
    KUSTOMIZE,
    AppliedObject,
    AppliedTree,
    Content,
    TreeObject,
    mapping_at,
    mappings_at,
    text_at,
)

_NAME = pattern(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_LABEL = pattern(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
_FIELDS = frozenset(
    {
        "annotations",
        "creationTimestamp",
        "finalizers",
        "generateName",
        "labels",
        "name",
        "namespace",
        "ownerReferences",
    }
)


def find_metadata_faults(item: TreeObject) -> Iterator[Fault]:
    """Return everything in the metadata that is invalid for every kind."""
    if item.group == KUSTOMIZE:
        return
    metadata = item.content.get("metadata")
    if not isinstance(metadata, dict):
        yield Fault("metadata", "an object must have a name")
        return
    for key in metadata.keys() - _FIELDS:
        yield Fault(f"metadata.{key}", "the field does not exist")
    for key in ("name", "namespace"):
        value = metadata.get(key, "" if key == "name" else None)
        if value is not None and not _matches(_NAME, value):
            yield Fault(
                f"metadata.{key}", "only lower-case letters, digits, dots and hyphens are allowed"
            )
    for key in ("labels", "annotations"):
        values = metadata.get(key, {})
        for name, value in values.items() if isinstance(values, dict) else ((key, values),):
            path = f"metadata.{key}.{name}"
            if not isinstance(value, str):
                yield Fault(path, "the value is not a string: quote it")
            elif key == "labels" and not _matches(_LABEL, value):
                yield Fault(path, f"the value does not match {_LABEL.pattern}")


def _matches(expression: re.Pattern[str], value: object) -> bool:
    if not isinstance(value, str):
        return False
    return SUBSTITUTED in value or expression.fullmatch(value) is not None


AppName = tuple[str, str]
"""Namespace and name."""


def _apps(application: AppliedTree) -> dict[AppName, AppliedObject]:
    return {
        (applied.namespace, applied.object.name): applied
        for applied in application.objects
        if applied.object.is_a(FLUX, "Kustomization")
    }


def _dependencies(applied: AppliedObject) -> Iterator[AppName]:
    for entry in mappings_at(applied.object.spec, "dependsOn"):
        yield text_at(entry, "namespace") or applied.namespace, text_at(entry, "name")


def check_order(application: AppliedTree, problems: Problems) -> None:
    """Report apps that depend on a missing app or on themselves."""
    apps = _apps(application)
    for applied in apps.values():
        for dependency in _dependencies(applied):
            if applied.object.ours and dependency not in apps:
                missing = "/".join(dependency)
                problems.error(
                    "render.depends-missing",
                    f"the app {applied.object.name} depends on {missing}, which does not exist",
                    at=applied.object.path,
                    why="Flux would wait forever",
                    fix=f"correct dependsOn of {applied.object.name}, or render {missing}",
                )
    for cycle in _cycles(apps):
        problems.error(
            "render.depends-circle",
            f"the app {cycle[0][1]} depends on itself",
            at=apps[cycle[0]].object.path,
            why=" -> ".join(name for _, name in cycle),
            fix="remove one of these dependencies from dependsOn",
        )


def _cycles(apps: Mapping[AppName, AppliedObject]) -> Iterator[tuple[AppName, ...]]:
    """Return each cycle once, starting at the first of its apps, which is repeated at the end."""
    done: set[AppName] = set()
    for start in apps:
        path = [start] if start not in done else []
        waits = [iter(_dependencies(apps[name])) for name in path]
        while path:
            following = next(waits[-1], None)
            if following is None:
                done.add(path.pop())
                waits.pop()
            elif following in path:
                yield (*path[path.index(following) :], following)
            elif following in apps and following not in done:
                path.append(following)
                waits.append(iter(_dependencies(apps[following])))


FLOATING = ("latest", "main", "master", "edge", "nightly", "stable")
"""Tags that move."""
_SOURCES = "source.toolkit.fluxcd.io"
_RELEASES = "helm.toolkit.fluxcd.io"
_EXACT = pattern(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


class LoosePin(NamedTuple):
    """A version that is not exact."""

    part: str
    """`image`, `chart` or `source`."""
    name: str
    why: str


def check_pins(item: TreeObject, asked_for: frozenset[str], problems: Problems) -> None:
    """Report images and charts of an object whose version is not pinned, or not known.

    Versions `asked_for` in the configuration are checked there.
    """
    chart = _chart_version(item)
    for loose in (*_loose_sources(item, chart), *_images(item.content)):
        problems.error(
            "render.unpinned",
            f"{item.title} does not pin the version of {loose.name}",
            at=item.path,
            why=loose.why,
            fix=f"use one exact version of this {loose.part}",
        )
    name, version = chart or ("", "")
    known = _known_versions().get(name)
    if known is not None and version and version not in known and version not in asked_for:
        problems.warn(
            "render.chart-unknown",
            f"{name} {version} is not a known version",
            at=item.path,
            why=f"the rendered values were checked with {', '.join(known)}",
            fix="use the known version, or compare the default values of both charts",
        )


def _chart_version(item: TreeObject) -> tuple[str, str] | None:
    """Return URL or name of the chart that an object uses, and its version. None: it uses none."""
    if item.is_a(_SOURCES, "OCIRepository"):
        return text_at(item.spec, "url"), text_at(mapping_at(item.spec, "ref"), "tag")
    if item.is_a(_RELEASES, "HelmRelease") and "chart" in item.spec:
        chart_spec = mapping_at(mapping_at(item.spec, "chart"), "spec")
        return text_at(chart_spec, "chart"), text_at(chart_spec, "version")
    return None


def _loose_sources(item: TreeObject, chart: tuple[str, str] | None) -> Iterator[LoosePin]:
    reference = mapping_at(item.spec, "ref")
    if chart is not None and not text_at(reference, "digest"):
        name, version = chart
        if not version:
            yield LoosePin("chart", name, "it has no version")
        elif "${" not in version and not _EXACT.fullmatch(version):
            yield LoosePin("chart", name, f"{version} is not one exact version")
    own = item.name == "flux-system"  # it follows a branch
    if item.is_a(_SOURCES, "GitRepository") and not own and not {"tag", "commit"} & set(reference):
        yield LoosePin("source", text_at(item.spec, "url"), "it has neither a tag nor a commit")


@cache
def _known_versions() -> Mapping[str, tuple[str, ...]]:
    """Return known versions by URL of an OCI chart, and by name of a chart in a repository."""
    versions: dict[str, tuple[str, ...]] = {}
    for facts in all_component_facts():
        if facts.tag:
            key = facts.repository if facts.repository.startswith("oci://") else facts.chart
            versions[key] = (*versions.get(key, ()), facts.tag)
        for name, artifact in facts.artifacts.items():
            key = artifact.repository if artifact.repository.startswith("oci://") else name
            versions[key] = (*versions.get(key, ()), artifact.tag)
    return versions


def _images(value: object, key: str = "") -> Iterator[LoosePin]:
    if isinstance(value, list):
        for item in value:
            yield from _images(item, key)
        return
    if not isinstance(value, dict):
        return
    for name, item in value.items():
        if name == "image" and isinstance(item, str):
            yield from _image_of_text(item)
        elif name == "image" and isinstance(item, dict):
            yield from _image_of_mapping(item, needs_tag=key in _CONTAINERS)
        elif name == "images":
            yield from _override_image(value)
        below = name if name in _CONTAINERS else key if key == name else ""
        inner = item.values() if name in _CONTAINERS and isinstance(item, dict) else (item,)
        for container in inner:
            yield from _images(container, below)


def _override_image(value: Content) -> Iterator[LoosePin]:
    for image in mappings_at(value, "images"):
        if text_at(image, "newTag") in FLOATING:
            yield LoosePin(
                "image", text_at(image, "name"), f"the tag {text_at(image, 'newTag')} is not fixed"
            )


def _image_of_text(image: str) -> Iterator[LoosePin]:
    if not image or "@" in image or "${" in image or "{{" in image:
        return
    name, colon, tag = image.rpartition(":")
    if not colon or "/" in tag:
        yield LoosePin("image", image, "it has no tag")
    elif tag in FLOATING:
        yield LoosePin("image", name, f"the tag {tag} is not fixed")


def _image_of_mapping(image: Content, *, needs_tag: bool) -> Iterator[LoosePin]:
    """Return the image of `repository` and `tag` in chart values; without a tag the chart has a
    default.

    Charts that run images of other projects have no default.
    """
    name, tag = text_at(image, "repository"), text_at(image, "tag")
    if text_at(image, "digest"):
        return
    if tag in FLOATING:
        yield LoosePin("image", name, f"the tag {tag} is not fixed")
    elif name and needs_tag and "tag" not in image:
        yield LoosePin("image", name, "it has no tag")


_CERTIFICATE_KEYS = frozenset({"tls.crt", "tls.key", "ca.crt"})
_REFERENCE_KEYS = {
    "configMapKeyRef": "ConfigMap",
    "configMapRef": "ConfigMap",
    "secretKeyRef": "Secret",
    "secretRef": "Secret",
    "templatesRef": "Secret",
}
_VOLUMES = {"secret": ("Secret", "secretName"), "configMap": ("ConfigMap", "name")}
_LIST_KEYS = ("substituteFrom", "valuesFrom", "certificateRefs")
_CREATED_BY_CONSUMER = {
    "privateKeySecretRef": "cert-manager creates it when it registers an account",
}
_CSI = "csi.storage.k8s.io/"


class Reference(NamedTuple):
    """A reference to a Secret or ConfigMap."""

    kind: str
    namespace: str
    name: str
    key: str
    """Empty: all keys."""
    reason: str
    """Why it may be missing from the tree. Empty: it must exist."""


class ExternalReference(NamedTuple):
    """A reference to an object that is created outside of the tree."""

    path: str
    kind: str
    name: str
    reason: str


KnownReferences = Mapping[tuple[str, str, str], frozenset[str] | None]
"""Keys by kind, namespace and name. None: the keys are unknown."""


def known_references(application: AppliedTree) -> KnownReferences:
    """Return every Secret and ConfigMap that will exist."""
    known: dict[tuple[str, str, str], frozenset[str] | None] = {
        (generated.kind, generated.namespace, generated.name): generated.keys
        for generated in application.generated
    }
    for applied in application.objects:
        item = applied.object
        if item.is_a("", "Secret", "ConfigMap"):
            fields = ("data", "stringData", "binaryData")
            keys = frozenset(key for field in fields for key in mapping_at(item.content, field))
            known[item.kind, applied.namespace, item.name] = keys
        elif item.is_a("cert-manager.io", "Certificate"):
            name = text_at(item.spec, "secretName")
            known["Secret", applied.namespace, name] = _CERTIFICATE_KEYS
    return known


def references(applied: AppliedObject) -> Iterator[Reference]:
    """Return every Secret and ConfigMap that an object refers to."""
    for reference in _walk_references(applied.object.content):
        yield reference if reference.namespace else reference._replace(namespace=applied.home)


def _walk_references(value: object) -> Iterator[Reference]:
    if isinstance(value, list):
        for item in value:
            yield from _walk_references(item)
    elif isinstance(value, dict):
        yield from _references_in(value)
        for item in value.values():
            yield from _walk_references(item)


def _references_in(value: Mapping[object, object]) -> Iterator[Reference]:
    named = {key: item for key, item in value.items() if isinstance(key, str)}
    for key, item in named.items():
        if isinstance(item, dict):
            yield from _mapping_references(key, item)
        elif isinstance(item, str):
            yield from _value_references(named, key, item)
    for key in _LIST_KEYS:
        for entry in mappings_at(named, key):
            keys = text_at(entry, "valuesKey")
            if key == "valuesFrom" and not keys:
                keys = "values.yaml"
            yield from _reference(text_at(entry, "kind") or "Secret", entry, keys)


def _mapping_references(key: str, item: Content) -> Iterator[Reference]:
    if kind := _REFERENCE_KEYS.get(key):
        yield from _reference(kind, item, text_at(item, "key"))
    elif key in _CREATED_BY_CONSUMER:
        for reference in _reference("Secret", item, ""):
            yield reference._replace(reason=_CREATED_BY_CONSUMER[key])
    elif key.endswith("SecretRef"):
        yield from _reference("Secret", item, text_at(item, "key"))
    elif key in _VOLUMES:
        kind, field = _VOLUMES[key]
        if name := text_at(item, field):
            yield from _reference(kind, {**item, "name": name}, "")


def _value_references(value: Content, key: str, name: str) -> Iterator[Reference]:
    """Return references in chart values, and in parameters of storage classes."""
    if not name:
        return
    if key.startswith("existing") and key.endswith("Secret"):
        yield Reference("Secret", "", name, text_at(value, f"{key}Key"), "")
    elif key.startswith(_CSI) and key.endswith("-secret-name"):
        namespace = text_at(value, f"{key.removesuffix('-name')}-namespace")
        yield Reference("Secret", namespace, name, "", "")


def _reference(kind: str, item: Content, key: str) -> Iterator[Reference]:
    if item.get("optional") is not True and (name := text_at(item, "name")):
        yield Reference(kind, text_at(item, "namespace"), name, key, "")


def check_references(
    application: AppliedTree, pending: Mapping[str, str], problems: Problems
) -> tuple[ExternalReference, ...]:
    """Report references to missing objects and keys; return those created elsewhere.

    `pending` maps suspended apps to what they wait for.
    """
    known = known_references(application)
    elsewhere: dict[ExternalReference, None] = {}
    for applied in (applied for applied in application.objects if applied.object.ours):
        path = applied.object.path
        for reference in references(applied):
            target = (reference.kind, reference.namespace, reference.name)
            keys = known.get(target, frozenset())
            if target in known and (keys is None or not reference.key or reference.key in keys):
                continue
            reason = reference.reason
            if not reason and applied.app in pending:
                reason = f"the app waits for {pending[applied.app]}"
            if reason:
                external = ExternalReference(path, reference.kind, reference.name, reason)
                elsewhere[external] = None
                continue
            key = f"key {reference.key} of the " if target in known else ""
            problems.error(
                "render.reference",
                f"{applied.object.title} needs the {key}{reference.kind} {reference.name}, which "
                "does not exist",
                at=path,
                why=f"no file{in_namespace(reference.namespace)} creates it, and the object cannot "
                "start without it",
                fix=f"render it, or correct the reference in {path}",
            )
    return tuple(elsewhere)


def in_namespace(namespace: str) -> str:
    """Return words for messages; empty without a namespace."""
    return f" in the namespace {namespace}" if namespace else ""
