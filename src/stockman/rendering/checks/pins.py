"""Check versions: charts and images are pinned, and charts have known versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from stockman.model.component import all_component_facts
from stockman.model.pattern import pattern
from stockman.rendering.checks.objects import Content, TreeObject, mapping_at, mappings_at, text_at

FLOATING = ("latest", "main", "master", "edge", "nightly", "stable")
"""Tags that move."""
_SOURCES = "source.toolkit.fluxcd.io"
_RELEASES = "helm.toolkit.fluxcd.io"
_EXACT = pattern(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


class LoosePin(NamedTuple):
    """A version that is not exact."""

    part: str
    """`image` or `chart`."""
    name: str
    why: str


class UnknownChart(NamedTuple):
    """A chart of the catalog in an unknown version."""

    chart: str
    version: str
    known: str


def loose_pins(item: TreeObject) -> Iterator[LoosePin]:
    """Return images and charts of an object whose version is not pinned."""
    if item.is_a(_SOURCES, "OCIRepository"):
        reference = mapping_at(item.spec, "ref")
        if not text_at(reference, "digest"):
            yield from _chart(text_at(item.spec, "url"), text_at(reference, "tag"))
    elif item.is_a(_RELEASES, "HelmRelease") and "chart" in item.spec:
        chart_spec = mapping_at(mapping_at(item.spec, "chart"), "spec")
        yield from _chart(text_at(chart_spec, "chart"), text_at(chart_spec, "version"))
    elif item.is_a(_SOURCES, "GitRepository"):
        reference = mapping_at(item.spec, "ref")
        if item.name != "flux-system" and not {"tag", "commit"} & set(reference):
            yield LoosePin("source", text_at(item.spec, "url"), "it has neither a tag nor a commit")
    yield from _images(item.content)


def unknown_charts(item: TreeObject) -> Iterator[UnknownChart]:
    """Return the chart of the catalog that an object uses, if its version is unknown."""
    if item.is_a(_SOURCES, "OCIRepository"):
        where, version = text_at(item.spec, "url"), text_at(mapping_at(item.spec, "ref"), "tag")
    elif item.is_a(_RELEASES, "HelmRelease") and "chart" in item.spec:
        chart_spec = mapping_at(mapping_at(item.spec, "chart"), "spec")
        where, version = text_at(chart_spec, "chart"), text_at(chart_spec, "version")
    else:
        return
    versions = _known_versions().get(where)
    if versions is not None and version and version not in versions:
        yield UnknownChart(where, version, ", ".join(versions))


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


def _chart(name: str, version: str) -> Iterator[LoosePin]:
    if not version:
        yield LoosePin("chart", name, "it has no version")
    elif "${" not in version and not _EXACT.fullmatch(version):
        yield LoosePin("chart", name, f"{version} is not one exact version")


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
