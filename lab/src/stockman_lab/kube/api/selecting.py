"""Which objects a list, a watch or a deletion of many is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.field_selectors import FieldSelector, read_field_selector
from stockman_lab.kube.api.selectors import LabelSelector, read_label_selector
from stockman_lab.kube.objects import Object, metadata_of


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects by labels and fields."""

    labels: LabelSelector
    fields: FieldSelector

    @property
    def is_everything(self) -> bool:
        return not self.labels.requirements and not self.fields.wanted

    def matches(self, content: Object) -> bool:
        """Whether an object is meant."""
        if self.labels.requirements:
            labels = metadata_of(content).get("labels") or {}
            if not self.labels.matches(labels):
                return False
        return self.fields.matches(content)

    @property
    def filter(self) -> Callable[[Object], bool]:
        """Whether an object is meant, at once where all are."""
        return (lambda _: True) if self.is_everything else self.matches


def selection(call: Call) -> Selection:
    """What a request asks for; raises `Failure`."""
    request, resource = call.request, call.resource
    labels = read_label_selector(request.asked("labelSelector"))
    more = tuple(
        str(one["jsonPath"]).removeprefix(".")
        for one in _selectable(resource.declared.get("selectableFields"))
    )
    text = request.asked("fieldSelector")
    fields = read_field_selector(text, resource.group, resource.plural, more)
    if call.name:
        own = read_field_selector(f"metadata.name={call.name}", "", "")
        fields = FieldSelector((*fields.wanted, *own.wanted))
    return Selection(labels, fields)


def _selectable(found: object) -> list[Object]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
