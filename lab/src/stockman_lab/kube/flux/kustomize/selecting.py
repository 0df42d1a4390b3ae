"""Which resources a patch is for."""

from __future__ import annotations

import re

from stockman.crypto.sops.selectors import compile_go_regex
from stockman_lab.kube.api.selectors import read_label_selector
from stockman_lab.kube.failures import Failure
from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.resource import Resource, Resources
from stockman_lab.kube.objects import Object


def selected(resources: Resources, target: Object) -> list[Resource]:
    """The resources that a target means: regular expressions, and selectors; all of them."""
    forms = {
        name: _form(str(target[name]))
        for name in ("group", "version", "kind", "name", "namespace")
        if target.get(name)
    }
    return [
        resource
        for resource in resources
        if _fits(resource, forms)
        and _matches(target.get("labelSelector"), resource.labels)
        and _matches(target.get("annotationSelector"), resource.annotations)
    ]


def _form(text: str) -> re.Pattern[str]:
    try:
        return compile_go_regex(f"^(?:{text})$")
    except ValueError as why:
        raise BuildFailure(f"error parsing regexp: {why}: `{text}`") from None


def _fits(one: Resource, forms: dict[str, re.Pattern[str]]) -> bool:
    first, now = one.at_first, one.now
    said = {
        "namespace": (first.place, now.place),
        "name": (first.name, now.name),
        "group": (now.group,),
        "version": (now.version,),
        "kind": (now.kind,),
    }
    return all(any(form.search(text) for text in said[name]) for name, form in forms.items())


def _matches(selector: object, labels: Object) -> bool:
    if not selector:
        return True
    try:
        return read_label_selector(str(selector)).matches(labels)
    except Failure as why:
        raise BuildFailure(why.message) from None
