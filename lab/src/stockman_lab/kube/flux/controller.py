"""What the controllers of Flux share: they work only while their own pods do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from stockman_lab.kube.api.messages import User
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller, ControllerContext
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.controllers.recorder import Recorder
from stockman_lab.kube.flux.conditions import Conditions
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of
from stockman_lab.kube.programs import is_ready

NAMESPACE = "flux-system"
SOURCE_GROUP = "source.toolkit.fluxcd.io"
KUSTOMIZE_GROUP = "kustomize.toolkit.fluxcd.io"
FINALIZER = "finalizers.fluxcd.io"
REQUESTED = "reconcile.fluxcd.io/requestedAt"


def runs(pod: Object, program: str) -> bool:
    """Whether a pod of Flux runs one of its programs."""
    images = (str(entry.get("image", "")) for entry in entries_of(pod, "spec", "containers"))
    names = {image.partition("@")[0].rpartition("/")[2].partition(":")[0] for image in images}
    return program in names


class FluxController(Controller):
    """A controller for one kind of objects, which runs in a pod of the cluster."""

    program: ClassVar[str]
    """The name of the program whose pods do the work."""
    plural: ClassVar[str]
    group: ClassVar[str] = SOURCE_GROUP
    repositories: Callable[[], Mapping[str, str]] = staticmethod(dict)
    """Where Git repositories really are, by the URLs that files name."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        account = f"system:serviceaccount:{NAMESPACE}:{self.program}"
        user = User(account, ("system:masters", "system:authenticated"))
        self.client = context.client.acting(f"gotk-{self.program}/v0.0.0", user)
        self.recorder = Recorder(context.objects, self.client, context.clock, self.program)

    # -- what has to be looked at ---------------------------------------------------------------

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Objects themselves; all of them when a pod of the program begins to work."""
        if change.key.resource == "pods" and not change.key.group:
            if self._begins(change):
                yield from self.all_keys()
        elif (change.key.resource, change.key.group) == (self.plural, self.group):
            yield change.name

    def _begins(self, change: ObjectChange) -> bool:
        after = change.after
        if change.key.namespace != NAMESPACE or after is None or not runs(after, self.program):
            return False
        return is_ready(after) and (change.before is None or not is_ready(change.before))

    def all_keys(self) -> list[str]:
        """Names of all objects of the kind."""
        result = self.objects.listed(self.plural, group=self.group)
        return [_object_key(item) for item in result]

    def is_working(self) -> bool:
        """Whether a pod of the program is ready."""
        pods = self.objects.listed("pods", NAMESPACE)
        return any(runs(pod, self.program) and is_ready(pod) for pod in pods)

    def argument(self, name: str) -> str:
        """What the program was started with; empty: nothing was said."""
        for pod in self.objects.listed("pods", NAMESPACE):
            for entry in entries_of(pod, "spec", "containers") if runs(pod, self.program) else ():
                for arg in entry.get("args") or ():
                    if str(arg).startswith(f"{name}="):
                        return str(arg).partition("=")[2]
        return ""

    def keys_for_all(self) -> str:
        """The secret whose keys open what names no secret itself; empty: there is none."""
        name = self.argument("--sops-age-secret")
        return f"{NAMESPACE}/{name}" if name else ""

    def sync(self, key: str) -> None:
        """Bring one object in order, if anybody is there to do it."""
        content = self.objects.get(self.plural, key, self.group)
        if content is not None and self.is_working():
            self.bring(key, content)

    def bring(self, key: str, content: Object) -> None:
        """Bring one object in order; raises `Refused` or `Retry`."""
        raise NotImplementedError

    # -- what an object says --------------------------------------------------------------------

    def conditions_of(self, content: Object) -> Conditions:
        status = part_of(content, "status")
        generation = int(metadata_of(content).get("generation") or 0)
        return Conditions(status.get("conditions"), generation, self.today)

    def requested(self, content: Object) -> str:
        """What somebody wrote to have the object looked at again."""
        annotations = metadata_of(content).get("annotations") or {}
        return str(annotations.get(REQUESTED) or "")

    def note(self, key: str) -> Object:
        """What is remembered of an object that it does not say itself."""
        note = self.context.notes.get(f"{self.name} {key}")
        return json.loads(note) if note else {}

    def remember_of(self, key: str, note: Object) -> None:
        """Remember something of an object."""
        self.context.notes[f"{self.name} {key}"] = json.dumps(note, sort_keys=True)

    def forget(self, key: str) -> None:
        self.context.notes.pop(f"{self.name} {key}", None)

    def is_due(self, content: Object, note: Object, revision: str = "") -> bool:
        """Whether an object is to be looked at from the beginning."""
        return (
            note.get("uid") != metadata_of(content).get("uid")
            or note.get("generation") != metadata_of(content).get("generation")
            or note.get("requested", "") != self.requested(content)
            or note.get("revision", "") != revision
            or float(note.get("next", 0.0)) <= self.now
        )

    def noted(self, content: Object, following: float, revision: str = "") -> Object:
        """What to remember after a look, with the moment of the next one."""
        metadata = metadata_of(content)
        return {
            "uid": metadata.get("uid"),
            "generation": metadata.get("generation"),
            "requested": self.requested(content),
            "revision": revision,
            "next": following,
        }

    def at_interval(self, key: str, moment: float) -> None:
        """Look at an object again when its interval is over: nobody hurries for that."""
        self.look_again(key, moment, patient=True)

    # -- what is written ------------------------------------------------------------------------

    def held(self, content: Object) -> Object:
        """An object with the finalizer that holds it."""
        finalizers = metadata_of(content).get("finalizers") or []
        if FINALIZER in finalizers:
            return content
        return self.client.patch(content, {"metadata": {"finalizers": [*finalizers, FINALIZER]}})

    def release(self, key: str, content: Object) -> None:
        """Let an object go."""
        self.forget(key)
        finalizers = metadata_of(content).get("finalizers") or []
        if FINALIZER in finalizers:
            kept = [finalizer for finalizer in finalizers if finalizer != FINALIZER]
            self.client.patch(content, {"metadata": {"finalizers": kept or None}})

    def tell(self, content: Object, status: Object) -> Object:
        """Write the status of an object, where it is another."""
        before = part_of(content, "status")
        if status == before:
            return content
        gone = {name: None for name in before if name not in status}
        change = {"status": {**status, **gone}}
        try:
            return self.client.patch(content, change, "status")
        except Refused as why:
            if not why.is_absent:
                raise
            return content


def _object_key(content: Object) -> str:
    metadata = metadata_of(content)
    return named_key(str(metadata.get("namespace", "")), str(metadata["name"]))
