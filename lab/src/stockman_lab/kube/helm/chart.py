"""Charts that the lab knows: where they are found, which versions there are, what they hold."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from stockman_lab.kube.objects import Object, Tree

_FOLDER = "charts"
_VERSION = re.compile(r"(v?)(\d+)\.(\d+)\.(\d+)(?:[-+][0-9A-Za-z.\-+]+)?")


@dataclass(frozen=True, slots=True)
class Chart:
    """One version of a chart."""

    name: str
    version: str
    app_version: str
    told: Object
    """How it is described."""

    @property
    def digest(self) -> str:
        """Of the chart in a registry: always the same for one version."""
        told = f"{self.name}@{self.version}"
        return f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"

    @property
    def metadata(self) -> Object:
        """As in its `Chart.yaml`."""
        made: Object = {"name": self.name, "version": self.version, "apiVersion": "v2"}
        if self.app_version:
            made["appVersion"] = self.app_version
        return {**made, "type": "application"}


@cache
def _charts() -> dict[str, Object]:
    """Descriptions by the places where charts are found."""
    objects: dict[str, Object] = {}
    for file in sorted(files(__package__).joinpath(_FOLDER).iterdir(), key=lambda one: one.name):
        if file.name.endswith(".yaml"):
            told = _read(file.read_text("utf-8"))
            for place in told["places"]:
                objects[place] = told
    return objects


def _read(text: str) -> Object:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: Object = yaml.load(text, Loader=loader)  # noqa: S506  # both are safe
    return found


def names() -> list[str]:
    """All charts that the lab knows."""
    return sorted({str(one["name"]) for one in _charts().values()})


def known(url: str, tag: str) -> Chart | None:
    """The chart under an address of a registry. None: there is no such chart or version."""
    place = url.rstrip("/")
    return _found(_charts().get(place if "://" in place else f"oci://{place}"), tag)


def newest(url: str) -> Chart | None:
    """The newest version of a chart in a registry. None: there is no such chart."""
    told = _charts().get(url.rstrip("/"))
    return None if told is None else _found(told, str(told["newest"]))


def is_known(url: str, tag: str = "") -> bool:
    """Whether there is a chart at a place under a tag, or without a tag anything at all.

    A place is one of a registry, a repository, or a chart below the address of a repository.
    """
    place = url.rstrip("/")
    if not tag:
        return any(one == place or one.startswith(f"{place} ") for one in _charts())
    if known(place, tag) is not None:
        return True
    repository, _, name = place.rpartition("/")
    return known_in(repository, name, tag) is not None


def known_in(repository: str, name: str, version: str = "") -> Chart | None:
    """The chart of a name in a repository, at its newest unless a version is named."""
    place = repository.rstrip("/")
    told = _charts().get(f"{place}/{name}" if place.startswith("oci://") else f"{place} {name}")
    if told is None:
        return None
    return _found(told, version or str(told["newest"]))


def _found(told: Object | None, version: str) -> Chart | None:
    if told is None:
        return None
    latest, asked = _VERSION.fullmatch(str(told["newest"])), _VERSION.fullmatch(version)
    if latest is None or asked is None or int(asked[2]) > int(latest[2]):
        return None
    if told.get("strict") and asked[1] != latest[1]:
        return None
    return Chart(str(told["name"]), version, _app_version(told.get("app"), version), told)


def _app_version(told: Tree, version: str) -> str:
    if isinstance(told, dict):
        told = told.get(version, told.get("*", ""))
    text = str(told or "")
    return text.replace("{version}", version).replace("{bare}", version.removeprefix("v"))
