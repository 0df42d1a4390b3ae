"""A request of S3, taken apart, and forms that answers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime

from stockman_lab.http.messages import Request, Response
from stockman_lab.objects.buckets import NewObject
from stockman_lab.objects.refusals import invalid
from stockman_lab.objects.signing import Caller
from stockman_lab.objects.xml import Member, document

XML = {"Content-Type": "application/xml"}
META = "x-amz-meta-"
MOST = 1000


@dataclass(slots=True)
class Asked:
    """What somebody asks for."""

    request: Request
    bucket: str
    key: str
    query: dict[str, str]
    caller: Caller
    content: bytes = field(default=b"")
    spoiled: bytes | None = None
    """What is kept instead of the content. None: nothing is wrong."""

    @property
    def method(self) -> str:
        return self.request.method

    def header(self, name: str) -> str:
        return self.request.headers.get(name, "")

    @property
    def metadata(self) -> dict[str, str]:
        return {
            name.removeprefix(META): value
            for name, value in self.request.headers.items()
            if name.startswith(META)
        }

    @property
    def new(self) -> NewObject:
        return NewObject(
            content=self.content,
            spoiled=self.spoiled,
            content_type=self.header("content-type"),
            metadata=self.metadata,
            if_none_match=self.header("if-none-match"),
            if_match=self.header("if-match"),
        )

    def number(self, name: str, usual: int) -> int:
        """A number of the query; refused where it is none."""
        text = self.query.get(name, "")
        if not text:
            return usual
        if not text.isdecimal() or len(text) > 9:
            raise invalid(
                f"Provided {text} not an integer or within integer range",
                ArgumentName=name,
                ArgumentValue=text,
            )
        return int(text)


def answered(name: str, members: Iterable[Member], more: Mapping[str, str] = XML) -> Response:
    """An answer that is a document."""
    return Response(200, headers={**XML, **more}, body=document(name, members))


def moment(seconds: float) -> str:
    """As documents write it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def http_date(seconds: float) -> str:
    """As headers write it."""
    return format_datetime(datetime.fromtimestamp(int(seconds), UTC), usegmt=True)
