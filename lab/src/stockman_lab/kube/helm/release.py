"""Releases as Helm keeps them: one Secret per revision, with everything in it."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

from stockman_lab.kube.objects import Object, metadata_of, part_of

KIND = "helm.sh/release.v1"
PREFIX = "sh.helm.release.v1."
_LEVEL = 9


@dataclass(slots=True)
class Release:
    """One revision of a release."""

    name: str
    namespace: str
    revision: int
    chart: Object
    """The metadata of its chart."""
    values: Object
    objects: list[Object]
    first: float
    last: float
    status: str = "pending-install"
    description: str = ""
    deleted: float = 0.0
    notes: str = ""
    hooks: list[Object] = field(default_factory=list)

    @property
    def is_pending(self) -> bool:
        return self.status.startswith("pending-")

    @property
    def manifest(self) -> str:
        """All objects as one text, of YAML that is JSON."""
        name = self.chart.get("name")
        return "".join(
            f"---\n# Source: {name}/templates/{content['kind'].lower()}.yaml\n"
            f"{json.dumps(content)}\n"
            for content in self.objects
        )

    @property
    def info(self) -> Object:
        """When and how it became what it is."""
        content: Object = {
            "first_deployed": _moment(self.first),
            "last_deployed": _moment(self.last),
            "deleted": _moment(self.deleted) if self.deleted else "",
            "description": self.description,
            "status": self.status,
        }
        return {**content, "notes": self.notes} if self.notes else content

    @property
    def content(self) -> Object:
        """The whole, as Helm writes it down."""
        return {
            "name": self.name,
            "info": self.info,
            "chart": {
                "metadata": self.chart,
                "lock": None,
                "templates": [],
                "values": {},
                "schema": None,
                "files": None,
            },
            "config": self.values,
            "manifest": self.manifest,
            "version": self.revision,
            "namespace": self.namespace,
        }

    @property
    def secret_name(self) -> str:
        return f"{PREFIX}{self.name}.v{self.revision}"

    def secret(self, now: float, *, is_new: bool) -> Object:
        """The Secret in which it is kept."""
        packed = gzip.compress(json.dumps(self.content).encode(), _LEVEL, mtime=0)
        inner = base64.b64encode(packed)
        labels = {
            "createdAt" if is_new else "modifiedAt": str(int(now)),
            "name": self.name,
            "owner": "helm",
            "status": self.status,
            "version": str(self.revision),
        }
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": self.secret_name,
                "namespace": self.namespace,
                "labels": labels,
            },
            "data": {"release": base64.b64encode(inner).decode()},
            "type": KIND,
        }


def read_release(secret: Object) -> Release | None:
    """The release in a Secret; None: there is none, or it cannot be read."""
    text = part_of(secret, "data").get("release")
    if not isinstance(text, str):
        return None
    try:
        packed = base64.b64decode(base64.b64decode(text))
        content = json.loads(gzip.decompress(packed))
    except (ValueError, OSError, EOFError):
        return None
    info = content.get("info") or {}
    return Release(
        name=content["name"],
        namespace=content.get("namespace") or str(metadata_of(secret).get("namespace", "")),
        revision=int(content["version"]),
        chart=part_of(content, "chart", "metadata"),
        values=content.get("config") or {},
        objects=_objects(content.get("manifest") or ""),
        first=_seconds(info.get("first_deployed")),
        last=_seconds(info.get("last_deployed")),
        status=str(info.get("status", "unknown")),
        description=str(info.get("description", "")),
        deleted=_seconds(info.get("deleted")),
        notes=str(info.get("notes", "")),
    )


def _objects(text: str) -> list[Object]:
    """Objects of a manifest that the lab wrote: one in each line that is no remark."""
    lines = [item for item in text.splitlines() if item.startswith("{")]
    return [json.loads(line) for line in lines]


def _moment(seconds: float) -> str:
    fromtimestamp = datetime.fromtimestamp(seconds, UTC)
    return fromtimestamp.strftime("%Y-%m-%dT%H:%M:%S.") + f"{fromtimestamp.microsecond * 1000:09d}Z"


def _seconds(text: object) -> float:
    if not isinstance(text, str) or not text:
        return 0.0
    whole, _, part = text.removesuffix("Z").partition(".")
    base = datetime.fromisoformat(f"{whole}+00:00" if "+" not in whole else whole).timestamp()
    return base + (float(f"0.{part}") if part.isdigit() else 0.0)
