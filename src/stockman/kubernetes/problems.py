"""Problems of the Kubernetes API."""

from __future__ import annotations

from stockman.model.problem import Problem

_NO_REASON = "no reason given"


def authentication_problem(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.not-let-in",
        what="the API server rejects the credentials",
        where=where,
        why=message or _NO_REASON,
        fix="create a new kubeconfig from the secrets bundle: `stockman config kubeconfig --renew`",
    )


def forbidden(where: str, message: str, what: str = "this request") -> Problem:
    return Problem(
        code="kubernetes.denied",
        what=f"Kubernetes denies {what}",
        where=where,
        why=message or _NO_REASON,
        fix="bind a role that allows it to the user of the kubeconfig, or see the reason above",
    )


def not_found(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.not-found",
        what="the object does not exist in Kubernetes",
        where=where,
        why=message or _NO_REASON,
        fix="check name and namespace; the object may not have been created yet",
    )


def unknown_kind(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.no-such-kind",
        what="the API server does not serve this kind of object",
        where=where,
        why=message or "the path does not exist",
        fix="install the component that defines it, or compare versions with `stockman versions`",
    )


def already_exists(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.exists",
        what="an object with this name already exists",
        where=where,
        why=message or _NO_REASON,
        fix="check the existing object",
    )


def conflict(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.conflict",
        what="the object was changed after it was read",
        where=where,
        why=message or _NO_REASON,
        fix="run the command again: it reads the current version first",
    )


def field_conflict(where: str, message: str, managers: str) -> Problem:
    return Problem(
        code="kubernetes.field-conflict",
        what=f"fields are managed by {managers}",
        where=where,
        why=message,
        fix="leave these fields to their managers, or remove them there",
    )


def invalid(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.invalid",
        what="the object has invalid fields",
        where=where,
        why=message or _NO_REASON,
        fix="correct what is named above",
    )


def bad_request(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.rejected",
        what="the API server rejects the request as invalid",
        where=where,
        why=message or _NO_REASON,
        fix="correct what is named above",
    )


def server_failure(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.refused",
        what="the API server reports an internal error",
        where=where,
        why=message or _NO_REASON,
        fix="correct what is named above, or see the log of the API server",
    )


def too_many_requests(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.busy",
        what="the API server limits the rate of requests",
        where=where,
        why=message or _NO_REASON,
        fix="wait, and find clients that send many requests",
    )


def disruption_budget(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.blocked",
        what="a PodDisruptionBudget prevents the eviction of a pod",
        where=where,
        why=message or _NO_REASON,
        fix="wait until other pods of the workload are ready, or change the budget",
    )


def expiry(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.expired",
        what="the requested resource version has expired",
        where=where,
        why=message or _NO_REASON,
        fix="list the objects again",
    )


def lease_conflict(where: str, message: str) -> Problem:
    return Problem(
        code="kubernetes.lease",
        what="another process holds the lease",
        where=where,
        why=message,
        fix="wait until it is released or expires; check the holder before you delete it",
    )


def no_reply(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.silent",
        what="the API server did not respond in time",
        where=where,
        why=why,
        fix="check that the API server and etcd are up, then run the command again",
    )


def unreachable(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.unreachable",
        what="no API server is reachable",
        where=where,
        why=why,
        fix="check the address in the kubeconfig, the control plane and the network",
    )


def unknown_outcome(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.unknown-outcome",
        what="it is unknown whether Kubernetes made the change",
        where=where,
        why=why,
        fix="check the object before you run it again",
    )


def unexpected_answer(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.answer",
        what="unexpected response: the server is not Kubernetes, or its version is not supported",
        where=where,
        why=why,
        fix="compare its version with the versions that `stockman versions` lists",
    )


def certificate_failure(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.certificate",
        what="the certificate of the API server is not trusted, and nothing was sent",
        where=where,
        why=why,
        fix="check that the address belongs to an API server of this cluster",
    )


def kubeconfig_failure(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.kubeconfig",
        what="the kubeconfig cannot be used",
        where=where,
        why=why,
        fix="create a new one: `stockman config kubeconfig --renew`",
    )


def exec_plugin(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.plugin",
        what="the credential plugin of the kubeconfig cannot be used",
        where=where,
        why=why,
        fix="use a kubeconfig with a client certificate or a token, or allow credential plugins",
    )


def invalid_name(where: str, segment: str) -> Problem:
    return bad_request(where, f"{segment!r} is not a valid name")
