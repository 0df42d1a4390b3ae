"""Random changes of one object, in all ways in which objects are changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.real.kube_api.bodies import APPS, CORE, deployment
from tests.real.kube_api.talking import APPLY, JSON_PATCH, MERGE, STRATEGIC, Step, asked

DEPLOYMENT = f"{APPS}/deployments/web"
SERVICE = f"{CORE}/services/web"
NAMES = ("a", "b", "c", "d")
WORDS = ("x", "y", "z")


class Changes:
    """A stream of requests that depends on its seed alone."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def steps(self, count: int) -> Iterator[Step]:
        first = deployment("web")
        yield Step("POST", f"{APPS}/deployments", first)
        yield Step("POST", f"{CORE}/services", self._service())
        for _ in range(count):
            yield self.dice.choice((self._merge, self._strategic, self._apply, self._json))()

    def _maybe(self, chance: float = 0.5) -> bool:
        return self.dice.random() < chance

    def _some(self, names: tuple[str, ...] = NAMES) -> list[str]:
        return self.dice.sample(names, self.dice.randint(0, len(names) - 1))

    def _word(self) -> str:
        return self.dice.choice(WORDS)

    def _labels(self, *, nulls: bool) -> dict[str, Any]:
        return {name: None if nulls and self._maybe(0.3) else self._word() for name in self._some()}

    def _container(self, name: str, *, whole: bool) -> dict[str, Any]:
        container: dict[str, Any] = {"name": name}
        if whole or self._maybe():
            container["image"] = f"wool:{self._word()}"
        if self._maybe():
            container["env"] = [{"name": one, "value": self._word()} for one in self._some()]
        if self._maybe():
            numbers = self.dice.sample((80, 81, 82), self.dice.randint(0, 2))
            container["ports"] = [
                {"containerPort": number, **({"protocol": "UDP"} if self._maybe(0.3) else {})}
                for number in numbers
            ]
        if self._maybe(0.3):
            container["args"] = self._some()
        if self._maybe(0.3):
            container["resources"] = {"requests": {"cpu": self.dice.choice(("1", "100m", "0.5"))}}
        return container

    def _spec(self, *, whole: bool, nulls: bool = False) -> dict[str, Any]:
        inner: dict[str, Any] = {}
        names = self._some() or ["a"]
        if whole or self._maybe():
            inner["containers"] = [self._container(name, whole=whole) for name in names]
        if self._maybe(0.3):
            inner["volumes"] = [{"name": one, "emptyDir": {}} for one in self._some()]
        if self._maybe(0.3):
            inner["nodeSelector"] = self._labels(nulls=nulls)
        if self._maybe(0.3):
            inner["tolerations"] = [{"key": one, "operator": "Exists"} for one in self._some()]
        if nulls and self._maybe(0.2):
            inner[self.dice.choice(("volumes", "nodeSelector", "tolerations"))] = None
        template: dict[str, Any] = {"spec": inner}
        if whole:
            template["metadata"] = {"labels": {"app": "wool"}}
        if self._maybe(0.3):
            metadata = template.setdefault("metadata", {})
            metadata["annotations"] = self._labels(nulls=nulls)
        spec: dict[str, Any] = {"template": template}
        if whole:
            spec["selector"] = {"matchLabels": {"app": "wool"}}
        if self._maybe(0.4):
            spec["replicas"] = None if nulls and self._maybe(0.2) else self.dice.randint(0, 4)
        if self._maybe(0.2):
            spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}}
        return spec

    def _partial(self) -> dict[str, Any]:
        partial: dict[str, Any] = {}
        if self._maybe(0.7):
            partial["spec"] = self._spec(whole=False, nulls=True)
        if self._maybe():
            partial["metadata"] = {"labels": self._labels(nulls=True)}
        if self._maybe(0.2):
            finalizers = [f"{one}.example/x" for one in self._some()]
            partial.setdefault("metadata", {})["finalizers"] = finalizers
        return partial

    def _merge(self) -> Step:
        if self._maybe(0.2):
            return Step("PATCH", SERVICE, {"spec": self._service()["spec"]}, MERGE)
        return Step("PATCH", DEPLOYMENT, self._partial(), MERGE)

    def _strategic(self) -> Step:
        if self._maybe(0.2):
            return Step("PATCH", SERVICE, {"spec": self._service()["spec"]}, STRATEGIC)
        partial = self._partial()
        containers = (
            partial.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
        )
        for container in containers:
            if self._maybe(0.2):
                container["$patch"] = "delete"
        if "finalizers" not in partial.get("metadata", {}) and self._maybe(0.2):
            gone = [f"{one}.example/x" for one in self._some()]
            partial.setdefault("metadata", {})["$deleteFromPrimitiveList/finalizers"] = gone
        return Step("PATCH", DEPLOYMENT, partial, STRATEGIC)

    def _apply(self) -> Step:
        query = {"fieldManager": self._word()}
        if self._maybe(0.6):
            query["force"] = "true"
        if self._maybe(0.2):
            return Step("PATCH", asked(SERVICE, **query), self._service(), APPLY)
        made = deployment("web")
        made["spec"] = self._spec(whole=True)
        if self._maybe():
            made["metadata"]["labels"] = self._labels(nulls=False)
        if self._maybe(0.2):
            made["metadata"]["finalizers"] = [f"{one}.example/x" for one in self._some()]
        return Step("PATCH", asked(DEPLOYMENT, **query), made, APPLY)

    def _json(self) -> Step:
        place = "/spec/template/spec/containers"
        operations = [self._operation(place) for _ in range(self.dice.randint(1, 3))]
        return Step("PATCH", DEPLOYMENT, operations, JSON_PATCH)

    def _operation(self, place: str) -> dict[str, Any]:
        new = self._container("d", whole=True)
        choices: tuple[dict[str, Any], ...] = (
            {"op": "replace", "path": "/spec/replicas", "value": 3},
            {"op": "add", "path": f"{place}/0/image", "value": self._word()},
            {"op": "add", "path": f"{place}/-", "value": new},
            {"op": "remove", "path": f"{place}/{self.dice.randint(0, 3)}"},
            {"op": "remove", "path": f"/metadata/labels/{self._word()}"},
            {"op": "add", "path": "/metadata/labels", "value": self._labels(nulls=False)},
            {"op": "copy", "from": f"{place}/0/name", "path": "/metadata/labels/n"},
            {"op": "test", "path": f"{place}/0/name", "value": self.dice.choice(NAMES)},
        )
        return self.dice.choice(choices)

    def _service(self) -> dict[str, Any]:
        numbers = self.dice.sample((80, 81, 82), self.dice.randint(1, 3))
        ports = [
            {
                "port": number,
                "name": f"p{number}",
                **({"targetPort": self._word()} if self._maybe(0.3) else {}),
            }
            for number in numbers
        ]
        spec: dict[str, Any] = {"ports": ports}
        if self._maybe():
            spec["selector"] = {one: self._word() for one in self._some()}
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec}
