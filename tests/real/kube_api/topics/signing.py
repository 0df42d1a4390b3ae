"""Requests for certificates, and decisions about them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import made
from tests.real.kube_api.talking import MERGE, Step

REQUEST = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIdE1JR1VB"  # not-a-secret: a public request
    "Z0VBTURJeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVaTUJjR0Ex"  # not-a-secret: a public request
    "VUVBd3dRYzNsegpkR1Z0T201dlpHVTZkMjl2YkRCWk1CTUdCeXFHU000OUFn"  # not-a-secret: a public request
    "RUdDQ3FHU000OUF3RUhBMElBQkRQUGxOZTMydUVvCjBCL28vT040Tm1mc3l3"  # not-a-secret: a public request
    "Y1IvTFZDRUVhK3lSSEdHNCtqdzB0eWNCcVcwS01OREhDN1FVU2RDdWVlVHlG"  # not-a-secret: a public request
    "SEtVRUcKQ2N6R3BtQ21jWitnQURBS0JnZ3Foa2pPUFFRREFnTklBREJGQWlF"  # not-a-secret: a public request
    "QTdtRjk3ZDhyVnNUcDJ3NTk0VzAycEV4MApNR0Rha0UybFJmV1IrZlYxT0NJ"  # not-a-secret: a public request
    "Q0lFbWVWUi8wNk5UYWtuRjVCbVRGbHlxUnZoWjFZOElCY2ZscEdxRml0OXBM"  # not-a-secret: a public request
    "Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="  # not-a-secret: a public request
)
"""For `system:node:wool`; the letters of the placeholder for namespaces are not in it."""
_PLACE = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def _condition(kind: str) -> dict[str, str]:
    return {"type": kind, "status": "True", "reason": "Good", "message": "yes"}


def signing() -> Iterator[Step]:
    spec = {"request": REQUEST, "signerName": "example.org/wool", "usages": ["client auth"]}
    asked = made("CertificateSigningRequest", "certificates.k8s.io/v1", "NS", spec=spec)
    one, approval, status = f"{_PLACE}/NS", f"{_PLACE}/NS/approval", f"{_PLACE}/NS/status"
    approved = {"status": {"conditions": [_condition("Approved")]}}
    yield Step("POST", _PLACE, asked)
    yield Step("PATCH", status, approved, MERGE)
    yield Step("PUT", approval, {**asked, **approved})
    yield Step("PATCH", approval, approved, MERGE)
    yield Step("GET", approval)
    yield Step("PATCH", status, {"status": {"conditions": [_condition("Failed")]}}, MERGE)
    yield Step("PATCH", approval, {"status": {"conditions": [_condition("Denied")]}}, MERGE)
    yield Step("PATCH", approval, {"status": {"conditions": []}}, MERGE)
    yield Step("PATCH", one, {"spec": {"signerName": "x.y/z"}}, MERGE)
    yield Step("PATCH", one, {"metadata": {"labels": {"a": "b"}}}, MERGE)
    yield Step("DELETE", one)
