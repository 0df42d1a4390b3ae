"""The admission policy that limits which roles of the Talos API a namespace can request.

Talos checks namespaces and roles separately: without the policy, every namespace that is allowed
could request every role that is allowed for any of them.
"""

from __future__ import annotations

import json
from dataclasses import replace

from stockman.catalog.app import App, Object, Sheet, manifest
from stockman.catalog.component import ComponentContext, TalosAccess
from stockman.model.component import all_component_facts

_ADMISSION = "admissionregistration.k8s.io/v1"
_SINCE = (1, 30)
"""The first line of Kubernetes that serves this version of the API."""


def add_access_policy(
    context: ComponentContext, access: TalosAccess | None, apps: tuple[App, ...]
) -> tuple[App, ...]:
    """Return the apps of a component; the first one has the policy if it uses the Talos API."""
    if access is None or not apps or context.cluster.kubernetes.version.line < _SINCE:
        return apps
    sheet = Sheet(name="talos-access.yaml", objects=access_policy(context))
    return (replace(apps[0], sheets=(*apps[0].sheets, sheet)), *apps[1:])


def access_policy(context: ComponentContext) -> tuple[Object, Object]:
    """Return the policy and its binding: the roles of all components in one namespace."""
    name = f"talos-access-{context.facts.name}"
    roles = sorted(
        {
            facts.talos_role
            for facts in all_component_facts()
            if facts.talos_role
            and context.is_enabled(facts.name)
            and _namespace(context, facts.name, facts.namespace) == context.namespace
        }
    )
    listed = ", ".join(roles)
    policy = manifest(
        _ADMISSION,
        "ValidatingAdmissionPolicy",
        name,
        failurePolicy="Fail",
        matchConstraints={
            "namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": context.namespace}
            },
            "resourceRules": [
                {
                    "apiGroups": ["talos.dev"],
                    "apiVersions": ["*"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": ["serviceaccounts"],
                }
            ],
        },
        validations=[
            {
                "expression": "!has(object.spec) || !has(object.spec.roles)"
                f" || object.spec.roles.all(role, role in {json.dumps(roles)})",
                "message": f"namespace {context.namespace} can only request {listed} of Talos",
            }
        ],
    )
    binding = manifest(
        _ADMISSION,
        "ValidatingAdmissionPolicyBinding",
        name,
        policyName=name,
        validationActions=["Deny"],
    )
    return policy, binding


def _namespace(context: ComponentContext, name: str, default: str) -> str:
    return context.desired.components[name].namespace or default
