"""Every problem of the Kubernetes API, made by an answer that its page is compared with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from stockman.adapters.kubernetes.credentials import Credentials, KubernetesEndpoint
from stockman.adapters.kubernetes.transport import HttpKubernetes
from stockman.kubernetes.errors import lost_reply, reply_error, unexpected_answer
from stockman.kubernetes.kubeconfig import ExecPlugin, KubeconfigContext, read_context
from stockman.kubernetes.leases import LeaseRequest
from stockman.kubernetes.transport import Method, Reply, Request
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from tests.adapters.http_proxmox.scripted import ScriptedServer
from tests.kubernetes.scripted import StandingClock, told

PODS = ("api", "v1", "namespaces", "web", "pods")
MAP = ("api", "v1", "namespaces", "web", "configmaps", "wool")


def request(method: Method, *path: str) -> Request:
    return Request(method=method, segments=path, is_read=method == "GET")


def answered(
    request: Request, code: int, message: str, reason: str = "", **details: object
) -> Problem:
    body = {"kind": "Status", "message": message, "reason": reason, "details": details}
    return reply_error(request, Reply(status=code, body=json.dumps(body).encode())).problem


def caught(act: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as exc_info:
        act()
    return exc_info.value.problem


def held() -> Problem:
    lease = {
        "metadata": {"name": "run", "namespace": "stockman", "resourceVersion": "7"},
        "spec": {
            "holderIdentity": "runner-1",
            "leaseDurationSeconds": 15,
            "renewTime": "2030-01-01T00:00:00.000000Z",
        },
    }
    lease_request = LeaseRequest(namespace="stockman", name="run", holder="runner-2")
    return caught(lambda: asyncio.run(told(lease).acquire_lease(lease_request)))


def dialled(port: int = 0, ca: str = "") -> Problem:
    """The problem of a server that is not there, or shows a certificate that nobody vouches for."""

    async def asked() -> None:
        server = ScriptedServer()
        async with server.serving():
            context = KubeconfigContext(server=f"https://127.0.0.1:{port or server.port}", ca=ca)
            async with HttpKubernetes(
                KubernetesEndpoint(context=context), StandingClock()
            ) as kubernetes:
                await kubernetes.server_version()

    return caught(lambda: asyncio.run(asked()))


def unwanted_program() -> Problem:
    plugin = ExecPlugin(command="cloud-login", arguments=("token",))
    context = KubeconfigContext(
        name="admin@meadow", server="https://10.42.0.10:6443", plugin=plugin
    )
    return caught(lambda: Credentials(KubernetesEndpoint(context=context), StandingClock()))


GET_MAP = request("GET", *MAP)

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "kubernetes.answer": lambda: unexpected_answer(GET_MAP, "metadata is missing").problem,
    "kubernetes.blocked": lambda: answered(
        request("POST", *PODS, "web-1", "eviction"),
        429,
        "Cannot evict pod as it would violate the pod's disruption budget.",
        "TooManyRequests",
        causes=[{"reason": "DisruptionBudget", "message": "The disruption budget web needs 2"}],
    ),
    "kubernetes.busy": lambda: answered(
        GET_MAP, 429, "too many requests, please try again later", "TooManyRequests"
    ),
    "kubernetes.certificate": dialled,
    "kubernetes.conflict": lambda: answered(
        request("PUT", *MAP),
        409,
        'Operation cannot be fulfilled on configmaps "wool": the object has been modified; please'
        " apply your changes to the latest version and try again",
        "Conflict",
        name="wool",
    ),
    "kubernetes.denied": lambda: answered(
        request("GET", *PODS),
        403,
        'pods is forbidden: User "shepherd" cannot list resource "pods" in API group "" in the'
        ' namespace "web"',
        "Forbidden",
        kind="pods",
    ),
    "kubernetes.exists": lambda: answered(
        request("POST", *MAP[:-1]),
        409,
        'configmaps "wool" already exists',
        "AlreadyExists",
        name="wool",
    ),
    "kubernetes.expired": lambda: answered(
        request("GET", *PODS), 410, "too old resource version: 12 (4711)", "Expired"
    ),
    "kubernetes.field-conflict": lambda: answered(
        request("PATCH", *MAP),
        409,
        'Apply failed with 1 conflict: conflict with "kubectl" using v1: .data.grade',
        "Conflict",
        causes=[
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "kubectl" using v1',
                "field": ".data.grade",
            }
        ],
    ),
    "kubernetes.invalid": lambda: answered(
        request("POST", *PODS),
        422,
        'Pod "web" is invalid: spec.containers: Required value',
        "Invalid",
        causes=[{"field": "spec.containers", "message": "Required value"}],
    ),
    "kubernetes.kubeconfig": lambda: caught(
        lambda: read_context("kubeconfig", Secret("apiVersion: v1\nkind: Config\n"))
    ),
    "kubernetes.lease": held,
    "kubernetes.no-such-kind": lambda: (
        reply_error(
            request("GET", "apis", "helm.toolkit.fluxcd.io", "v2", "helmreleases"),
            Reply(status=404, body=b"404 page not found\n"),
        ).problem
    ),
    "kubernetes.not-found": lambda: answered(
        GET_MAP, 404, 'configmaps "wool" not found', "NotFound", name="wool"
    ),
    "kubernetes.not-let-in": lambda: answered(GET_MAP, 401, "Unauthorized", "Unauthorized"),
    "kubernetes.plugin": unwanted_program,
    "kubernetes.refused": lambda: answered(
        request("POST", *PODS),
        500,
        'Internal error occurred: failed calling webhook "pods.policy.invalid": connection refused',
        "InternalError",
    ),
    "kubernetes.rejected": lambda: answered(
        request("PATCH", *MAP),
        400,
        "error decoding patch: unexpected end of JSON input",
        "BadRequest",
    ),
    "kubernetes.silent": lambda: lost_reply(GET_MAP, "no complete reply within 20 s").problem,
    "kubernetes.unknown-outcome": lambda: (
        lost_reply(request("POST", *PODS), "the connection was lost").problem
    ),
    "kubernetes.unreachable": lambda: dialled(port=1),
}
