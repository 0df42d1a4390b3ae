"""In which form an answer is wanted, and in which form a request came."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from stockman_lab.kube.failures import Failure

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_KINDS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """How an answer is to look; always in JSON."""

    kind: str = ""
    """`Table`, `PartialObjectMetadata` or `PartialObjectMetadataList`; empty: the object."""
    version: str = "v1"

    @property
    def is_table(self) -> bool:
        return self.kind == "Table"

    @property
    def is_metadata(self) -> bool:
        return self.kind.startswith("PartialObjectMetadata")


@lru_cache(maxsize=256)
def negotiated(accept: str) -> Wanted:
    """What is answered to an `Accept` header; raises `Failure`."""
    for part in (accept or JSON).split(","):
        name, *rest = (word.strip() for word in part.split(";"))
        supplied = dict(word.partition("=")[::2] for word in rest)
        if name not in {JSON, "*/*", "application/*"}:
            continue
        if "as" not in supplied:
            return Wanted()
        if supplied["as"] in _KINDS and supplied.get("v") in {"v1", "v1beta1"}:
            return Wanted(supplied["as"], supplied["v"])
    text = f"only the following media types are accepted: {JSON}"
    raise Failure(406, "NotAcceptable", text)


def body_type(content_type: str) -> str:
    """In which form a body came; raises `Failure`."""
    media = content_type.partition(";")[0].strip().lower() or JSON
    if media in {JSON, YAML, PROTOBUF}:
        return media
    known = f"{JSON}, {YAML}, {PROTOBUF}"
    text = (
        f"the body of the request was in an unknown format - accepted media types include: {known}"
    )
    raise Failure(415, "UnsupportedMediaType", text)
