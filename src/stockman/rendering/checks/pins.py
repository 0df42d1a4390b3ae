"""Versions: charts and images are written down exactly, and charts are those of the tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from stockman.model.component import all_component_facts
from stockman.rendering.checks.objects import Content, TreeObject, mapping_at, mappings_at, text_at

FLOATING = ("latest", "main", "master", "edge", "nightly", "stable")
"""Tags that mean something else tomorrow."""
_SOURCES = "source.toolkit.fluxcd.io"
_RELEASES = "helm.toolkit.fluxcd.io"
_EXACT = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


class LoosePin(NamedTuple):
    """A version that is not exact."""

    what: str
    """`image` or `chart`."""
    name: str
    why: str


class UnknownChart(NamedTuple):
    """A chart of the catalog in a version that the tables do not name."""

    chart: str
    version: str
    known: str


def loose_pins(one: TreeObject) -> Iterator[LoosePin]:
    """Images and charts of an object that may change by themselves."""
    if one.is_a(_SOURCES, "OCIRepository"):
        reference = mapping_at(one.spec, "ref")
        if not text_at(reference, "digest"):
            yield from _chart(text_at(one.spec, "url"), text_at(reference, "tag"))
    elif one.is_a(_RELEASES, "HelmRelease") and "chart" in one.spec:
        wanted = mapping_at(mapping_at(one.spec, "chart"), "spec")
        yield from _chart(text_at(wanted, "chart"), text_at(wanted, "version"))
    elif one.is_a(_SOURCES, "GitRepository"):
        reference = mapping_at(one.spec, "ref")
        if one.name != "flux-system" and not {"tag", "commit"} & set(reference):
            yield LoosePin(
                "source", text_at(one.spec, "url"), "neither a tag nor a commit is named"
            )
    yield from _images(one.content)


def unknown_charts(one: TreeObject) -> Iterator[UnknownChart]:
    """The chart of the catalog that an object names, if the tables do not name its version."""
    if one.is_a(_SOURCES, "OCIRepository"):
        where, version = text_at(one.spec, "url"), text_at(mapping_at(one.spec, "ref"), "tag")
    elif one.is_a(_RELEASES, "HelmRelease") and "chart" in one.spec:
        wanted = mapping_at(mapping_at(one.spec, "chart"), "spec")
        where, version = text_at(wanted, "chart"), text_at(wanted, "version")
    else:
        return
    versions = _known_versions().get(where)
    if versions is not None and version and version not in versions:
        yield UnknownChart(where, version, ", ".join(versions))


@cache
def _known_versions() -> Mapping[str, tuple[str, ...]]:
    """Versions by address of an OCI chart, and by name of a chart in a repository."""
    found: dict[str, tuple[str, ...]] = {}
    for one in all_component_facts():
        if one.tag:
            key = one.repository if one.repository.startswith("oci://") else one.chart
            found[key] = (*found.get(key, ()), one.tag)
        for name, artifact in one.further.items():
            key = artifact.repository if artifact.repository.startswith("oci://") else name
            found[key] = (*found.get(key, ()), artifact.tag)
    return found


def _chart(name: str, version: str) -> Iterator[LoosePin]:
    if not version:
        yield LoosePin("chart", name, "no version is named")
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
        for one in inner:
            yield from _images(one, below)


def _override_image(value: Content) -> Iterator[LoosePin]:
    for one in mappings_at(value, "images"):
        if text_at(one, "newTag") in FLOATING:
            yield LoosePin("image", text_at(one, "name"), f"the tag {text_at(one, 'newTag')} moves")


def _image_of_text(image: str) -> Iterator[LoosePin]:
    if not image or "@" in image or "${" in image or "{{" in image:
        return
    name, colon, tag = image.rpartition(":")
    if not colon or "/" in tag:
        yield LoosePin("image", image, "no tag is named")
    elif tag in FLOATING:
        yield LoosePin("image", name, f"the tag {tag} moves")


def _image_of_mapping(image: Content, *, needs_tag: bool) -> Iterator[LoosePin]:
    """`repository` and `tag` of charts; a tag that is left out is the chart's own.

    Charts of other people's containers have none of their own.
    """
    name, tag = text_at(image, "repository"), text_at(image, "tag")
    if text_at(image, "digest"):
        return
    if tag in FLOATING:
        yield LoosePin("image", name, f"the tag {tag} moves")
    elif name and needs_tag and "tag" not in image:
        yield LoosePin("image", name, "no tag is named")
