"""Kustomizations: what a source says is applied, watched, and pruned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stockman_lab.git.reading import Unreadable
from stockman_lab.kube.controllers.controller import ControllerContext
from stockman_lab.kube.controllers.objects import ObjectChange, Objects
from stockman_lab.kube.flux.applying import (
    SKIPPED,
    UNCHANGED,
    AppliedObject,
    ApplyFailure,
    Applying,
)
from stockman_lab.kube.flux.conditions import HEALTHY, READY, RECONCILING, Conditions
from stockman_lab.kube.flux.controller import KUSTOMIZE_GROUP, SOURCE_GROUP, FluxController
from stockman_lab.kube.flux.git_sources import files_at
from stockman_lab.kube.flux.inventory import Entry, entries_in
from stockman_lab.kube.flux.kustomize.documents import BuildFailure
from stockman_lab.kube.flux.kustomize.files import Files
from stockman_lab.kube.flux.manifests import PathMissing, folder_of, manifests, still_encrypted
from stockman_lab.kube.health import CURRENT, FAILED, health
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of
from stockman_lab.talos.cosi.encoding import duration_text, seconds_of

KUSTOMIZATIONS = "kustomizations"
SOURCES = {
    "GitRepository": "gitrepositories",
    "OCIRepository": "ocirepositories",
}


def source_key(content: Object) -> tuple[str, str]:
    """Plural and `namespace/name` of the source; an empty plural: of no known kind."""
    reference = part_of(content, "spec", "sourceRef")
    namespace = reference.get("namespace") or metadata_of(content).get("namespace") or ""
    return SOURCES.get(str(reference.get("kind")), ""), f"{namespace}/{reference.get('name')}"


def source_of(content: Object, objects: Objects) -> Object | None:
    """The source of a Kustomization; None: there is none."""
    plural, key = source_key(content)
    return objects.get(plural, key, SOURCE_GROUP) if plural else None


def revision_of(source: Object | None) -> str:
    """The revision of the artifact of a source; empty: it has none."""
    return str(part_of(source or {}, "status", "artifact").get("revision") or "")


def needed(content: Object) -> Iterator[str]:
    """`namespace/name` of the Kustomizations that one depends on."""
    own = str(metadata_of(content).get("namespace") or "")
    for entry in entries_of(content, "spec", "dependsOn"):
        yield f"{entry.get('namespace') or own}/{entry.get('name')}"


def unmet(content: Object, revision: str, objects: Objects) -> str:
    """Why it cannot go on; empty: it can."""
    for key in needed(content):
        other = objects.get(KUSTOMIZATIONS, key, KUSTOMIZE_GROUP)
        if other is None:
            name = key.partition("/")[2]
            why = f'{KUSTOMIZATIONS}.{KUSTOMIZE_GROUP} "{name}" not found'
            return f"dependency '{key}' not found: {why}"
        status = part_of(other, "status")
        ready = any(
            entry.get("type") == "Ready" and entry.get("status") == "True"
            for entry in entries_of(other, "status", "conditions")
        )
        if status.get("observedGeneration") != metadata_of(other).get("generation") or not ready:
            return f"dependency '{key}' is not ready"
        is_same = source_key(other) == source_key(content)
        if is_same and status.get("lastAppliedRevision") != revision:
            return f"dependency '{key}' revision is not up to date"
    return ""


class Waiting:
    """Names of those who wait, with the objects for which they do."""

    def __init__(self, notes: dict[str, str], name: str) -> None:
        self._notes = notes
        self._name = name
        self._text = ""
        self._known: dict[str, set[tuple[str, ...]]] = {}

    def keys_for(self, change: ObjectChange) -> Iterator[str]:
        """Who waits for an object that changed."""
        known = self._read()
        if known:
            entry = Entry.of(change.newest).is_same_as
            yield from (key for key, desired in known.items() if entry in desired)

    def wait(self, key: str, entries: list[Entry]) -> None:
        """Have somebody wait for objects; for none: not any more."""
        known = self._read()
        if not entries and key not in known:
            return
        kept = {name: sorted(desired) for name, desired in known.items() if name != key}
        if entries:
            kept[key] = sorted(entry.is_same_as for entry in entries)
        self._notes[self._name] = json.dumps(kept) if kept else ""

    def _read(self) -> dict[str, set[tuple[str, ...]]]:
        text = self._notes.get(self._name, "")
        if text != self._text:
            read: dict[str, list[list[str]]] = json.loads(text) if text else {}
            self._text = text
            self._known = {key: {tuple(item) for item in desired} for key, desired in read.items()}
        return self._known


_LEAST_TIMEOUT = 30.0


def span_text(seconds: float) -> str:
    """A length of time as Go writes it, below a second in thousandths."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:.3f}".rstrip("0").rstrip(".") + "ms"
    return duration_text(round(seconds, 3))


def interval_of(spec: Object) -> float:
    return seconds_of(str(spec.get("interval") or "10m"))


def timeout_of(spec: Object) -> float:
    timeout = spec.get("timeout")
    seconds = seconds_of(str(timeout)) if timeout else interval_of(spec) - _LEAST_TIMEOUT
    return max(seconds, _LEAST_TIMEOUT)


def told(done: list[AppliedObject]) -> str:
    return "\n".join(str(item) for item in done if item.action not in {UNCHANGED, SKIPPED})


def referred(told: Object) -> Entry:
    content = {
        "apiVersion": told.get("apiVersion") or "apps/v1",
        "kind": told.get("kind"),
        "metadata": {"name": told.get("name"), "namespace": told.get("namespace") or ""},
    }
    return Entry.of(content)


def short_lived(objects: list[Object]) -> list[str]:
    """Jobs that go by themselves when they are done."""
    return [
        str(Entry.of(content).written["id"])
        for content in objects
        if content.get("kind") == "Job" and "ttlSecondsAfterFinished" in part_of(content, "spec")
    ]


_CANCEL = "CancelHealthCheckOnNewRevision=true"
_DEPENDENCY_RETRY = "30s"
_EACH = 0.02
"""Seconds that one object takes."""
_ALWAYS = 0.2
_MOST_MESSAGE = 1024
_ALMOST = 0.001


class _Failure(Exception):
    """An attempt that failed."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass
class _Look:
    """One look at an object: what it says, and what it is going to say."""

    key: str
    found: Object
    status: Object
    conditions: Conditions

    @property
    def spec(self) -> Object:
        return part_of(self.found, "spec")


class Kustomizations(FluxController):
    """Applies what sources hold."""

    name = "kustomization"
    program = "kustomize-controller"
    plural = KUSTOMIZATIONS
    group = KUSTOMIZE_GROUP
    watches = ()

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._waiting = Waiting(context.notes, f"{self.name} waiting")

    # -- what has to be looked at ---------------------------------------------------------------

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Itself, those that use a source or depend on it, and owners that wait for an object."""
        yield from super().keys(change)
        key = change.key
        if key.group == SOURCE_GROUP:
            if revision_of(change.before) != revision_of(change.after):
                yield from self._using(key.resource, change.name)
            return
        if key.group == self.group and key.resource == self.plural:
            yield from self._depending(change.name)
        yield from self._waiting.keys_for(change)

    def _using(self, plural: str, name: str) -> list[str]:
        every = self.objects.listed(self.plural, group=self.group)
        return [_key(content) for content in every if source_key(content) == (plural, name)]

    def _depending(self, name: str) -> list[str]:
        every = self.objects.listed(self.plural, group=self.group)
        return [_key(content) for content in every if name in needed(content)]

    # -- one look -------------------------------------------------------------------------------

    def bring(self, key: str, content: Object) -> None:
        """Apply when it is time to, or see how that goes."""
        if metadata_of(content).get("deletionTimestamp"):
            self._end(key, content)
            return
        content = self.held(content)
        if part_of(content, "spec").get("suspend"):
            self._suspend(key, content)
            return
        note = self.note(key)
        revision = revision_of(source_of(content, self.objects))
        if note.get("checking") and not self._is_cancelled(note, revision):
            self._check(key, content, note)
        elif self.is_due(content, note, revision) or note.get("waits"):
            self._begin(key, content, revision)

    def _suspend(self, key: str, content: Object) -> None:
        self.forget(key)
        self._waiting.wait(key, [])
        if self.requested(content):
            status = part_of(content, "status")
            self.tell(content, {**status, "lastHandledReconcileAt": self.requested(content)})

    def _is_cancelled(self, note: Object, revision: str) -> bool:
        """Whether a newer revision ends the wait for an older one."""
        return note["revision"] != revision and _CANCEL in self.argument("--feature-gates")

    def _look(self, key: str, content: Object) -> _Look:
        return _Look(key, content, dict(part_of(content, "status")), self.conditions_of(content))

    def _begin(self, key: str, content: Object, revision: str) -> None:
        self._waiting.wait(key, [])
        look = self._look(key, content)
        source = source_of(content, self.objects)
        plural, name = source_key(content)
        if source is None:
            why = f'{plural}.{SOURCE_GROUP} "{name.partition("/")[2]}" not found'
            look.conditions.mark(READY, False, "ArtifactFailed", why)
            self._postpone(look, self._retry(look.spec))
            return
        after = seconds_of(self.argument("--requeue-dependency") or _DEPENDENCY_RETRY)
        if not revision:
            why = f"Source artifact not found, retrying in {duration_text(after)}"
            look.conditions.mark(READY, False, "ArtifactFailed", why)
            self._postpone(look, after)
            return
        missing = unmet(content, revision, self.objects)
        if missing:
            is_news = look.conditions.get(READY).get("message") != missing
            look.conditions.mark(READY, False, "DependencyNotReady", missing)
            texts = self._postpone(look, after, revision)
            text = f"Dependencies do not meet ready condition, retrying in {duration_text(after)}"
            if is_news:
                self.recorder.normal(texts, "DependencyNotReady", text)
            return
        self._reconcile(look, source)

    def _postpone(self, look: _Look, after: float, revision: str = "") -> Object:
        """Say why nothing is done yet; it is looked at again when what it waits for changes."""
        note = {**self.noted(look.found, self.now + after, revision), "waits": True}
        self.remember_of(look.key, note)
        self.at_interval(look.key, self.now + after)
        return self._tell(look)

    def _reconcile(self, look: _Look, source: Object) -> None:
        revision, conditions = revision_of(source), look.conditions
        progress = f"revision {revision} with a timeout of {duration_text(timeout_of(look.spec))}"
        conditions.mark(READY, None, "Progressing", "Reconciliation in progress")
        conditions.reconciling("Progressing", f"Fetching manifests for {progress}")
        attempt: Object = {"revision": revision}
        try:
            files = self._files(look.found, source)
            folder = _folder(files, look.spec)
            look.status["lastAttemptedRevision"] = revision
            conditions.reconciling("Progressing", f"Building manifests for {progress}")
            objects = self._built(look.found, files, folder)
            conditions.reconciling("Progressing", f"Detecting drift for {progress}")
            attempt["took"] = _ALWAYS + _EACH * len(objects)
            attempt["short_lived"] = short_lived(objects)
            done = self._apply(look.found, objects)
            look.status["inventory"] = {"entries": [item.entry.written for item in done]}
            self._prune(look.found, done)
        except _Failure as why:
            self._note_failure(look, why, attempt)
            return
        self._finish(look, attempt, done)

    def _files(self, content: Object, source: Object) -> Files:
        kind = source.get("kind")
        if kind != "GitRepository":
            raise _Failure("ArtifactFailed", f"files of a {kind} are not simulated by the lab")
        number = int(hashlib.sha256(str(metadata_of(content)["uid"]).encode()).hexdigest()[:8], 16)
        try:
            contents = files_at(self.repositories(), source)
        except Unreadable as why:
            raise _Failure("ArtifactFailed", str(why)) from None
        return Files(contents, f"/tmp/kustomization-{number}")

    def _built(self, content: Object, files: Files, folder: str) -> list[Object]:
        try:
            return manifests(content, files, folder, self.objects, self.keys_for_all())
        except BuildFailure as why:
            raise _Failure("BuildFailed", str(why)) from None

    def _apply(self, content: Object, objects: list[Object]) -> list[AppliedObject]:
        secret = still_encrypted(objects)
        if secret:
            raise _Failure("ReconciliationFailed", secret)
        applying = Applying(self.client, force=bool(part_of(content, "spec").get("force")))
        try:
            done = applying.staged(objects)
        except ApplyFailure as why:
            text = f"{why.message}\n{told(why.done)}"
            raise _Failure("ReconciliationFailed", text) from None
        changes = told(done)
        if changes:
            self.recorder.normal(content, "Progressing", changes[:_MOST_MESSAGE])
        return done

    def _prune(self, content: Object, done: list[AppliedObject]) -> None:
        kept = {item.entry.is_same_as for item in done}
        before = entries_in(part_of(content, "status"))
        stale = [item for item in before if item.is_same_as not in kept]
        if not stale or not part_of(content, "spec").get("prune"):
            return
        metadata = metadata_of(content)
        try:
            gone = Applying(self.client).delete_all(stale, metadata["name"], metadata["namespace"])
        except ApplyFailure as why:
            raise _Failure("PruneFailed", why.message) from None
        self.recorder.normal(content, "Progressing", "\n".join(map(str, gone))[:_MOST_MESSAGE])

    # -- how it ends ----------------------------------------------------------------------------

    def _finish(self, look: _Look, attempt: Object, done: list[AppliedObject]) -> None:
        entries = [item.entry for item in done if item.action != SKIPPED]
        if not look.spec.get("wait"):
            entries = [referred(entry) for entry in entries_of(look.spec, "healthChecks")]
        own = Entry.of(look.found).is_same_as
        entries = [entry for entry in entries if entry.is_same_as != own]
        if not entries:
            look.conditions.drop(HEALTHY)
            self._note_success(look, attempt)
            return
        revision = attempt["revision"]
        timeout = timeout_of(look.spec)
        message = (
            f"Running health checks for revision {revision} with a timeout of"
            f" {duration_text(timeout)}"
        )
        attempt["was_healthy"] = look.conditions.is_true(HEALTHY)
        attempt["since"] = self.now
        attempt["entries"] = [[entry.written["id"], entry.version] for entry in entries]
        look.conditions.reconciling("Progressing", message)
        look.conditions.mark(HEALTHY, None, "Progressing", message)
        texts = self._tell(look)
        kept = self.noted(look.found, self.now + timeout, revision)
        self.remember_of(look.key, {**kept, "checking": attempt})
        self._waiting.wait(look.key, entries)
        self._check(look.key, texts, self.note(look.key))

    def _check(self, key: str, content: Object, note: Object) -> None:
        """See whether all that was applied is as it should be."""
        attempt, look = note["checking"], self._look(key, content)
        entries = [Entry.read({"id": one, "v": version}) for one, version in attempt["entries"]]
        states = self._states(entries, attempt["short_lived"])
        since, timeout = float(attempt["since"]), timeout_of(look.spec)
        passed = self.now - since
        is_over = passed >= timeout - _ALMOST
        if not is_over and not all(state in {CURRENT, FAILED} for state in states):
            self.look_again(key, since + timeout, patient=True)
            return
        self._waiting.wait(key, [])
        pairs = zip(entries, states, strict=True)
        bad = [f"{entry.shown} status: '{state}'" for entry, state in pairs if state != CURRENT]
        if bad:
            begin = "timeout waiting for" if is_over else "failed early due to stalled resources"
            why = f"{begin}: [{', '.join(bad)}]"
            look.conditions.mark(HEALTHY, False, "HealthCheckFailed", why)
            text = f"health check failed after {span_text(passed)}: {why}"
            self._note_failure(look, _Failure("HealthCheckFailed", text), attempt)
            return
        text = f"Health check passed in {span_text(passed)}"
        if not attempt["was_healthy"]:
            self.recorder.normal(content, "Progressing", text)
        look.conditions.mark(HEALTHY, True, "Succeeded", text)
        self._note_success(look, attempt)

    def _states(self, entries: list[Entry], short_lived: list[str]) -> list[str]:
        applying = Applying(self.client)
        currents = []
        for entry in entries:
            live = applying.live(entry)
            is_done = live is None and entry.written["id"] in short_lived
            currents.append(CURRENT if is_done else health(live))
        return currents

    def _note_success(self, look: _Look, attempt: Object) -> None:
        revision, conditions = attempt["revision"], look.conditions
        look.status["lastAppliedRevision"] = revision
        look.status["observedGeneration"] = metadata_of(look.found).get("generation")
        conditions.drop(RECONCILING)
        conditions.mark(READY, True, "ReconciliationSucceeded", f"Applied revision: {revision}")
        interval = interval_of(look.spec)
        self.remember_of(look.key, self.noted(look.found, self.now + interval, revision))
        self.at_interval(look.key, self.now + interval)
        texts = self._tell(look)
        took = self.now - float(attempt.get("since", self.now)) + attempt["took"]
        text = (
            f"Reconciliation finished in {span_text(took)}, next run in {duration_text(interval)}"
        )
        self.recorder.normal(texts, "ReconciliationSucceeded", text)

    def _note_failure(self, look: _Look, why: _Failure, attempt: Object) -> None:
        conditions = look.conditions
        conditions.mark(READY, False, why.reason, why.message)
        doing = str(conditions.get(RECONCILING).get("message", ""))
        conditions.reconciling("ProgressingWithRetry", doing)
        following = self.now + self._retry(look.spec)
        self.remember_of(look.key, self.noted(look.found, following, attempt["revision"]))
        self.at_interval(look.key, following)
        texts = self._tell(look)
        self.recorder.warning(texts, why.reason, why.message[:_MOST_MESSAGE])

    def _retry(self, spec: Object) -> float:
        retry_interval = spec.get("retryInterval")
        return seconds_of(str(retry_interval)) if retry_interval else interval_of(spec)

    def _tell(self, look: _Look) -> Object:
        result = {**look.status, "conditions": look.conditions.listed()}
        if self.requested(look.found):
            result["lastHandledReconcileAt"] = self.requested(look.found)
        return self.tell(look.found, result)

    # -- the end of a Kustomization ---------------------------------------------------------------

    def _end(self, key: str, content: Object) -> None:
        """Take what was applied out again, as the policy says, and let the object go."""
        spec, metadata = part_of(content, "spec"), metadata_of(content)
        entries = entries_in(part_of(content, "status"))
        policy = str(spec.get("deletionPolicy") or "MirrorPrune")
        prunes = policy in {"Delete", "WaitForTermination"} or (
            policy == "MirrorPrune" and bool(spec.get("prune"))
        )
        if entries and prunes and not spec.get("suspend"):
            applying = Applying(self.client)
            note = self.note(key)
            if not note.get("ending"):
                gone = applying.delete_all(entries, metadata["name"], metadata["namespace"])
                text = "\n".join(map(str, gone))[:_MOST_MESSAGE]
                self.recorder.normal(content, _reason(content), text)
                left = [item.entry.written["id"] for item in gone if item.action != SKIPPED]
                note = {"ending": self.now, "left": left}
                self.remember_of(key, note)
            deadline = float(note["ending"]) + timeout_of(spec)
            left = [entry for entry in entries if entry.written["id"] in note["left"]]
            there = [item for item in left if applying.live(item) is not None]
            if policy == "WaitForTermination" and there and self.now < deadline:
                self._waiting.wait(key, there)
                self.look_again(key, deadline, patient=True)
                return
        self._waiting.wait(key, [])
        self.release(key, content)


def _key(content: Object) -> str:
    metadata = metadata_of(content)
    return f"{metadata['namespace']}/{metadata['name']}"


def _reason(content: Object) -> str:
    ready = [
        entry for entry in entries_of(content, "status", "conditions") if entry["type"] == READY
    ]
    return str(ready[0]["reason"]) if ready else "info"


def _folder(files: Files, spec: Object) -> str:
    try:
        return folder_of(files, spec)
    except PathMissing as why:
        raise _Failure("ArtifactFailed", str(why)) from None
