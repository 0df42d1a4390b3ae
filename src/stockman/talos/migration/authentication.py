"""Arguments of the API server that say who logs in, as a structured configuration."""

from __future__ import annotations

from stockman.talos.migration.edit import Plain
from stockman.talos.migration.values import text, texts

_OIDC = "oidc-"
_ANONYMOUS = "anonymous-auth"
_REFUSED = ("authentication-config", "authorization-config", "authorization-mode")
_REFUSED_START = "authorization-webhook-"
_UNSAID = {
    "oidc-ca-file": "a structured configuration holds the certificate itself, not a file",
    "oidc-signing-algs": "a structured configuration takes every algorithm",
}
HEALTH: Plain = {
    "conditions": [{"path": "/livez"}, {"path": "/readyz"}, {"path": "/healthz"}],
    "enabled": True,
}
"""Who does not log in may look at the health of the API, and at nothing else."""


def refused_argument(arguments: Plain, *, keep_oidc: bool) -> str | None:
    """Why the arguments cannot stand in a KubeAPIServerConfig; None: they can."""
    for name in arguments:
        if name in _REFUSED or name.startswith(_REFUSED_START):
            return f"Talos refuses the argument {name} in a KubeAPIServerConfig"
        if name in _UNSAID:
            return f"the argument {name}: {_UNSAID[name]}"
        if name.startswith(_OIDC) and keep_oidc:
            return f"the argument {name} is to be kept, and a KubeAPIServerConfig refuses it"
    return None


def other_arguments(arguments: Plain) -> Plain:
    """The arguments that remain arguments."""
    return {
        name: value
        for name, value in arguments.items()
        if not name.startswith(_OIDC) and name != _ANONYMOUS
    }


def says_who_logs_in(arguments: Plain) -> bool:
    return len(other_arguments(arguments)) != len(arguments)


def authentication(arguments: Plain, *, adopt: bool) -> Plain:
    """The structured configuration with the meaning of the arguments.

    Without `adopt` nobody gets in who does not log in, as it is for the arguments.
    """
    anonymous: Plain = {"enabled": _one(arguments, _ANONYMOUS) == "true"}
    if adopt and _ANONYMOUS not in arguments:
        anonymous = HEALTH
    return {"anonymous": anonymous, "jwt": _logins(arguments)}


def _logins(arguments: Plain) -> list[object]:
    issuer = _one(arguments, "oidc-issuer-url")
    if not issuer:
        return []
    claim = _one(arguments, "oidc-username-claim") or "sub"
    mappings: Plain = {
        "username": {"claim": claim, "prefix": _prefix(arguments, issuer, claim)},
    }
    groups = _one(arguments, "oidc-groups-claim")
    if groups:
        prefix = _one(arguments, "oidc-groups-prefix")
        mappings["groups"] = {"claim": groups, "prefix": prefix}
    login: Plain = {
        "issuer": {"url": issuer, "audiences": [_one(arguments, "oidc-client-id")]},
        "claimMappings": mappings,
    }
    rules = [_rule(one) for one in _many(arguments, "oidc-required-claim")]
    if rules:
        login["claimValidationRules"] = rules
    return [login]


def _prefix(arguments: Plain, issuer: str, claim: str) -> str:
    """What Kubernetes puts in front of user names: `-` is nothing, and so is silence on e-mails."""
    given = _one(arguments, "oidc-username-prefix")
    if given:
        return "" if given == "-" else given
    return "" if claim == "email" else f"{issuer}#"


def _rule(claim: str) -> Plain:
    name, _, value = claim.partition("=")
    return {"claim": name, "requiredValue": value}


def _one(arguments: Plain, name: str) -> str:
    value = arguments.get(name)
    return texts(value)[-1] if isinstance(value, list) and value else text(value)


def _many(arguments: Plain, name: str) -> list[str]:
    value = arguments.get(name)
    found = texts(value) if isinstance(value, list) else [text(value)]
    return [part for one in found for part in one.split(",") if part]
