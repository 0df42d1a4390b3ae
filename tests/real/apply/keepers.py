"""What kubelets, helm and the controllers of Flux would do in a cluster that has none of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stockman.steps.kubernetes.objects import FLUX
from tests.real.apply.real_api import MERGE, RealApi, Told
from tests.real.rendered.api_server import TOKEN

_EVERY = 0.05
_MOMENT = "2026-08-01T12:00:00Z"
_ASKED = "reconcile.fluxcd.io/requestedAt"
PEN = "pen"
"""Label of nodes that takes pods of the namespace of its value."""
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


class Keepers:
    """Looks at everything from time to time, and does what is due."""

    def __init__(self, port: int) -> None:
        self._api = RealApi(port, TOKEN)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.fails = ""
        """Release that helm cannot install. Empty: none."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join()
        self._api.close()

    def _work(self) -> None:
        while not self._end.wait(_EVERY):
            nodes = self._items("/api/v1/nodes")
            for pod in self._items("/api/v1/pods"):
                self._keep(pod, nodes)
            for kind in FLUX:
                for one in self._items(f"/apis/{kind.api_version}/{kind.plural}"):
                    self._look(f"/apis/{kind.api_version}", kind.plural, one)

    def _keep(self, pod: Any, nodes: list[Any]) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        if "deletionTimestamp" in metadata:
            self._ask("DELETE", path, {"gracePeriodSeconds": 0})
        elif pod["status"]["phase"] != "Pending":
            return
        elif "nodeName" not in pod["spec"]:
            self._bind(path, pod, nodes)
        elif "batch.kubernetes.io/job-name" in metadata["labels"]:
            self._end_job(path, pod)
        else:
            self._ask("PATCH", f"{path}/status", {"status": _running()}, MERGE)

    def _bind(self, path: str, pod: Any, nodes: list[Any]) -> None:
        on_controller = _CONTROL_PLANE in pod["spec"].get("nodeSelector", {})
        for node in nodes:
            labels = node["metadata"].get("labels", {})
            fits = (
                _CONTROL_PLANE in labels
                if on_controller
                else labels.get(PEN) == pod["metadata"]["namespace"]
            )
            if fits and not node["spec"].get("unschedulable"):
                target = {"kind": "Node", "name": node["metadata"]["name"]}
                body = {"metadata": {"name": pod["metadata"]["name"]}, "target": target}
                self._ask("POST", f"{path}/binding", body)
                return

    def _end_job(self, path: str, pod: Any) -> None:
        """Run helm in it."""
        args = pod["spec"]["containers"][0]["args"]
        name, namespace = args[2], args[args.index("--namespace") + 1]
        failed = name == self.fails
        if not failed:
            self._ask("POST", f"/api/v1/namespaces/{namespace}/secrets", _release(name))
        ended = {"exitCode": int(failed), "finishedAt": _MOMENT, "reason": "Completed"}
        container = {"name": "helm", "image": "helm", "imageID": "", "ready": False}
        container |= {"restartCount": 0, "state": {"terminated": ended}}
        phase = "Failed" if failed else "Succeeded"
        status = {"phase": phase, "containerStatuses": [container]}
        self._ask("PATCH", f"{path}/status", {"status": status}, MERGE)

    def _look(self, base: str, plural: str, one: Any) -> None:
        metadata, status = one["metadata"], one.get("status", {})
        annotation = metadata.get("annotations", {}).get(_ASKED)
        if annotation and status.get("lastHandledReconcileAt") != annotation:
            path = f"{base}/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}/status"
            self._ask("PATCH", path, {"status": {"lastHandledReconcileAt": annotation}}, MERGE)

    def _items(self, path: str) -> list[Any]:
        found = self._ask("GET", path)
        return list(found.content["items"]) if found.status == 200 else []

    def _ask(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> Told:
        return self._api.ask(method, path, body, kind)


@contextmanager
def keepers(port: int) -> Iterator[Keepers]:
    """They work while the context is open."""
    found = Keepers(port)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def _running() -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": _MOMENT}
    place = "10.42.0.10"
    return {"phase": "Running", "podIP": place, "podIPs": [{"ip": place}], "conditions": [ready]}


def _release(name: str) -> dict[str, Any]:
    labels = {"owner": "helm", "name": name, "status": "deployed", "version": "1"}
    metadata = {"name": f"sh.helm.release.v1.{name}.v1", "labels": labels}
    return {"metadata": metadata, "type": "helm.sh/release.v1"}
