"""Where a HelmRelease gets its chart and its values from."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from stockman_lab.kube.controllers.objects import Objects, named_key
from stockman_lab.kube.helm import chart as charts
from stockman_lab.kube.helm.chart import Chart
from stockman_lab.kube.helm.values import BadValues, merged, read_values, set_values
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

SOURCES = "source.toolkit.fluxcd.io"
_DIGITS = 12


class NotReady(Exception):
    """A source without an artifact: why."""


class NoSource(Exception):
    """A source that is not there, or cannot be read: reason and words."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Loaded:
    """A chart from a source."""

    chart: Chart
    version: str
    """As the release calls it."""
    digest: str = ""
    """Of the artifact in a registry."""


def source_key(release: Object) -> tuple[str, str]:
    """The kind of the source of a HelmRelease as a plural, and its `namespace/name`.

    Only OCIRepositories are simulated.
    """
    about = metadata_of(release)
    reference = part_of(release, "spec", "chartRef")
    plural = "ocirepositories" if reference.get("kind") == "OCIRepository" else ""
    space = str(reference.get("namespace") or about["namespace"])
    return plural, f"{space}/{reference.get('name')}"


def loaded(objects: Objects, release: Object, *, tracks_digest: bool) -> Loaded:
    """The chart of a HelmRelease; raises `NotReady` or `NoSource`."""
    plural, key = source_key(release)
    content = objects.get(plural, key, SOURCES) if plural else None
    if content is None:
        kind = f"{plural}.{SOURCES}"
        name = key.rpartition("/")[2]
        raise NoSource("ArtifactFailed", f'could not get Source object: {kind} "{name}" not found')
    _check_ready(content)
    chart = _from_registry(content)
    if chart is None:
        raise NoSource("ArtifactFailed", "Could not load chart: failed to load chart from artifact")
    revision = str(part_of(content, "status", "artifact").get("revision", ""))
    digest = revision.rpartition("@")[2]
    if not tracks_digest:
        return Loaded(chart, chart.version, digest)
    short = digest.partition(":")[2][:_DIGITS]
    return Loaded(chart, f"{chart.version.removeprefix('v')}+{short}", digest)


def _check_ready(source: Object) -> None:
    about, status = metadata_of(source), part_of(source, "status")
    what = f"{source['kind']} '{about['namespace']}/{about['name']}' is not ready:"
    conditions = {entry.get("type"): entry for entry in entries_of(status, "conditions")}
    if about.get("generation") != status.get("observedGeneration"):
        ready = conditions.get("Ready", {})
        why = "latest generation of object has not been reconciled"
        if ready.get("status") == "False":
            why = str(ready.get("message"))
        raise NotReady(f"{what} {why}")
    if conditions.get("Stalled", {}).get("status") == "True":
        raise NotReady(f"{what} {conditions['Stalled'].get('message')}")
    if not part_of(status, "artifact"):
        raise NotReady(f"{what} does not have an artifact")


def _from_registry(source: Object) -> Chart | None:
    revision = str(part_of(source, "status", "artifact").get("revision", ""))
    tag = revision.partition("@")[0] if "@" in revision else ""
    tag = tag or str(part_of(source, "spec", "ref").get("tag", ""))
    return charts.known(str(part_of(source, "spec").get("url", "")), tag.replace("_", "+"))


def values_of(objects: Objects, release: Object) -> Object:
    """The values of a HelmRelease, those of references under its own; raises `NoSource`."""
    space = str(metadata_of(release)["namespace"])
    content: Object = {}
    for entry in entries_of(release, "spec", "valuesFrom"):
        content = merged(content, _read_reference(objects, space, entry))
    return merged(content, part_of(release, "spec", "values"))


def _read_reference(objects: Objects, space: str, content: Object) -> Object:
    kind, name = str(content.get("kind", "")), str(content.get("name", ""))
    key = str(content.get("valuesKey") or "values.yaml")
    what = f"could not resolve {kind} chart values reference '{space}/{name}' with key '{key}'"
    plural = "secrets" if kind == "Secret" else "configmaps"
    result = objects.get(plural, named_key(space, name))
    data = part_of(result or {}, "data")
    if result is None or key not in data:
        if content.get("optional"):
            return {}
        why = f"missing key '{key}'" if result is not None else f'{plural} "{name}" not found'
        raise NoSource("ValuesError", f"{what}: {why}")
    text = str(data[key])
    if kind == "Secret":
        text = base64.b64decode(text).decode("utf-8", "replace")
    try:
        path = str(content.get("targetPath") or "")
        return set_values(f"{path}={text}") if path else read_values(text, key)
    except BadValues as why:
        raise NoSource("ValuesError", f"{what}: {why}") from None
