"""Options of requests: checked before anything is done."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import required, unsupported
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.failures import Cause, Named, invalid
from stockman_lab.kube.objects import Object

_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_PROPAGATIONS = ("Foreground", "Background", "Orphan")


def check_options(call: Call, kind: str, *, is_apply: bool = False) -> None:
    """Options of a change; raises `Failure`."""
    request = call.request
    causes = _dry_run_causes(request.query.get("dryRun", []))
    if is_apply and not request.asked("fieldManager"):
        causes.append(required("fieldManager", "is required for apply patch"))
    validation = request.asked("fieldValidation")
    if validation not in _VALIDATIONS:
        causes.append(unsupported("fieldValidation", validation, _VALIDATIONS))
    if causes:
        raise invalid(Named("", "meta.k8s.io", kind), "", causes)


def check_deletion(options: Object) -> None:
    """Options of a deletion; raises `Failure`."""
    causes = _dry_run_causes(options.get("dryRun") or [])
    policy = options.get("propagationPolicy")
    if policy is not None and policy not in _PROPAGATIONS:
        causes.append(unsupported("propagationPolicy", policy, _PROPAGATIONS))
    if causes:
        raise invalid(Named("", "meta.k8s.io", "DeleteOptions"), "", causes)


def _dry_run_causes(supplied: list[str]) -> list[Cause]:
    return [unsupported("dryRun", supplied, ("All",))] if set(supplied) - {"All"} else []
