"""Secrets with a talosconfig for those who ask by a `serviceaccounts.talos.dev`."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange
from stockman_lab.kube.objects import Object, metadata_of, part_of

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


GROUP, VERSION = "talos.dev", "v1alpha1"
_APID = 50000


def definition() -> Object:
    """The definition of the kind."""
    properties = {
        "spec": {
            "type": "object",
            "properties": {"roles": {"type": "array", "items": {"type": "string"}}},
        },
        "status": {"type": "object", "properties": {"failureReason": {"type": "string"}}},
    }
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"serviceaccounts.{GROUP}"},
        "spec": {
            "conversion": {"strategy": "None"},
            "group": GROUP,
            "names": {
                "kind": "ServiceAccount",
                "listKind": "ServiceAccountList",
                "plural": "serviceaccounts",
                "singular": "serviceaccount",
                "shortNames": ["tsa"],
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def service() -> Object:
    """Where pods find the API of Talos."""
    ports = [{"name": "apid", "port": _APID, "protocol": "TCP", "targetPort": _APID}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "talos", "namespace": "default"},
        "spec": {"ports": ports},
    }


_PLURAL = "serviceaccounts"
_LASTS, _BEFORE_END = 6 * 3600.0, 3600.0


@dataclass(frozen=True, slots=True)
class Access:
    """What the configuration of control planes allows."""

    roles: tuple[str, ...]
    namespaces: tuple[str, ...]
    talosconfig: Callable[[list[str]], str]
    """The text for somebody with these roles."""


class TalosAccounts(Controller):
    """Makes a secret for every account that may have one."""

    name = "talos-accounts"
    component = "talos-sa-controller"
    watches = ()
    access: ClassVar[Callable[[], Access | None]]

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Accounts of Talos alone."""
        if change.key.group == GROUP and change.key.resource == _PLURAL:
            yield change.name

    def sync(self, key: str) -> None:
        """Bring the secret of an account in order."""
        account = self.objects.get(_PLURAL, key, GROUP)
        allowed = type(self).access()
        if account is None or allowed is None or metadata_of(account).get("deletionTimestamp"):
            return
        secret = self.objects.get("secrets", key)
        refused = self._refusal(account, secret, allowed)
        if refused:
            self._fail(account, *refused)
            return
        self._give(key, account, secret, allowed)

    def _refusal(
        self, account: Object, secret: Object | None, allowed: Access
    ) -> tuple[str, str] | None:
        name, space = metadata_of(account)["name"], str(metadata_of(account).get("namespace", ""))
        if secret is not None and not _is_owned(secret, account):
            text = f"Secret already exists and is not managed by controller: {space}/{name}"
            return "ErrResourceExists", text
        roles = part_of(account, "spec").get("roles")
        if roles is None:
            return "ErrRolesNotFound", "Roles not found"
        if space not in allowed.namespaces:
            return "ErrNamespaceNotAllowed", f"Namespace is not allowed: {space}"
        others = [role for role in roles if role not in allowed.roles]
        if others:
            return "ErrRolesNotAllowed", f"Roles not allowed: [{' '.join(others)}]"
        return None

    def _fail(self, account: Object, reason: str, text: str) -> None:
        if part_of(account, "status").get("failureReason") != text:
            self.client.patch(account, {"status": {"failureReason": text}})
            self.recorder.warning(account, reason, text)

    def _give(self, key: str, account: Object, secret: Object | None, allowed: Access) -> None:
        place = f"{self.name} {key}"
        roles = [str(role) for role in part_of(account, "spec")["roles"]]
        made_at, _, known = self.context.notes.get(place, "0 ").partition(" ")
        fresh = self.now < float(made_at) + _LASTS - _BEFORE_END and known == ",".join(roles)
        if secret is not None and fresh:
            return
        metadata = metadata_of(account)
        owner = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "ServiceAccount",
            "name": metadata["name"],
            "uid": metadata["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        text = base64.b64encode(allowed.talosconfig(roles).encode()).decode()
        try:
            if secret is None:
                body: Object = {
                    "metadata": {
                        "name": metadata["name"],
                        "namespace": metadata["namespace"],
                        "ownerReferences": [owner],
                    },
                    "data": {"config": text},
                }
                self.client.create("v1", "Secret", body)
            else:
                self.client.patch(secret, {"data": {"config": text}})
        except Refused:
            return
        self.context.notes[place] = f"{self.now} {','.join(roles)}"
        if part_of(account, "status").get("failureReason"):
            self.client.patch(account, {"status": {"failureReason": None}})
        self.recorder.normal(account, "Synced", "Synced successfully")


def _is_owned(secret: Object, account: Object) -> bool:
    owners = metadata_of(secret).get("ownerReferences") or []
    return any(owner.get("uid") == metadata_of(account).get("uid") for owner in owners)


_LIFETIME = timedelta(hours=6)


def access_of(machine: Machine) -> Access | None:
    """What the configuration of a machine allows. None: nothing."""
    config = machine.config
    if config is None or not config.features.talos_api_access or not config.os_ca.key:
        return None
    features = config.features
    return Access(
        features.talos_api_roles,
        features.talos_api_namespaces,
        lambda roles: _talosconfig(machine, roles),
    )


def _talosconfig(machine: Machine, roles: list[str]) -> str:
    from stockman.crypto.certificates import (
        CertificateRequest,
        Purpose,
        ValidityPeriod,
        issue_certificate,
    )
    from stockman.crypto.pem import CertificateAndKey
    from stockman.model.secret import Secret
    from stockman.talos.credentials.talosconfig import Talosconfig, client_context, talosconfig_text

    config = machine.config
    if config is None:
        return ""
    start = datetime.fromtimestamp(machine.land.certificates_from, UTC)
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(start, _LIFETIME),
        purposes=(Purpose.CLIENT,),
        organizations=tuple(roles),
    )
    authority = CertificateAndKey(crt=config.os_ca.crt, key=Secret(config.os_ca.key))
    client = issue_certificate(authority, leaf, machine.land.around.dice.random_bytes)
    context = client_context(config.os_ca.crt, client, endpoints=("talos.default",))
    return talosconfig_text(Talosconfig(context="default", contexts={"default": context})).reveal()
