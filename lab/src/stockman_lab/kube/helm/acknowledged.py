"""What programs write into the status of objects that are in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"
_RESOURCES = "cert-manager"
"""The namespace in which issuers of the whole cluster look for their Secrets."""


class Found(NamedTuple):
    """An object that is looked for."""

    plural: str
    key: str
    group: str = ""


Look = Callable[[Found], Object | None]


class Word(NamedTuple):
    """A condition."""

    type: str
    status: str
    reason: str
    message: str = ""


def conditions_of(plural: str, content: Object, look: Look) -> tuple[Word, ...]:
    """What is said of an object itself."""
    match plural:
        case "clusterissuers" | "issuers":
            return (_issuer(plural, content, look),)
        case "certificates":
            return (_certificate(content, look),)
        case "gatewayclasses":
            return (Word("Accepted", "True", "Accepted", "Valid GatewayClass"),)
        case "gateways":
            told = "The Gateway has been scheduled by Envoy Gateway"
            ready = "Address assigned to the Gateway, 2/2 envoy replicas available"
            return (
                Word("Accepted", "True", "Accepted", told),
                Word("Programmed", "True", "Programmed", ready),
            )
        case "apiservices":
            return (Word("Available", "True", "Passed", "all checks passed"),)
        case _:
            return ()


def status_of(plural: str, content: Object, words: tuple[Word, ...], now: str) -> Object:
    """The status with these conditions; times change with what they tell only."""
    before = part_of(content, "status")
    if plural == "httproutes":
        return {**before, "parents": list(_parents(content, now))}
    if plural == "apiservices" and not part_of(content, "spec").get("service"):
        return before
    kept = {entry.get("type"): entry for entry in entries_of(content, "status", "conditions")}
    return {**before, "conditions": [_written(one, kept, content, now) for one in words]}


def _issuer(plural: str, content: Object, look: Look) -> Word:
    spec = part_of(content, "spec")
    name = str(part_of(spec, "ca").get("secretName", ""))
    if not name:
        if "acme" in spec:
            told = "The ACME account was registered with the ACME server"
            return Word("Ready", "True", "ACMEAccountRegistered", told)
        return Word("Ready", "True", "IsReady")
    own = str(metadata_of(content).get("namespace", ""))
    namespace = _RESOURCES if plural == "clusterissuers" else own
    if look(Found("secrets", f"{namespace}/{name}")) is None:
        told = f'Error getting keypair for CA issuer: secrets "{name}" not found'
        return Word("Ready", "False", "ErrGetKeyPair", told)
    return Word("Ready", "True", "KeyPairVerified", "Signing CA verified")


def _certificate(content: Object, look: Look) -> Word:
    reference = part_of(content, "spec", "issuerRef")
    name = str(reference.get("name", ""))
    if reference.get("kind", "Issuer") == "ClusterIssuer":
        issuer = look(Found("clusterissuers", name, "cert-manager.io"))
    else:
        namespace = metadata_of(content)["namespace"]
        issuer = look(Found("issuers", f"{namespace}/{name}", "cert-manager.io"))
    entries = entries_of(issuer, "status", "conditions") if issuer is not None else []
    if any(entry.get("type") == "Ready" and entry.get("status") == "True" for entry in entries):
        told = "Certificate is up to date and has not expired"
        return Word("Ready", "True", "Ready", told)
    told = "Issuing certificate as Secret does not exist"
    return Word("Ready", "False", "DoesNotExist", told)


def _parents(content: Object, now: str) -> Iterator[Object]:
    before = {
        str(part_of(entry, "parentRef")): {
            condition.get("type"): condition for condition in entries_of(entry, "conditions")
        }
        for entry in entries_of(content, "status", "parents")
    }
    for reference in entries_of(content, "spec", "parentRefs"):
        kept = before.get(str(reference), {})
        words = (
            Word("Accepted", "True", "Accepted", "Route is accepted"),
            Word("ResolvedRefs", "True", "ResolvedRefs", "Resolved all the Object references"),
        )
        yield {
            "controllerName": _ENVOY,
            "parentRef": reference,
            "conditions": [_written(one, kept, content, now) for one in words],
        }


def _written(word: Word, kept: dict[object, Object], content: Object, now: str) -> Object:
    before = kept.get(word.type, {})
    since = before.get("lastTransitionTime") if before.get("status") == word.status else None
    condition: Object = {
        "type": word.type,
        "status": word.status,
        "reason": word.reason,
        "message": word.message,
        "lastTransitionTime": since or now,
    }
    generation = metadata_of(content).get("generation")
    return {**condition, "observedGeneration": generation} if generation else condition
