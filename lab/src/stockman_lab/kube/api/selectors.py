"""Label and field selectors of queries, and which objects a request is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from stockman_lab.kube.admission.names import qualified_error
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.failures import bad_request
from stockman_lab.kube.objects import Object, Tree, metadata_of, part_of

_TERM = re.compile(
    r"""\s*(?:
    !\s*(?P<absent>[^\s=!,()<>]+)
    | (?P<key>[^\s=!,()<>]+)\s*(?:
        (?P<among>in|notin)\s*\((?P<values>[^()]*)\)
        | (?P<sign>==|!=|=)\s*(?P<value>[^\s=!,()<>]*)
      )?
    )\s*(?:,|$)""",
    re.VERBOSE,
)
_EVERYWHERE = ("metadata.name", "metadata.namespace")
_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_FIELDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "pods"): (
        *("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
        *("status.phase", "status.podIP", "status.nominatedNodeName"),
    ),
    ("", "nodes"): ("spec.unschedulable",),
    ("", "namespaces"): ("status.phase",),
    ("", "secrets"): ("type",),
    ("", "services"): ("spec.clusterIP", "spec.type"),
    ("", "events"): (
        *(f"involvedObject.{name}" for name in _INVOLVED),
        *("reason", "reportingComponent", "source", "type"),
    ),
    ("apps", "replicasets"): ("status.replicas",),
    ("batch", "jobs"): ("status.successful",),
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a label has to be."""

    key: str
    operator: str
    """`in`, `notin`, `exists` or `!`."""
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is meant."""
        label = labels.get(self.key)
        match self.operator:
            case "in":
                return label is not None and label in self.values
            case "notin":
                return label is None or label not in self.values
            case "exists":
                return label is not None
        return label is None


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All of several requirements."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is meant."""
        return all(requirement.matches(labels) for requirement in self.requirements)


def read_label_selector(text: str) -> LabelSelector:
    """`app in (a,b),!old`; raises `Failure`."""
    return LabelSelector(tuple(_requirements(text)))


def _requirements(text: str) -> Iterator[Requirement]:
    end = 0
    while end < len(text):
        term = _TERM.match(text, end)
        key = term and (term["absent"] or term["key"])
        if term is None or not key or (term[0].endswith(",") and term.end() == len(text)):
            raise bad_request(f"unable to parse requirement: found '{text[end:]}'")
        if why := qualified_error(key):
            raise bad_request(f'unable to parse requirement: Invalid value: "{key}": {why}')
        end = term.end()
        if term["absent"]:
            yield Requirement(key, "!")
        elif term["among"]:
            values = frozenset(value.strip() for value in term["values"].split(","))
            yield Requirement(key, term["among"], values)
        elif term["sign"]:
            operator = "notin" if term["sign"] == "!=" else "in"
            yield Requirement(key, operator, frozenset({term["value"]}))
        else:
            yield Requirement(key, "exists")


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Values that fields have to have, or must not have."""

    terms: tuple[tuple[str, str, bool], ...] = ()
    """Field, value, and whether it has to be that."""

    def matches(self, content: Object) -> bool:
        """Whether an object is meant."""
        return all((field_text(content, name) == value) is same for name, value, same in self.terms)


def field_text(content: Object, name: str) -> str:
    """A field as selectors see it."""
    tree: Tree
    if name == "source":
        tree = part_of(content, "source").get("component") or content.get("reportingComponent")
    elif name == "status.successful":
        tree = part_of(content, "status").get("succeeded", 0)
    else:
        *way, last = name.split(".")
        tree = part_of(content, *way).get(last)
    if tree is None:
        return {"spec.unschedulable": "false", "status.replicas": "0"}.get(name, "")
    return str(tree).lower() if isinstance(tree, bool) else str(tree)


def read_field_selector(
    text: str, group: str, plural: str, more: tuple[str, ...] = ()
) -> FieldSelector:
    """`spec.nodeName=a,status.phase!=Running`; raises `Failure`."""
    known = (*_EVERYWHERE, *_FIELDS.get((group, plural), ()), *more)
    terms = []
    for part in filter(None, text.split(",")):
        term = re.fullmatch(r"([^=!]+)(==|!=|=)([^=]*)", part)
        if term is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        if term[1] not in known:
            raise bad_request(f"field label not supported: {term[1]}")
        terms.append((term[1], term[3], term[2] != "!="))
    return FieldSelector(tuple(terms))


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects by labels and fields."""

    labels: LabelSelector
    fields: FieldSelector

    @property
    def is_everything(self) -> bool:
        return not self.labels.requirements and not self.fields.terms

    def matches(self, content: Object) -> bool:
        """Whether an object is meant."""
        labels = metadata_of(content).get("labels") or {}
        return self.labels.matches(labels) and self.fields.matches(content)

    @property
    def filter(self) -> Callable[[Object], bool]:
        """Whether an object is meant, at once where all are."""
        return (lambda _: True) if self.is_everything else self.matches


def selection(call: Call) -> Selection:
    """The objects that a list, a watch or a deletion is about; raises `Failure`."""
    request, resource = call.request, call.resource
    labels = read_label_selector(request.asked("labelSelector"))
    selectable: Tree = resource.declared.get("selectableFields") or []
    more = tuple(str(field["jsonPath"]).removeprefix(".") for field in selectable)
    text = request.asked("fieldSelector")
    fields = read_field_selector(text, resource.group, resource.plural, more)
    if call.name:
        fields = FieldSelector((*fields.terms, ("metadata.name", call.name, True)))
    return Selection(labels, fields)
