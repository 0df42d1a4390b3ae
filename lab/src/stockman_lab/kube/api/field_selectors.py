"""Field selectors: which fields each kind can be asked for, and what they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from stockman_lab.kube.failures import bad_request
from stockman_lab.kube.objects import Object, Tree, part_of

_EVERYWHERE = ("metadata.name", "metadata.namespace")
_INVOLVED = tuple(
    f"involvedObject.{name}"
    for name in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
)
_FIELDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "pods"): (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    ("", "nodes"): ("spec.unschedulable",),
    ("", "namespaces"): ("status.phase",),
    ("", "secrets"): ("type",),
    ("", "services"): ("spec.clusterIP", "spec.type"),
    ("", "replicationcontrollers"): ("status.replicas",),
    ("apps", "replicasets"): ("status.replicas",),
    ("batch", "jobs"): ("status.successful",),
    ("certificates.k8s.io", "certificatesigningrequests"): ("spec.signerName",),
    ("", "events"): (*_INVOLVED, "reason", "reportingComponent", "source", "type"),
    ("events.k8s.io", "events"): (
        *(one.replace("involvedObject", "regarding") for one in _INVOLVED),
        "reason",
        "reportingController",
        "type",
    ),
}
_TERSE = frozenset({field for field in _FIELDS if field[0] in {"", "batch"}})
_TRUTHS = {True: "true", False: "false"}


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Values that fields have to have, or must not have."""

    wanted: tuple[tuple[str, str, bool], ...] = ()
    """Field, value, and whether it has to be that."""

    def matches(self, content: Object) -> bool:
        """Whether an object is meant."""
        return all((told(content, name) == value) is same for name, value, same in self.wanted)

    @property
    def name(self) -> str:
        """The one object that can be meant; empty: it is not said."""
        values = (value for name, value, same in self.wanted if same and name == "metadata.name")
        return next(values, "")


def told(content: Object, name: str) -> str:
    """A field as selectors see it."""
    if name == "status.podIPs":
        tree: Tree = (part_of(content, "status").get("podIPs") or [{}])[0].get("ip")
    elif name == "source":
        tree = part_of(content, "source").get("component") or content.get("reportingComponent")
    elif name == "status.successful":
        tree = part_of(content, "status").get("succeeded", 0)
    else:
        *way, last = name.split(".")
        tree = part_of(content, *way).get(last)
        if tree is None and name in {"spec.unschedulable", "spec.hostNetwork"}:
            tree = False
        if tree is None and name == "status.replicas":
            tree = 0
    return _TRUTHS[tree] if isinstance(tree, bool) else "" if tree is None else str(tree)


def read_field_selector(
    text: str, group: str, plural: str, more: tuple[str, ...] = ()
) -> FieldSelector:
    """`spec.nodeName=a,status.phase!=Running`; raises `Failure`."""
    known = (*_EVERYWHERE, *_FIELDS.get((group, plural), ()), *more)
    made = []
    for part in _parts(text):
        name, value, same = _part(part, text)
        if not name and not value:
            continue
        if name not in known:
            raise _unknown(name, (group, plural), more)
        made.append((name, value, same))
    return FieldSelector(tuple(made))


_TERM = re.compile(r"(?:[^\\,]|\\.|\\$)+", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\,=])")


def _parts(text: str) -> list[str]:
    return _TERM.findall(text)


def _unescaped(value: str) -> str:
    """What is meant by a value; raises `Failure`."""
    bare = _ESCAPED.sub("", value)
    if "\\" in bare:
        place = bare.index("\\")
        raise bad_request(f"invalid field selector: invalid escape sequence: {bare[place:][:2]}")
    if "=" in bare:
        raise bad_request("invalid field selector: unescaped character in value: 61")
    return _ESCAPED.sub(r"\1", value)


def _part(part: str, text: str) -> tuple[str, str, bool]:
    for operator, same in (("!=", False), ("==", True), ("=", True)):
        name, found, value = part.partition(operator)
        if found:
            return name, _unescaped(value), same
    raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")


def _is_custom(group: str) -> bool:
    return "." in group and not group.endswith(".k8s.io")


def _unknown(name: str, place: tuple[str, str], more: tuple[str, ...]) -> Exception:
    if place in _TERSE or _is_custom(place[0]):
        return bad_request(f"field label not supported: {name}")
    known = ", ".join(f'"{one}"' for one in (*_EVERYWHERE, *more))
    return bad_request(f'"{name}" is not a known field selector: only {known}')


Matches = Callable[[Object], bool]
