"""Arguments that name an identity provider, as a structured configuration."""

from __future__ import annotations

from typing import Any

import pytest

from stockman.talos.migration.control_plane import authentication_configuration

ISSUER = "https://127.66.0.6/realm"


def login(**arguments: object) -> Any:
    values = {f"oidc-{name.replace('_', '-')}": value for name, value in arguments.items()}
    jwt: Any = authentication_configuration({"oidc-issuer-url": ISSUER, **values}, adopt=False)[
        "jwt"
    ]
    return jwt[0]


@pytest.mark.parametrize(
    ("arguments", "prefix"),
    [
        ({}, f"{ISSUER}#"),
        ({"username_claim": "email"}, ""),
        ({"username_claim": "name"}, f"{ISSUER}#"),
        ({"username_prefix": "-"}, ""),
        ({"username_prefix": "sso:"}, "sso:"),
    ],
)
def test_user_names_get_the_prefix_that_kubernetes_gave_them(
    arguments: dict[str, object], prefix: str
) -> None:
    assert login(**arguments)["claimMappings"]["username"]["prefix"] == prefix


def test_groups_are_read_only_where_a_claim_names_them() -> None:
    assert "groups" not in login()["claimMappings"]
    assert login(groups_claim="roles", groups_prefix="g:")["claimMappings"]["groups"] == {
        "claim": "roles",
        "prefix": "g:",
    }


def test_required_claims_become_rules() -> None:
    authenticator = login(required_claim=["team=sheep,site=north", "shift=day"])

    assert authenticator["claimValidationRules"] == [
        {"claim": "team", "requiredValue": "sheep"},
        {"claim": "site", "requiredValue": "north"},
        {"claim": "shift", "requiredValue": "day"},
    ]


@pytest.mark.parametrize(("value", "enabled"), [("true", True), ("false", False)])
def test_those_who_do_not_log_in_are_let_in_as_before(value: str, enabled: bool) -> None:
    plain = authentication_configuration({"anonymous-auth": value}, adopt=True)

    assert plain == {"anonymous": {"enabled": enabled}, "jwt": []}
