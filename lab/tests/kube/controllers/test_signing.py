"""Requests of kubelets for certificates are approved, others are not."""

from __future__ import annotations

import json

import pytest
from stockman_lab.kube.api.messages import Request, User

from lab.tests.kube.controllers.playing import Played, played

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
KUBELET = "kubernetes.io/kube-apiserver-client-kubelet"


def asked(signer: str, *groups: str) -> Played:
    lab = played()
    spec = {"signerName": signer, "request": "d29vbA==", "usages": ["client auth"]}
    body = json.dumps({"metadata": {"name": "wool"}, "spec": spec}).encode()
    headers = {"content-type": "application/json"}
    user = User("system:bootstrap:abcdef", groups)
    answer = lab.server.api.handle(Request("POST", REQUESTS, {}, headers, body, user))
    assert answer.status == 201, answer.body
    lab.run()
    return lab


def test_a_kubelet_that_joins_is_approved() -> None:
    lab = asked(KUBELET, "system:bootstrappers")

    conditions = lab.get(f"{REQUESTS}/wool")["status"]["conditions"]

    assert [(condition["type"], condition["reason"]) for condition in conditions] == [
        ("Approved", "AutoApproved")
    ]


@pytest.mark.parametrize("signer", ["kubernetes.io/kubelet-serving", "example.org/wool"])
def test_other_requests_wait_for_somebody(signer: str) -> None:
    lab = asked(signer, "system:bootstrappers")

    assert "conditions" not in lab.get(f"{REQUESTS}/wool")["status"]
