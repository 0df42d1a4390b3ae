"""Somebody who asks the object storage of a world, without a wire."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.http.faulty import DelayedOutcome
from stockman_lab.http.messages import Request, Response
from stockman_lab.objects.state import first_key
from stockman_lab.servers.objects_port import world_objects
from stockman_lab.world.world import World

from lab.tests.objects.signing import Ask, Signer


class Asker:
    """Has the key of a fresh storage with one bucket, `flock`."""

    def __init__(self) -> None:
        self.world = World.new()
        self.state = self.world.state.objects
        key = first_key(self.state, self.world.state.dice.seed)
        self.signer = Signer(key.id, key.secret, "storage.test")
        self._api = world_objects(self.world)
        self.said("PUT", "/flock")

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.world.now, UTC)

    def told(
        self, ask: Ask, headers: Mapping[str, str] | None = None, target: str = ""
    ) -> DelayedOutcome:
        """What becomes of a request; signed as usual where no headers are given."""
        signed = self.signer.headers(ask, self.now) if headers is None else dict(headers)
        request = Request(
            method=ask.method,
            target=target or ask.target,
            headers=signed,
            body=ask.body,
            peer="",
            secure=False,
        )
        return self._api.answer(request)

    def answer(
        self, ask: Ask, headers: Mapping[str, str] | None = None, target: str = ""
    ) -> Response:
        outcome = self.told(ask, headers, target).outcome
        assert isinstance(outcome, Response)
        return outcome

    def said(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        """The answer to a request."""
        return self.answer(Ask(method, path, query or {}, headers or {}, body))

    def put(self, key: str, content: bytes = b"wool") -> Response:
        return self.said("PUT", f"/flock/{key}", body=content)

    def begun(self, key: str) -> str:
        """The id of an upload that was just begun."""
        answer = self.said("POST", f"/flock/{key}", {"uploads": ""})
        return members(answer, "UploadId")[0]

    def part(self, key: str, upload: str, number: int, content: bytes) -> str:
        """The tag of a part that was just put."""
        query = {"partNumber": str(number), "uploadId": upload}
        answer = self.said("PUT", f"/flock/{key}", query, body=content)
        return answer.headers["ETag"]

    def let(self, effect: Effect, **more: object) -> None:
        """Let something go wrong from now on."""
        self.world.faults.add(Fault(Point.OBJECTS, effect, **more))  # type: ignore[arg-type]


def members(answer: Response, name: str) -> list[str]:
    """Texts of all elements of a name, in their order."""
    root = ET.fromstring(answer.body)
    return [one.text or "" for one in root.iter() if one.tag.rpartition("}")[2] == name]


def code(answer: Response) -> str:
    """Status and code of a refusal; the status alone of another answer."""
    result = members(answer, "Code") if answer.status >= 400 else []
    return " ".join([str(answer.status), *result])
