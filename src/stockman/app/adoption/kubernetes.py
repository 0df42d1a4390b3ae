"""Desired Kubernetes objects of an adopted cluster, before there is a directory to render."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.app.secrets.generation import AGE_KEY, SECRET_NAMES
from stockman.assessment.kubernetes import desired_kubernetes
from stockman.catalog.component import InputFiles
from stockman.crypto.age.identities import parse_identities
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.rendering.repository import render_repository
from stockman.rendering.talos_files import without_references

_NOT_KNOWN = Secret("not known yet", resolved=True)


def preview_kubernetes(desired: Desired, keys: Mapping[str, Secret]) -> DesiredKubernetes | None:
    """Return the objects installed before Flux. None: Flux is disabled."""
    flux = desired.components.get("flux-instance")
    if desired.cluster is None or flux is None or not flux.enabled:
        return None
    settled_ = without_references(desired, _NOT_KNOWN)
    rendered = render_repository(settled_, _materials(keys), "classic", Problems())
    return desired_kubernetes(desired.cluster, rendered)


def _materials(keys: Mapping[str, Secret]) -> InputFiles:
    identity, recipient = _identity(keys.get(AGE_KEY))
    return InputFiles(
        age_recipient=recipient,
        age_identity=identity,
        deploy_key=keys.get(SECRET_NAMES["classic"].deploy_key, _NOT_KNOWN),
        webhook_token=_NOT_KNOWN,
    )


def _identity(known: Secret | None) -> tuple[Secret, str]:
    """Return the age identity and recipient, or new ones if no identity can be read."""
    try:
        identity = parse_identities(known.reveal(), AGE_KEY)[0] if known is not None else None
    except StockmanError:
        identity = None
    return (_NOT_KNOWN, "age1notknown") if identity is None else (identity.text, identity.recipient)
