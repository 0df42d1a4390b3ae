"""Programs that say of their objects that they took note of them: issuers, gateways, metrics.

What stands in the conditions is what the real programs write where nothing is wrong. Certificates
get a Secret with a key pair that an authority of the lab signed; gateways do not pass on traffic.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.helm.acknowledged import Found, conditions_of, status_of
from stockman_lab.kube.helm.definitions import definitions
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of
from stockman_lab.kube.programs import is_ready, program, purposes

_CERTIFICATES, _GATEWAYS = "cert-manager.io", "gateway.networking.k8s.io"


class Kind(NamedTuple):
    """A kind that a program takes note of."""

    purpose: str
    """Of the program, see `programs.Program`."""
    plural: str
    group: str

    @property
    def watched(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


KINDS = (
    Kind("certificates", "clusterissuers", _CERTIFICATES),
    Kind("certificates", "issuers", _CERTIFICATES),
    Kind("certificates", "certificates", _CERTIFICATES),
    Kind("gateways", "gatewayclasses", _GATEWAYS),
    Kind("gateways", "gateways", _GATEWAYS),
    Kind("gateways", "httproutes", _GATEWAYS),
    Kind("metrics", "apiservices", ""),
)
_ALL = "*"


class Acknowledging(Controller):
    """Says of objects that they are in order, while the program is ready that says so."""

    name = "acknowledging"
    component = "acknowledging"
    watches = ("pods", "secrets", *(kind.watched for kind in KINDS))

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """An object; all of a program's when its pod becomes ready, or a Secret comes."""
        if change.key.resource == "pods":
            known = {kind.purpose for kind in KINDS} & purposes(change.newest)
            return [f"{item}/{_ALL}" for item in sorted(known)] if is_ready(change.newest) else ()
        if change.key.resource == "secrets":
            is_pair = change.newest.get("type") == "kubernetes.io/tls"
            return (f"certificates/{_ALL}",) if is_pair else ()
        return (f"{change.key.resource}/{change.name}",)

    def sync(self, key: str) -> None:
        """Look at one object, or at all of a program's."""
        first, _, name = key.partition("/")
        for kind in KINDS:
            if name == _ALL and kind.purpose == first:
                for content in self.objects.listed(kind.plural, group=kind.group):
                    self._look(kind, content)
            elif kind.plural == first and name != _ALL:
                result = self.objects.get(kind.plural, name, kind.group)
                if result is not None:
                    self._look(kind, result)

    def _look(self, kind: Kind, content: Object) -> None:
        if metadata_of(content).get("deletionTimestamp") or not self._has(kind.purpose):
            return
        if kind.plural == "certificates":
            self._issue(content)
        conditions = conditions_of(kind.plural, content, self._found)
        status = status_of(kind.plural, content, conditions, self.today)
        if status != part_of(content, "status"):
            self.client.update_status(content, status)

    def _has(self, purpose: str) -> bool:
        pods = self.objects.listed("pods")
        return any(purpose in purposes(pod) and is_ready(pod) for pod in pods)

    def _found(self, desired: Found) -> Object | None:
        return self.objects.get(desired.plural, desired.key, desired.group)

    def _issue(self, certificate: Object) -> None:
        """Put a key pair where a certificate wants it, once its issuer is ready."""
        spec, metadata = part_of(certificate, "spec"), metadata_of(certificate)
        name, namespace = str(spec.get("secretName", "")), str(metadata["namespace"])
        if not name or self.objects.get("secrets", named_key(namespace, name)) is not None:
            return
        if conditions_of("certificates", certificate, self._found)[0].status != "True":
            return
        try:
            self.client.create("v1", "Secret", self._pair(name, namespace, spec))
        except Refused as why:
            if not why.is_taken:
                raise

    def _pair(self, name: str, namespace: str, spec: Mapping[str, object]) -> Object:
        from stockman_lab.authority.making import new_authority, new_certificate

        now = datetime.fromtimestamp(self.now, UTC)
        random_bytes = self.context.dice.random_bytes
        authority = new_authority(now, random_bytes)
        dns_names = spec.get("dnsNames")
        names = [str(dns_name) for dns_name in dns_names] if isinstance(dns_names, list) else []
        names = names or [str(spec.get("commonName") or name)]
        own = authority.certificate
        result = own if spec.get("isCA") else new_certificate(authority, names, now, random_bytes)
        texts = {"ca.crt": own.pem, "tls.crt": result.pem, "tls.key": result.key}
        return {
            "metadata": {"name": name, "namespace": namespace},
            "type": "kubernetes.io/tls",
            "data": {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()},
        }


class Operators(Controller):
    """Brings definitions of those whose pods are ready."""

    name = "operators"
    component = "operators"
    watches = ("pods",)

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """The tables of what a pod defines."""
        return set(_tables(change.newest)) if is_ready(change.newest) else ()

    def sync(self, key: str) -> None:
        """Bring what one table holds."""
        for definition in definitions(key):
            name = str(metadata_of(definition)["name"])
            if self.objects.get("customresourcedefinitions", name) is not None:
                continue
            try:
                self.client.create(definition["apiVersion"], definition["kind"], definition)
            except Refused as why:
                if not why.is_taken:
                    raise


def _tables(pod: Object) -> Iterator[str]:
    for entry in entries_of(pod, "spec", "containers"):
        result = program(str(entry.get("image", ""))).definitions
        if result:
            yield result
