"""Who may do what: kubectl is told the same by the lab and by a real kube-apiserver."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from subprocess import CompletedProcess

import pytest

from tests.real.kube_served import kubectl_on_lab
from tests.real.rendered.api_server import api_server
from tools.pytest_plugin import RealTool

Ask = Callable[..., "CompletedProcess[str]"]

RULES = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: giver}
rules:
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings, clusterroles, clusterrolebindings]
  verbs: [get, list, create, update, patch, delete]
- {apiGroups: [""], resources: [configmaps], verbs: [get]}
- {apiGroups: [""], resources: [secrets], resourceNames: [one], verbs: [get, update]}
- {apiGroups: [apps], resources: ["*/scale"], verbs: ["*"]}
- {nonResourceURLs: ["/logs/*"], verbs: [get]}
"""
RULE = {"apiGroups": ["apps"], "resources": ["x"], "verbs": ["*"]}
GRANT = json.dumps([{"op": "add", "path": "/rules/-", "value": RULE}])
JANE = ("--as=jane", "--as-group=dev")
BOT = ("--as=system:serviceaccount:pen:bot",)
SETTING = (
    ("create", "ns", "pen"),
    ("create", "sa", "bot", "-n", "pen"),
    ("create", "secret", "generic", "one", "-n", "pen"),
    ("create", "clusterrolebinding", "giver", "--clusterrole=giver", "--user=jane"),
    ("create", "role", "reader", "-n", "pen", "--verb=get,list,watch", "--resource=pods,pods/log"),
    ("create", "rolebinding", "bot", "-n", "pen", "--role=reader", "--serviceaccount=pen:bot"),
    ("create", "rolebinding", "dev", "-n", "pen", "--role=reader", "--group=dev"),
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("auth", "can-i", "--list"),
    ("auth", "can-i", "--list", *JANE),
    ("auth", "can-i", "--list", "-n", "pen", *JANE),
    ("auth", "can-i", "--list", "-n", "pen", *BOT),
    ("auth", "can-i", "--list", "--as=system:anonymous", "--as-group=system:unauthenticated"),
    ("auth", "can-i", "list", "pods", "-n", "pen", *BOT),
    ("auth", "can-i", "list", "pods", *BOT),
    ("auth", "can-i", "get", "pods", "--subresource=log", "-n", "pen", *BOT),
    ("auth", "can-i", "get", "pods", "--subresource=exec", "-n", "pen", *BOT),
    ("auth", "can-i", "get", "secrets/one", "-n", "pen", *JANE),
    ("auth", "can-i", "get", "secrets/two", "-n", "pen", *JANE),
    ("auth", "can-i", "get", "/logs/kubelet", *JANE),
    ("auth", "can-i", "get", "/metrics", *JANE),
    ("auth", "can-i", "get", "/healthz", "--as=nobody"),
    ("auth", "can-i", "*", "*"),
    ("auth", "can-i", "*", "*", *JANE),
    ("auth", "can-i", "get", "nodes", *JANE),
    ("auth", "can-i", "shear", "sheep", *JANE),
    ("auth", "can-i", "patch", "deployments.apps", "--subresource=scale", *JANE),
    ("auth", "whoami", *JANE),
    ("auth", "whoami", *BOT),
    ("auth", "whoami", "-o", "json", "--as=joe", "--as-uid=7", "--as-user-extra=wool=white"),
    ("get", "pods", *JANE),
    ("get", "pods", "-n", "pen", *BOT),
    ("get", "pods", "-A", *BOT),
    ("get", "pod", "one", "-n", "away", *BOT),
    ("get", "nodes", *JANE),
    ("get", "deployments", "-n", "pen", *JANE),
    ("get", "secret", "two", "-n", "pen", *JANE),
    ("get", "ns", "pen", *JANE),
    ("get", "crd", *JANE),
    ("get", "--raw", "/metrics", *JANE),
    ("get", "--raw", "/", "--as=system:anonymous", "--as-group=system:unauthenticated"),
    ("get", "--raw", "/nowhere", *JANE),
    ("get", "--raw", "/apis/wool.example/v1/sheep", *JANE),
    ("delete", "ns", "pen", *JANE),
    ("delete", "pods", "--all", "-n", "pen", *BOT),
    ("create", "cm", "wool", "-n", "pen", *JANE),
    ("create", "token", "bot", "-n", "pen", *JANE),
    ("create", "token", "nobody", "-n", "pen"),
    ("create", "token", "bot", "-n", "pen", "-o", "json", "--show-managed-fields"),
    ("create", "token", "bot", "-n", "pen", "--duration=5m"),
    ("create", "token", "bot", "-n", "pen", "--bound-object-kind=Pod", "--bound-object-name=x"),
    ("create", "token", "bot", "-n", "pen", "--bound-object-kind=Node", "--bound-object-name=x"),
    ("create", "role", "a", "-n", "pen", "--verb=get", "--resource=configmaps", *JANE),
    ("create", "role", "b", "-n", "pen", "--verb=get,list", "--resource=pods,configmaps", *JANE),
    ("create", "role", "c", "-n", "pen", "--verb=get", "--resource=secrets", *JANE),
    (
        *("create", "role", "d", "-n", "pen", "--verb=get", "--resource=secrets"),
        *("--resource-name=one", *JANE),
    ),
    ("create", "clusterrole", "e", "--verb=get", "--non-resource-url=/logs/*", *JANE),
    ("create", "clusterrole", "f", "--verb=get", "--non-resource-url=/metrics", *JANE),
    ("patch", "role", "a", "-n", "pen", "--type=json", "-p", GRANT, *JANE),
    ("create", "rolebinding", "g", "-n", "pen", "--role=a", "--user=joe", *JANE),
    ("create", "rolebinding", "h", "-n", "pen", "--role=nothing", "--user=joe", *JANE),
    ("create", "clusterrolebinding", "i", "--clusterrole=cluster-admin", "--user=joe", *JANE),
    ("get", "clusterroles", "-o", "name"),
    ("get", "clusterrolebindings", "-o", "wide", "--no-headers"),
    ("get", "role,rolebinding", "-n", "kube-system", "-o", "name"),
    ("get", "clusterrole", "system:node", "-o", "jsonpath={.rules}"),
    ("describe", "clusterrole", "system:kube-scheduler"),
    ("delete", "role", "a", "-n", "pen", *JANE),
)
OF_TALOS = ("system:coredns", "system-bootstrap", "cilium")
"""What Talos and the network put into clusters beside what the server does."""
MOVES = (
    (re.compile(r"https://[\d.:]+"), "SERVER"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UID"),
    (re.compile(r"eyJ[\w.-]+"), "TOKEN"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "MOMENT"),
    (re.compile(r"(?<=\s)(\d+[dhms])+(?=\s|$)"), "AGE"),
)


@dataclass(frozen=True)
class Both:
    """The same kubectl on two servers."""

    lab: Ask
    real: Ask


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Both]:
    with ExitStack() as stack:
        mktemp = tmp_path_factory.mktemp("real")
        real = stack.enter_context(api_server(mktemp, real_tool))
        scratch = tmp_path_factory.mktemp("lab")
        lab = stack.enter_context(kubectl_on_lab(scratch, real_tool("kubectl"), "127.95.0.0/16"))
        for one in (lab, real):
            assert one.ask("apply", "-f", "-", text=RULES).returncode == 0
            for command in SETTING:
                found = one.ask(*command)
                assert found.returncode == 0, found.stderr
        yield Both(lab.ask, real.ask)


def normalised(found: CompletedProcess[str]) -> tuple[int, str, str]:
    """How a command ended and what it printed, without what moves."""
    texts = []
    for text in (found.stdout, found.stderr):
        for pattern, word in MOVES:
            text = pattern.sub(word, text)
        lines = (" ".join(line.split()) for line in text.splitlines())
        texts.append(
            "\n".join(line for line in lines if not any(talo in line for talo in OF_TALOS))
        )
    return found.returncode, texts[0], texts[1]


def test_both_servers_tell_the_same(both: Both) -> None:
    def outputs(ask: Ask) -> dict[str, tuple[int, str, str]]:
        return {" ".join(command): normalised(ask(*command)) for command in COMMANDS}

    with ThreadPoolExecutor(2) as pool:
        lab, real = pool.map(outputs, (both.lab, both.real))

    assert lab == real


def test_tokens_say_the_same(both: Both) -> None:
    claims = []
    for ask in (both.lab, both.real):
        token = ask("create", "token", "bot", "-n", "pen", "--audience=wool", "--duration=1h")
        head, body, _ = (_decoded(one) for one in token.stdout.strip().split("."))
        said = json.loads(body)
        about = said["kubernetes.io"]
        uid = about["serviceaccount"].pop("uid")
        lasting = said.pop("exp") - said.pop("iat")
        del said["nbf"], said["jti"], said["iss"]
        assert len(uid) == len("ef2967a6-71fe-4cb1-a034-e00f7e53782c")
        claims.append((json.loads(head)["alg"], said, lasting))

    assert claims[0] == claims[1]


@pytest.mark.parametrize(
    ("path", "review"),
    [
        (
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {
                    "user": "jane",
                    "groups": ["dev"],
                    "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "pen"},
                },
            },
        ),
        (
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {},
            },
        ),
        (
            "/apis/authorization.k8s.io/v1/namespaces/pen/localsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "LocalSubjectAccessReview",
                "metadata": {"namespace": "pen"},
                "spec": {
                    "user": "system:serviceaccount:pen:bot",
                    "resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "pen"},
                },
            },
        ),
        (
            "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectRulesReview",
                "spec": {},
            },
        ),
        (
            "/apis/authentication.k8s.io/v1/tokenreviews",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenReview",
                "spec": {"token": "wool"},
            },
        ),
        (
            "/api/v1/namespaces/pen/serviceaccounts/bot/token",
            {"spec": {"expirationSeconds": "long"}},
        ),
        (
            "/apis/authentication.k8s.io/v1/tokenreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {}},
        ),
    ],
)
def test_reviews_are_answered_alike(both: Both, path: str, review: dict[str, object]) -> None:
    lab, real = (
        normalised(ask("create", "--raw", path, "-f", "-", text=json.dumps(review)))
        for ask in (both.lab, both.real)
    )

    assert lab == real


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
