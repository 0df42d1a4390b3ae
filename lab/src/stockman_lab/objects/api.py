"""Requests of S3 and their answers, out of the state of an object storage."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, unquote

from stockman_lab.core.faults import Effect, Fault, Faults, Point
from stockman_lab.http.faulty import DelayedOutcome, damaged, outcome_under
from stockman_lab.http.messages import Request, Response
from stockman_lab.objects.asked import XML, Asked
from stockman_lab.objects.bodies import content_of
from stockman_lab.objects.bucket_calls import all_buckets, bucket_answer
from stockman_lab.objects.buckets import Buckets
from stockman_lab.objects.object_calls import object_answer
from stockman_lab.objects.refusals import ObjectsError, not_implemented
from stockman_lab.objects.signing import Signed, caller
from stockman_lab.objects.upload_calls import upload_answer
from stockman_lab.objects.xml import error_document

_UNKNOWN = frozenset(
    {
        *("accelerate", "acl", "analytics", "attributes", "cors", "encryption", "inventory"),
        *("intelligent-tiering", "legal-hold", "lifecycle", "logging", "metrics", "notification"),
        *("object-lock", "ownershipControls", "policy", "policyStatus", "publicAccessBlock"),
        *("replication", "requestPayment", "restore", "retention", "select", "tagging", "torrent"),
        *("versionId", "versions", "website"),
    }
)
"""Parts of S3 that nobody asked for."""
_OF_UPLOADS = {"PUT": "put-part", "POST": "complete", "DELETE": "abort", "GET": "list-parts"}
_OF_BUCKETS = {"GET": "list", "PUT": "create-bucket", "DELETE": "remove-bucket"}


class ObjectsApi:
    """Answers requests."""

    def __init__(
        self,
        buckets: Buckets,
        faults: Faults,
        now: Callable[[], float],
        clock: Callable[[], datetime],
    ) -> None:
        """`now` is the moment in the world, `clock` the one that callers sign by."""
        self._buckets = buckets
        self._faults = faults
        self._now = now
        self._clock = clock
        self._answered = 0

    def answer(self, request: Request) -> DelayedOutcome:
        """What becomes of a request."""
        encoded, _, query = request.target.partition("?")
        path = unquote(encoded)
        bucket, _, key = path.removeprefix("/").partition("/")
        pairs = tuple(parse_qsl(query, keep_blank_values=True))
        facts = {
            "method": request.method,
            "bucket": bucket,
            "key": key,
            "operation": _operation(request.method, key, dict(pairs)),
        }
        fault = self._faults.due(Point.OBJECTS, self._now(), facts)
        signed = Signed(method=request.method, path=path, query=pairs, headers=request.headers)
        return outcome_under(
            fault, lambda: self._made(request, signed, fault), self._error_response
        )

    def _error_response(self, status: int, text: str) -> Response:
        code = {503: "SlowDown", 429: "TooManyRequests"}.get(status, "InternalError")
        return self._error(ObjectsError(status, code, text), "/")

    def _error(self, error: ObjectsError, resource: str) -> Response:
        request = f"{self._answered:016X}"
        body = error_document(error, resource, request)
        return Response(error.status, headers={**XML, "x-amz-request-id": request}, body=body)

    def _made(self, request: Request, signed: Signed, fault: Fault | None) -> Response:
        self._answered += 1
        effect = fault.effect if fault is not None else None
        late = fault.seconds if fault is not None and effect is Effect.LIE else 0.0
        try:
            who = caller(self._buckets.state, signed, self._clock() + timedelta(seconds=late))
            bucket, _, key = signed.path.removeprefix("/").partition("/")
            incoming = Asked(request, bucket, key, dict(signed.query), who)
            incoming.content = content_of(who, request.headers, request.body)
            if fault is not None and effect is Effect.CORRUPT and request.method == "PUT":
                incoming.spoiled = damaged(incoming.content, fault.message)
            return self._perform(incoming)
        except ObjectsError as error:
            return self._error(error, signed.path)

    def _perform(self, incoming: Asked) -> Response:
        if _UNKNOWN & incoming.query.keys():
            raise not_implemented()
        if not incoming.bucket:
            return all_buckets(self._buckets, incoming)
        if not incoming.key:
            return bucket_answer(self._buckets, incoming)
        if "uploads" in incoming.query or "uploadId" in incoming.query:
            return upload_answer(self._buckets, incoming)
        return object_answer(self._buckets, incoming)


def _operation(method: str, key: str, query: dict[str, str]) -> str:
    """What a matcher of faults calls a request: `put`, `get`, `list`, `put-part`, `complete`."""
    if "uploadId" in query:
        return _OF_UPLOADS.get(method, method.lower())
    if "uploads" in query:
        return "begin" if key else "list-uploads"
    if not key:
        if method == "POST" and "delete" in query:
            return "delete-many"
        return _OF_BUCKETS.get(method, method.lower())
    return method.lower()
