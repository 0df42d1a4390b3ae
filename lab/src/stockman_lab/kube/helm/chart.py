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
        content: Object = {"name": self.name, "version": self.version, "apiVersion": "v2"}
        if self.app_version:
            content["appVersion"] = self.app_version
        return {**content, "type": "application"}


@cache
def _charts() -> dict[str, Object]:
    """Descriptions by the places where charts are found."""
    objects: dict[str, Object] = {}
    for file in sorted(files(__package__).joinpath(_FOLDER).iterdir(), key=lambda item: item.name):
        if file.name.endswith(".yaml"):
            told = _read(file.read_text("utf-8"))
            for place in told["places"]:
                objects[place] = told
    return objects


def _read(text: str) -> Object:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content: Object = yaml.load(text, Loader=loader)  # noqa: S506  # both are safe
    return content


def names() -> list[str]:
    """All charts that the lab knows."""
    return sorted({str(item["name"]) for item in _charts().values()})


def known(url: str, tag: str) -> Chart | None:
    """The chart under an address of a registry. None: there is no such chart or version."""
    key = url.rstrip("/")
    return _found(_charts().get(key if "://" in key else f"oci://{key}"), tag)


def newest(url: str) -> Chart | None:
    """The newest version of a chart in a registry. None: there is no such chart."""
    content = _charts().get(url.rstrip("/"))
    return None if content is None else _found(content, str(content["newest"]))


def known_in(repository: str, name: str, version: str = "") -> Chart | None:
    """The chart of a name in a repository, at its newest unless a version is named."""
    key = repository.rstrip("/")
    content = _charts().get(f"{key}/{name}" if key.startswith("oci://") else f"{key} {name}")
    if content is None:
        return None
    return _found(content, version or str(content["newest"]))


def _found(content: Object | None, version: str) -> Chart | None:
    if content is None:
        return None
    latest, requested = _VERSION.fullmatch(str(content["newest"])), _VERSION.fullmatch(version)
    if latest is None or requested is None or int(requested[2]) > int(latest[2]):
        return None
    if content.get("strict") and requested[1] != latest[1]:
        return None
    return Chart(str(content["name"]), version, _app_version(content.get("app"), version), content)


def _app_version(content: Tree, version: str) -> str:
    if isinstance(content, dict):
        content = content.get(version, content.get("*", ""))
    text = str(content or "")
    return text.replace("{version}", version).replace("{bare}", version.removeprefix("v"))
