"""Pods that run `helm`: they do what their commands say, in the name of their service account."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from stockman_lab.core.faults import Effect
from stockman_lab.kube.controllers.controller import Controller, ControllerContext
from stockman_lab.kube.controllers.objects import ObjectChange, Objects, named_key
from stockman_lab.kube.helm.engine import Helm
from stockman_lab.kube.helm.running import Ended, Program, Waiting
from stockman_lab.kube.helm.writer import Writer, account
from stockman_lab.kube.nodes.acting import Act, Acts, acting_container, run_of
from stockman_lab.kube.nodes.host import Hosts
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of
from stockman_lab.kube.programs import is_running


@dataclass(frozen=True, slots=True)
class Inside:
    """The view of one container."""

    objects: Objects
    pod: Object
    container: Object

    @property
    def namespace(self) -> str:
        return str(metadata_of(self.pod).get("namespace", ""))

    def file(self, path: str) -> str | None:
        """The text of a file; None: there is none."""
        for mount in entries_of(self.container, "volumeMounts"):
            key = str(mount.get("mountPath", "")).rstrip("/")
            if path != key and not path.startswith(f"{key}/"):
                continue
            inner = path[len(key) :].strip("/") or str(mount.get("subPath", ""))
            if mount.get("subPath") and path != key:
                inner = f"{mount['subPath']}/{inner}"
            file = self._volume(str(mount.get("name", ""))).get(inner)
            if file is not None:
                return file
        return None

    def _volume(self, name: str) -> dict[str, str]:
        for volume in entries_of(self.pod, "spec", "volumes"):
            if volume.get("name") == name:
                result: dict[str, str] = {}
                for source in (volume, *entries_of(volume, "projected", "sources")):
                    result.update(self._source(source))
                return result
        return {}

    def _source(self, source: Object) -> Iterator[tuple[str, str]]:
        secret, data = part_of(source, "configMap"), {}
        if secret:
            data = self._data("configmaps", str(secret.get("name", "")))
        elif part_of(source, "secret"):
            secret = part_of(source, "secret")
            data = self._data("secrets", str(secret.get("secretName") or secret.get("name") or ""))
        items = entries_of(secret, "items")
        for key, text in data.items():
            if not items:
                yield key, text
            for item in items:
                if item.get("key") == key:
                    yield str(item.get("path", key)), text

    def _data(self, plural: str, name: str) -> dict[str, str]:
        content = self.objects.get(plural, named_key(self.namespace, name))
        data = part_of(content or {}, "data")
        if plural == "configmaps":
            return {key: str(text) for key, text in data.items()}
        return {
            key: base64.b64decode(text).decode("utf-8", "replace") for key, text in data.items()
        }


_BEGIN = 2.5
"""Seconds until a program has begun."""
_UNREACHABLE = (
    "Kubernetes cluster unreachable: the server is currently unable to handle the request"
)
_NOTE = "helm-job "


class HelmJobs(Controller):
    """Runs the commands of pods."""

    name = "helm-job"
    component = "helm"
    watches = (
        *("pods", "deployments", "daemonsets", "statefulsets", "jobs"),
        "fluxinstances.fluxcd.controlplane.io",
    )
    hosts: ClassVar[Hosts]

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._acts = Acts(context.notes)

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Pods that run it; of what a release is waited for with, all that wait."""
        if change.key.resource == "pods":
            return (change.name,) if acting_container(change.newest) is not None else ()
        return [note.removeprefix(_NOTE) for note in self.context.notes if note.startswith(_NOTE)]

    def sync(self, key: str) -> None:
        """Bring a program one step further, if it is time."""
        pod = self.objects.get("pods", key)
        container = acting_container(pod) if pod is not None else None
        if pod is None or container is None or metadata_of(pod).get("deletionTimestamp"):
            self.context.notes.pop(f"{_NOTE}{key}", None)
            return
        if not is_running(pod):
            return
        act = self._acts.of(pod)
        if act is None or act.run != run_of(pod):
            self._begin(key, pod, container)
            return
        text = self.context.notes.get(f"{_NOTE}{key}")
        if act.exit_code is not None or text is None:
            return
        note = json.loads(text)
        if note["due"] > self.now and not note["waiting"]:
            self.look_again(key, note["due"])
            return
        self._go_on(key, pod, container, act, note)

    def _begin(self, key: str, pod: Object, container: Object) -> None:
        act = Act(run_of(pod))
        host = self.hosts.host(str(part_of(pod, "spec").get("nodeName", "")))
        image = str(container.get("image", ""))
        fault = host.trouble("run", pod, image) if host is not None else None
        self._acts.keep(pod, act)
        if fault is not None and fault.effect is Effect.HANG:
            return
        seconds = _BEGIN + (fault.seconds if fault is not None else 0.0)
        note: Object = {"due": self.now + seconds, "waiting": None, "fails": ""}
        if fault is not None and fault.effect is Effect.FAIL:
            note["fails"] = fault.message or _UNREACHABLE
        self._keep(key, note)
        self.look_again(key, note["due"])

    def _go_on(self, key: str, pod: Object, container: Object, act: Act, note: Object) -> None:
        program = self._program(pod, container)
        code = 0
        try:
            if note["fails"]:
                raise Ended(f"Error: {note['fails']}")
            if note["waiting"] is None:
                waiting = program.run([str(argument) for argument in container.get("args") or ()])
                self._say(act, program.says)
                self._acts.keep(pod, act)
                self._keep(key, {**note, "waiting": asdict(waiting)})
            else:
                waiting = Waiting(**note["waiting"])
            if waiting.waits and program.unfinished(waiting):
                if self.now >= waiting.until:
                    program.give_up(waiting)
                self.look_again(key, waiting.until, patient=True)
                return
            self._say(act, program.finish(waiting))
        except Ended as why:
            self._say(act, str(why).splitlines())
            code = 1
        act.exit_code = code
        self._acts.keep(pod, act)
        self.context.notes.pop(f"{_NOTE}{key}", None)
        self.context.later("kubelet", key, self.now, patient=False)

    def _program(self, pod: Object, container: Object) -> Program:
        name = str(part_of(pod, "spec").get("serviceAccountName") or "default")
        inside = Inside(self.objects, pod, container)
        writer = Writer(self.client.api, "Helm/4", account(inside.namespace, name))
        return Program(Helm(writer, self.context.clock), inside.file)

    def _say(self, act: Act, lines: list[str]) -> None:
        act.lines += [(self.now, line) for line in lines]

    def _keep(self, key: str, note: Object) -> None:
        self.context.notes[f"{_NOTE}{key}"] = json.dumps(note, separators=(",", ":"))
