"""Problems of the Kubernetes API: each says what is wrong, why, and what would put it right."""

from __future__ import annotations

from stockman.model.problem import Problem

_NO_REASON = "it gives no reason"


def authentication_problem(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.not-let-in",
        what="Kubernetes does not know who asks",
        where=where,
        why=told or _NO_REASON,
        fix="make a new kubeconfig from the secrets bundle: `stockman config kubeconfig --renew`",
    )


def forbidden(where: str, told: str, what: str = "this call") -> Problem:
    return Problem(
        code="kubernetes.denied",
        what=f"Kubernetes does not allow {what}",
        where=where,
        why=told or _NO_REASON,
        fix="bind a role that allows it to the user of the kubeconfig, or put right what it names",
    )


def not_found(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.not-found",
        what="Kubernetes does not have what is named here",
        where=where,
        why=told or _NO_REASON,
        fix="check name and namespace; it may also not be there yet",
    )


def unknown_kind(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.no-such-kind",
        what="this Kubernetes does not serve such objects, or not in this way",
        where=where,
        why=told or "there is nothing under this path",
        fix="install what brings their definition, or compare versions with `stockman versions`",
    )


def already_exists(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.exists",
        what="Kubernetes has an object of this name already",
        where=where,
        why=told or _NO_REASON,
        fix="look at what is there before making it again",
    )


def conflict(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.conflict",
        what="the object is no longer as it was read",
        where=where,
        why=told or _NO_REASON,
        fix="run it again: it is read anew then",
    )


def field_conflict(where: str, told: str, managers: str) -> Problem:
    return Problem(
        code="kubernetes.field-conflict",
        what=f"fields that were to be set belong to {managers}",
        where=where,
        why=told,
        fix="leave these fields to whoever set them, or take them over knowingly",
    )


def invalid(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.invalid",
        what="fields of the object are wrong",
        where=where,
        why=told or _NO_REASON,
        fix="change what it names",
    )


def bad_request(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.rejected",
        what="Kubernetes does not take what it was given",
        where=where,
        why=told or _NO_REASON,
        fix="change what it names",
    )


def server_failure(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.refused",
        what="Kubernetes could not do it",
        where=where,
        why=told or _NO_REASON,
        fix="put right what it names, or see the log of the API server",
    )


def too_many_requests(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.busy",
        what="the API server has too much to do",
        where=where,
        why=told or _NO_REASON,
        fix="wait a while, and look who asks it so often",
    )


def disruption_budget(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.blocked",
        what="a disruption budget keeps a pod from being evicted",
        where=where,
        why=told or _NO_REASON,
        fix="wait until other pods of the workload are ready, or change its budget",
    )


def expiry(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.expired",
        what="Kubernetes no longer keeps what was to be continued",
        where=where,
        why=told or _NO_REASON,
        fix="list the objects anew",
    )


def lease_conflict(where: str, told: str) -> Problem:
    return Problem(
        code="kubernetes.lease",
        what="somebody else holds the lease",
        where=where,
        why=told,
        fix="wait until it is given back or has ended; look who it is before taking it away",
    )


def no_reply(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.silent",
        what="the answer of Kubernetes did not come, or not to its end",
        where=where,
        why=why,
        fix="look whether the API server and its etcd are up, and ask again",
    )


def unreachable(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.unreachable",
        what="no API of Kubernetes answers",
        where=where,
        why=why,
        fix="check the address in the kubeconfig, the control plane and the network between",
    )


def unknown_outcome(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.unknown-outcome",
        what="nobody knows whether Kubernetes did what it was asked to do",
        where=where,
        why=why,
        fix="look at the object before doing it again",
    )


def unexpected_answer(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.answer",
        what="what answers is not, or not yet, the API of Kubernetes as we know it",
        where=where,
        why=why,
        fix="compare its version with those that `stockman versions` lists",
    )


def certificate_failure(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.certificate",
        what="the certificate of the API server is not one to be trusted, and nothing was sent",
        where=where,
        why=why,
        fix="look whether it is the server that is meant, and in this cluster",
    )


def kubeconfig_failure(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.kubeconfig",
        what="the kubeconfig cannot be used",
        where=where,
        why=why,
        fix="make it anew: `stockman config kubeconfig --renew`",
    )


def exec_plugin(where: str, why: str) -> Problem:
    return Problem(
        code="kubernetes.plugin",
        what="the kubeconfig gets its credentials from another program",
        where=where,
        why=why,
        fix="use one with a client certificate or a token, or allow that its program is run",
    )


def invalid_name(where: str, segment: str) -> Problem:
    return bad_request(where, f"{segment!r} is not a name")
