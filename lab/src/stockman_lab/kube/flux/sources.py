"""What all sources of Flux do alike: look for a revision, store it, and say so."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import ClassVar

from stockman_lab.kube.flux.conditions import READY, RECONCILING, STALLED
from stockman_lab.kube.flux.controller import NAMESPACE, FluxController
from stockman_lab.kube.objects import Object, metadata_of, part_of, written_time
from stockman_lab.talos.cosi.encoding import seconds_of

FETCH_FAILED, IN_STORAGE = "FetchFailed", "ArtifactInStorage"
OUTDATED, STORAGE_FAILED = "ArtifactOutdated", "StorageOperationFailed"
_HOST = f"source-controller.{NAMESPACE}.svc.cluster.local."
_LEAST_BACKOFF, _MOST_BACKOFF = 0.75, 900.0
_SOON = 6
"""So many times a source is tried again before anything else may rest."""


class FetchFailure(Exception):
    """A source cannot be had."""

    def __init__(self, reason: str, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.is_final = is_final
        """Whether nothing helps but another spec."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was found."""

    revision: str
    file: str
    """The name of the artifact."""
    digest: str
    size: int
    news: str = ""
    """What an event tells of it."""
    more: Object = field(default_factory=dict)
    """Further fields of the status."""
    metadata: Object = field(default_factory=dict)


class SourceController(FluxController):
    """A controller of sources."""

    program = "source-controller"
    kind: ClassVar[str]
    stored: ClassVar[str] = "stored artifact for revision '{}'"

    def fetched(self, content: Object) -> Fetched:
        """What the source has now; raises `FetchFailure`."""
        raise NotImplementedError

    def message(self, fetched: Fetched) -> str:
        """What conditions say of it."""
        return self.stored.format(fetched.revision)

    def bring(self, key: str, content: Object) -> None:
        """Look for the newest revision when it is time to."""
        if metadata_of(content).get("deletionTimestamp"):
            self.release(key, content)
            return
        content = self.held(content)
        if part_of(content, "spec").get("suspend"):
            self.forget(key)
            return
        note = self.note(key)
        if not self.is_due(content, note):
            return
        try:
            self._store(key, content, self.fetched(content), note)
        except FetchFailure as failure:
            self._fail(key, content, failure, note)

    def _interval(self, content: Object) -> float:
        return seconds_of(str(part_of(content, "spec").get("interval") or "10m"))

    def _status(self, content: Object) -> Object:
        status = dict(part_of(content, "status"))
        if self.requested(content):
            status["lastHandledReconcileAt"] = self.requested(content)
        return status

    def _store(self, key: str, content: Object, fetched: Fetched, note: Object) -> None:
        status, conditions = self._status(content), self.conditions_of(content)
        before = part_of(status, "artifact")
        is_new = (
            before.get("revision") != fetched.revision or before.get("digest") != fetched.digest
        )
        failed_before = bool(conditions.get(FETCH_FAILED))
        if is_new:
            status["artifact"] = self._artifact(content, fetched)
        status |= fetched.more
        conditions.drop(RECONCILING, STALLED, FETCH_FAILED, OUTDATED, STORAGE_FAILED)
        message = self.message(fetched)
        conditions.mark(IN_STORAGE, True, "Succeeded", message)
        conditions.mark(READY, True, "Succeeded", message)
        status["conditions"] = conditions.listed()
        status["observedGeneration"] = metadata_of(content).get("generation")
        following = self.now + self._interval(content)
        self.remember_of(key, self.noted(content, following))
        self.at_interval(key, following)
        told = self.tell(content, status)
        if is_new:
            self.recorder.normal(told, "NewArtifact", fetched.news)
        elif failed_before:
            self.recorder.normal(told, "Succeeded", fetched.news)

    def _fail(self, key: str, content: Object, failure: FetchFailure, note: Object) -> None:
        status, conditions = self._status(content), self.conditions_of(content)
        has_artifact = "artifact" in status
        conditions.mark(FETCH_FAILED, True, failure.reason, failure.message)
        if failure.is_final:
            conditions.stalled(failure.reason, failure.message)
            status["observedGeneration"] = metadata_of(content).get("generation")
        else:
            doing = "reconciliation in progress" if has_artifact else "building artifact"
            conditions.reconciling("ProgressingWithRetry", doing)
        conditions.mark(READY, False, failure.reason, failure.message)
        status["conditions"] = conditions.listed()
        tries = int(note.get("tries", 0)) + 1
        wait = self._interval(content) if failure.is_final else _backoff(tries)
        kept = self.noted(content, self.now + wait)
        self.remember_of(key, {**kept, "tries": tries})
        if not failure.is_final:
            self.look_again(key, self.now + wait, patient=tries > _SOON)
        told = self.tell(content, status)
        self.recorder.warning(told, failure.reason, failure.message)

    def _artifact(self, content: Object, fetched: Fetched) -> Object:
        metadata = metadata_of(content)
        key = f"{self.kind.lower()}/{metadata['namespace']}/{metadata['name']}/{fetched.file}"
        result = {
            "digest": fetched.digest,
            "lastUpdateTime": written_time(self.now),
            "path": key,
            "revision": fetched.revision,
            "size": fetched.size,
            "url": f"http://{_HOST}/{key}",
        }
        return {**result, "metadata": fetched.metadata} if fetched.metadata else result

    def secret(self, content: Object, name: str) -> Object:
        """A secret that a source names; raises `FetchFailure`."""
        namespace = str(metadata_of(content)["namespace"])
        secret = self.objects.get("secrets", f"{namespace}/{name}")
        if secret is None:
            why = f"failed to get secret '{namespace}/{name}': secrets \"{name}\" not found"
            text = f"failed to get secret '{namespace}/{name}': {why}"
            raise FetchFailure("AuthenticationFailed", text)
        return secret


def _backoff(tries: int) -> float:
    return min(_LEAST_BACKOFF * 2.0 ** (tries - 1), _MOST_BACKOFF)


def digest_of(*parts: str | bytes) -> str:
    """`sha256:` of words and bytes."""
    sha256 = hashlib.sha256()
    for part in parts:
        sha256.update(part if isinstance(part, bytes) else part.encode())
        sha256.update(b"\0")
    return f"sha256:{sha256.hexdigest()}"
