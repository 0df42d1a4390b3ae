"""Who is let in, and what they may."""

from __future__ import annotations

import pytest

from lab.tests.kube.calling import KubeAsking, config_map

PODS = "/api/v1/namespaces/default/pods"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
SECRET = "0123456789" + "abcdef"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture
def asking() -> KubeAsking:
    return KubeAsking()


def account(asking: KubeAsking, name: str = "bot") -> None:
    body = {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": name}}
    assert asking.ask("POST", ACCOUNTS, body)[0] == 201


def myself(asking: KubeAsking) -> dict[str, object]:
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    status, result = asking.ask(
        "POST", path, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    )
    assert status == 201, result
    user: dict[str, object] = result["status"]["userInfo"]
    return user


def test_a_certificate_tells_name_and_groups(asking: KubeAsking) -> None:
    asking.become("jane", "dev", "ops")

    result = myself(asking)

    assert result["username"] == "jane"
    assert result["groups"] == ["dev", "ops", "system:authenticated"]


def test_a_certificate_whose_time_is_over_in_the_world_is_worth_nothing(
    asking: KubeAsking,
) -> None:
    asking.world.advance(2 * 86_400)

    assert asking.ask("GET", PODS)[0] == 401


def test_nobody_in_particular_may_see_that_the_server_is_well(asking: KubeAsking) -> None:
    asking.certificate = None

    response = asking.answer("GET", "/readyz").response

    assert response is not None
    assert response.body == b"ok"
    assert asking.ask("GET", PODS)[1]["message"] == (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group ""'
        ' in the namespace "default"'
    )


def test_a_token_is_its_account(asking: KubeAsking) -> None:
    account(asking)
    asking.show(asking.token("default", "bot"))

    result = myself(asking)

    assert result["username"] == "system:serviceaccount:default:bot"
    assert result["groups"] == [
        *("system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"),
    ]


def test_a_token_ends(asking: KubeAsking) -> None:
    account(asking)
    asking.show(asking.token("default", "bot", expirationSeconds=600))
    asking.world.advance(601)

    assert asking.ask("GET", PODS)[0] == 401


def test_a_token_of_an_account_that_is_gone_is_refused(asking: KubeAsking) -> None:
    account(asking)
    token = asking.token("default", "bot")
    assert asking.ask("DELETE", f"{ACCOUNTS}/bot")[0] == 200
    account(asking)  # another one of that name
    asking.show(token)

    assert asking.ask("GET", PODS)[0] == 401


def test_a_token_for_others_is_refused(asking: KubeAsking) -> None:
    account(asking)
    asking.show(asking.token("default", "bot", audiences=["wool"]))

    assert asking.ask("GET", PODS)[0] == 401


def test_a_token_with_another_signature_is_refused(asking: KubeAsking) -> None:
    account(asking)
    head, body, signature = asking.token("default", "bot").split(".")
    other = signature[:10] + ("A" if signature[10] != "A" else "B") + signature[11:]
    asking.show(f"{head}.{body}.{other}")

    assert asking.ask("GET", PODS)[0] == 401


@pytest.mark.parametrize("token", ["", "a", "a.b", "a.b.c", "....", "\u00e4.\u00f6.\u00fc"])
def test_nonsense_is_no_token(asking: KubeAsking, token: str) -> None:
    asking.show(token)

    assert asking.ask("GET", PODS)[0] in (401, 403)


def test_somebody_else_is_asked_for_only_by_who_may(asking: KubeAsking) -> None:
    asking.headers = {"impersonate-user": "joe", "impersonate-group": "dev"}
    assert myself(asking) == {"username": "joe", "groups": ["dev", "system:authenticated"]}
    asking.become("jane")

    status, result = asking.ask("GET", PODS)

    assert status == 403
    assert 'User "jane" cannot impersonate' in result["message"]


def test_a_role_takes_rules_from_others_by_their_labels(asking: KubeAsking) -> None:
    labels = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    rules = [{"apiGroups": ["wool"], "resources": ["sheep"], "verbs": ["get"]}]
    version = RBAC.removeprefix("/apis/")
    role = {
        "kind": "ClusterRole",
        "apiVersion": version,
        "metadata": {"name": "sheep", "labels": labels},
        "rules": rules,
    }
    asking.ask("POST", f"{RBAC}/clusterroles", role)
    binding = {
        "kind": "RoleBinding",
        "apiVersion": version,
        "metadata": {"name": "viewer"},
        "subjects": [{"kind": "Group", "name": "dev", "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"kind": "ClusterRole", "name": "view", "apiGroup": "rbac.authorization.k8s.io"},
    }
    asking.ask("POST", f"{RBAC}/namespaces/default/rolebindings", binding)
    asking.become("jane", "dev")

    assert asking.ask("GET", PODS)[0] == 200
    assert asking.ask("GET", "/api/v1/pods")[0] == 403
    sheep = asking.answer("GET", "/apis/wool/v1/namespaces/default/sheep/one").response
    assert sheep is not None
    assert sheep.status == 404


def test_without_a_quorum_a_write_is_refused_after_a_while() -> None:
    from stockman_lab.core.faults import Effect, Fault, Point

    from lab.tests.talos.staged import staged

    asking = KubeAsking(staged("three-node"))
    for machine in asking.world.talos.machines[1:]:
        match = {"machine": machine.hostname, "action": "run"}
        asking.world.faults.add(Fault(Point.ETCD, Effect.FAIL, match, times=None))
    asking.world.strike()

    answer = asking.answer("POST", "/api/v1/namespaces/default/configmaps", config_map("wool"))

    assert answer.response is not None
    assert answer.response.status >= 500
    assert answer.seconds > 0


@pytest.mark.parametrize(
    "spec", [{"expirationSeconds": "long"}, {"expirationSeconds": 5}, {"audiences": "wool"}]
)
def test_a_token_that_cannot_be_is_refused(asking: KubeAsking, spec: dict[str, object]) -> None:
    account(asking)

    status, result = asking.ask("POST", f"{ACCOUNTS}/bot/token", {"spec": spec})

    assert status in (400, 422)
    assert result["status"] == "Failure"


def test_groups_are_not_asked_for_without_somebody(asking: KubeAsking) -> None:
    asking.headers = {"impersonate-group": "x"}

    status, result = asking.ask("GET", PODS)

    assert status in {400, 500}
    assert "without impersonating a user" in result["message"]


def test_nobody_is_impersonated_by_an_empty_header(asking: KubeAsking) -> None:
    asking.headers = {"impersonate-user": ""}

    assert asking.ask("GET", PODS)[0] == 200
