"""Changes that the server counts, takes over in part, or refuses."""

from __future__ import annotations

from typing import Any

import pytest

from lab.tests.kube.asking import APPLY, MAPS, MERGE, Served, served
from lab.tests.kube.controllers.playing import workload

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SECRETS = "/api/v1/namespaces/default/secrets"
SERVICES = "/api/v1/namespaces/default/services"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def server() -> Served:
    return served()


def test_annotations_of_deployments_count_as_changes(server: Served) -> None:
    server.ask("POST", DEPLOYMENTS, workload())
    change = {"metadata": {"annotations": {"a": "b"}}}

    answer = server.ask("PATCH", f"{DEPLOYMENTS}/wool", change, MERGE)

    assert answer["metadata"]["generation"] == 2


def test_an_account_has_both_of_its_names(server: Served) -> None:
    server.ask("POST", DEPLOYMENTS, workload())
    change = {"spec": {"template": {"spec": {"serviceAccountName": "bot"}}}}

    answer = server.ask("PATCH", f"{DEPLOYMENTS}/wool", change, MERGE)

    assert answer["spec"]["template"]["spec"]["serviceAccount"] == "bot"


def test_secrets_of_a_type_have_the_keys_of_that_type(server: Served) -> None:
    answer = server.ask("POST", SECRETS, {"metadata": {"name": "a"}, "type": "kubernetes.io/tls"})

    assert answer["message"].endswith(
        "[data[tls.crt]: Required value, data[tls.key]: Required value]"
    )


@pytest.mark.parametrize(("grows", "code"), [(True, 200), (False, 403)])
def test_claims_grow_where_their_class_lets_them(server: Served, grows: bool, code: int) -> None:
    content = {"metadata": {"name": "a"}, "provisioner": "one", "allowVolumeExpansion": grows}
    server.ask("POST", CLASSES, content)
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "a", "resources": resources}
    server.ask("POST", CLAIMS, {"metadata": {"name": "a"}, "spec": spec})
    server.ask("PATCH", f"{CLAIMS}/a/status", {"status": {"phase": "Bound"}}, MERGE)
    change = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}

    server.ask("PATCH", f"{CLAIMS}/a", change, MERGE)

    assert server.last.status == code


def test_fields_that_are_not_there_are_never_applied(server: Served) -> None:
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "colour": "red"}
    path = f"{MAPS}/a?fieldManager=me&fieldValidation=Ignore"

    answer = server.ask("PATCH", path, content, APPLY)

    assert ".colour: field not declared in schema" in answer["message"]


def test_pods_get_the_zone_of_their_node(server: Served) -> None:
    labels = {"topology.kubernetes.io/zone": "north", "wool": "white"}
    server.ask("POST", "/api/v1/nodes", {"metadata": {"name": "n1", "labels": labels}})
    container: dict[str, Any] = {"name": "one", "image": "wool:1"}
    server.ask("POST", PODS, {"metadata": {"name": "a"}, "spec": {"containers": [container]}})
    target = {"kind": "Node", "name": "n1"}

    server.ask("POST", f"{PODS}/a/binding", {"metadata": {"name": "a"}, "target": target})

    result = server.ask("GET", f"{PODS}/a")["metadata"]["labels"]
    assert result == {"topology.kubernetes.io/zone": "north"}
