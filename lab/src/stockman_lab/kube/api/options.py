"""Options of requests: checked before anything is done."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import quoted, required, unsupported, wrong
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.failures import Cause, Named, invalid
from stockman_lab.kube.objects import Object

_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_MANAGER_LENGTH = 128
_PROPAGATIONS = ("Foreground", "Background", "Orphan")


def check_options(call: Call, kind: str, *, is_apply: bool = False) -> None:
    """Options of a change; raises `Failure`."""
    request = call.request
    causes: list[Cause] = []
    dry = request.query.get("dryRun", [])
    if set(dry) - {"All"}:
        causes.append(_not_dry(dry))
    manager = request.asked("fieldManager")
    if is_apply and not manager:
        causes.append(required("fieldManager", "is required for apply patch"))
    if len(manager) > _MANAGER_LENGTH:
        text = f"Too long: may not be more than {_MANAGER_LENGTH} bytes"
        causes.append(Cause("FieldValueTooLong", text, "fieldManager"))
    odd = next((place for place, one in enumerate(manager) if not one.isprintable()), None)
    if odd is not None:
        where = len(manager[:odd].encode())
        why = f"invalid character {_code_point(manager[odd])} (at position {where})"
        causes.append(wrong("fieldManager", manager, why))
    if kind == "PatchOptions" and not is_apply and request.asked("force"):
        text = "Forbidden: may not be specified for non-apply patch"
        causes.append(Cause("FieldValueForbidden", text, "force"))
    validation = request.asked("fieldValidation")
    if validation not in _VALIDATIONS:
        causes.append(unsupported("fieldValidation", validation, _VALIDATIONS))
    if causes:
        raise invalid(Named("", "meta.k8s.io", kind), "", causes)


def _code_point(one: str) -> str:
    return f"U+{ord(one):04X}"


def _not_dry(dry: list[str]) -> Cause:
    text = f'Unsupported value: {quoted(dry)}: supported values: "All"'
    return Cause("FieldValueNotSupported", text, "dryRun")


def check_deletion(options: Object) -> None:
    """Options of a deletion; raises `Failure`."""
    causes: list[Cause] = []
    policy = options.get("propagationPolicy")
    if policy is not None and options.get("orphanDependents") is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        causes.append(wrong("propagationPolicy", policy, why))
    if policy is not None and policy not in _PROPAGATIONS:
        causes.append(unsupported("propagationPolicy", policy, (*_PROPAGATIONS, "nil")))
    dry = options.get("dryRun")
    if dry and set(dry) - {"All"}:
        causes.append(_not_dry(dry))
    if causes:
        raise invalid(Named("", "meta.k8s.io", "DeleteOptions"), "", causes)
