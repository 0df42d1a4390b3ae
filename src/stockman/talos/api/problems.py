"""Problems of the Talos API: each says what is wrong, why, and what would put it right."""

from __future__ import annotations

from stockman.model.problem import Problem
from stockman.talos.api.wire import Request


def denied(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.denied",
        what="Talos does not allow this call",
        where=request.shown,
        why=told or "it gives no reason",
        fix="use a client certificate with a role that may, such as os:admin",
    )


def not_let_in(where: str, why: str) -> Problem:
    return Problem(
        code="talos.not-let-in",
        what="Talos does not accept our client certificate",
        where=where,
        why=why,
        fix="make a new one from the secrets bundle: `stockman config talosconfig --renew`",
    )


def missing(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.not-found",
        what="Talos does not have what is named here",
        where=request.shown,
        why=told or "it gives no reason",
        fix="check the name; it may also not be there yet",
    )


def exists(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.exists",
        what="Talos has such a thing already",
        where=request.shown,
        why=told or "it gives no reason",
        fix="look at what is there before doing it again",
    )


def other_state(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.state",
        what="the machine is not in the state that this needs",
        where=request.shown,
        why=told or "it gives no reason",
        fix="look at its stage and its services, and wait until they are what it asks for",
    )


def busy(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.busy",
        what="somebody else works on the machine right now",
        where=request.shown,
        why=told,
        fix="wait until that is done; the events of the machine tell what it is",
    )


def rejected(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.rejected",
        what="Talos does not take what it was given",
        where=request.shown,
        why=told or "it gives no reason",
        fix="change what it names",
    )


def refused(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.refused",
        what="Talos could not do it",
        where=request.shown,
        why=told or "it gives no reason",
        fix="put right what it names, or see the log of the machine",
    )


def no_such_call(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.no-such-call",
        what="this Talos does not offer a call that is needed, or not on this machine",
        where=request.shown,
        why=told or "it does not know it",
        fix="compare its version with those that `stockman versions` lists, and its role",
    )


def node_down(request: Request, told: str) -> Problem:
    return Problem(
        code="talos.node-down",
        what=f"the machine {request.node} cannot be reached by the others",
        where=request.shown,
        why=told,
        fix="look whether its VM runs, and at its console",
    )


def silent(request: Request, why: str) -> Problem:
    return Problem(
        code="talos.silent",
        what="the answer of Talos did not come, or not to its end",
        where=request.shown,
        why=why,
        fix="look whether the machine is up, and ask again",
    )


def unreachable(where: str, why: str) -> Problem:
    return Problem(
        code="talos.unreachable",
        what="no Talos API answers",
        where=where,
        why=why,
        fix="check the endpoints, the machines and the network between",
    )


def unknown_outcome(request: Request, why: str) -> Problem:
    return Problem(
        code="talos.unknown-outcome",
        what="nobody knows whether Talos did what it was asked to do",
        where=request.shown,
        why=why,
        fix="look at the machine before doing it again",
    )


def odd(request: Request, why: str) -> Problem:
    return Problem(
        code="talos.answer",
        what="what answers is not, or not yet, the API of Talos as we know it",
        where=request.shown,
        why=why,
        fix="compare its version with those that `stockman versions` lists",
    )


def installer_failed(request: Request, code: int, lines: tuple[str, ...]) -> Problem:
    said = "; ".join(lines) or "it said nothing"
    return Problem(
        code="talos.installer",
        what=f"the installer ended with exit code {code}, and what is installed stays",
        where=request.shown,
        why=said,
        fix="put right what it names; the machine may boot as before",
    )


def untrusted(where: str, why: str) -> Problem:
    return Problem(
        code="talos.certificate",
        what="the certificate of a machine is not one to be trusted, and nothing was sent",
        where=where,
        why=why,
        fix="look whether it is the machine that is meant, and in this cluster",
    )


def no_identity(why: str) -> Problem:
    return Problem(
        code="talos.identity",
        what="our certificates for Talos cannot be used",
        where="talosconfig",
        why=why,
        fix="make them anew: `stockman config talosconfig --renew`",
    )


def no_address(where: str, why: str) -> Problem:
    return Problem(
        code="talos.address",
        what="this is no address of a Talos machine",
        where=where,
        why=why,
        fix="write it as an IP address or a name, with a port where it is not 50000",
    )
