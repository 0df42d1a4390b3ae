"""In which form an answer is wanted, and in which form a request came."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from stockman_lab.kube.failures import About, Failure

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_OFFERED = (JSON, YAML)
_NAMED = f"{JSON}, {YAML}, {PROTOBUF}"
_META = "meta.k8s.io"
_KINDS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """How an answer is to look."""

    media_type: str = JSON
    kind: str = ""
    """`Table`, `PartialObjectMetadata` or `PartialObjectMetadataList`; empty: the object."""
    version: str = "v1"
    pretty: bool = False

    @property
    def is_table(self) -> bool:
        return self.kind == "Table"

    @property
    def is_metadata(self) -> bool:
        return self.kind.startswith("PartialObjectMetadata")

    @property
    def content_type(self) -> str:
        """As the answer names it."""
        return self.media_type


@dataclass(frozen=True, slots=True)
class _Range:
    name: str
    quality: float
    parameters: dict[str, str] = field(default_factory=dict)


def _ranges(accept: str) -> list[_Range]:
    ranges = []
    for part in accept.split(","):
        name, *rest = (one.strip() for one in part.split(";"))
        if not name:
            continue
        pairs = dict(one.partition("=")[::2] for one in rest)
        try:
            quality = float(pairs.pop("q", "1"))
        except ValueError:
            quality = 1.0
        ranges.append(_Range(name, quality, pairs))
    return sorted(ranges, key=lambda one: -one.quality)


@lru_cache(maxsize=256)
def negotiated(accept: str, *, streams: bool = True, pretty: bool = False) -> Wanted:
    """What is answered to an `Accept` header, where lists may be watched; raises `Failure`."""
    is_understood = False
    ranges = _ranges(accept) or [_Range("*/*", 1.0)]
    for range_ in ranges:
        media = JSON if range_.name in {"*/*", "application/*"} else range_.name
        if media not in _OFFERED:
            continue
        kind = range_.parameters.get("as", "")
        if kind:
            is_understood = True
            version = range_.parameters.get("v", "")
            if kind not in _KINDS or range_.parameters.get("g") != _META:
                continue
            if version not in {"v1", "v1beta1"}:
                continue
            return Wanted(media, kind, version, pretty)
        return Wanted(media, pretty=pretty)
    if is_understood:
        text = f"only the following media types are accepted: {_NAMED}"
        raise Failure(406, "NotAcceptable", text)
    more = f", {JSON};stream=watch, {PROTOBUF};stream=watch" if streams else ""
    text = f"406: Not Acceptable\n\nAvailable representations: {_NAMED}{more}"
    raise Failure(406, "NotAcceptable", text, About())


def body_type(content_type: str) -> str:
    """In which form a body came; raises `Failure`."""
    found = content_type.partition(";")[0].strip().lower()
    if found == JSON or not content_type:
        return JSON
    if found in {YAML, PROTOBUF}:
        return found
    text = (
        f"the body of the request was in an unknown format - accepted media types include: {_NAMED}"
    )
    raise Failure(415, "UnsupportedMediaType", text)
