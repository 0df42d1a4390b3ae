"""Objects that stockman put into the cluster: deleted, edited by others, or left to Flux."""

from __future__ import annotations

import base64

from stockman.assessment.drift.report import DriftSeverity, DriftValue, Layer
from stockman.kubernetes.objects import NAMESPACES, SECRETS, ObjectRef
from stockman.model.secret import MASK
from tests.app.drift.scene import Scene, told

SOPS_AGE = ObjectRef(kind=SECRETS, name="sops-age", namespace="flux-system")
CANARY = "canary-of-somebody"


def edited(scene: Scene) -> None:
    content = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "sops-age", "namespace": "flux-system"},
        "data": {"age.agekey": base64.b64encode(CANARY.encode()).decode()},
    }
    scene.kubectl_edit(SECRETS, content)


def test_a_secret_that_somebody_deleted_is_put_back_by_the_plan(scene: Scene) -> None:
    told(scene.kubernetes.delete(SOPS_AGE))

    only = scene.only(Layer.KUBERNETES)

    assert (only.subject, only.description) == (
        "Secret flux-system/sops-age",
        "Secret flux-system/sops-age is not there",
    )
    assert only.severity is DriftSeverity.CRITICAL
    assert [step.id for step in only.correction.steps] == ["kubernetes/secret/flux-system/sops-age"]
    scene.apply()
    assert scene.find(Layer.KUBERNETES).drifts == ()


def test_a_secret_that_somebody_edited_names_the_manager_and_shows_no_value(scene: Scene) -> None:
    edited(scene)

    only = scene.only()

    assert only.layer is Layer.KUBERNETES
    assert only.values == (DriftValue(key="data.age.agekey", observed=MASK, desired=MASK),)
    assert only.author.name == "kubectl-edit"
    assert only.author.when is not None
    assert only.severity is DriftSeverity.CRITICAL
    assert CANARY not in repr(only)


def test_its_correction_works(scene: Scene) -> None:
    edited(scene)
    command = scene.only().correction.command
    delete, _, apply = command.partition(" && ")
    assert delete == "kubectl -n flux-system delete secret sops-age"
    assert apply == "stockman apply --only kubernetes"

    told(scene.kubernetes.delete(SOPS_AGE))
    scene.apply()

    assert scene.find().drifts == ()


def test_fields_that_others_add_to_our_objects_are_theirs(scene: Scene) -> None:
    content = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "sops-age",
            "namespace": "flux-system",
            "annotations": {"backup.example.org/keep": "yes"},
        },
    }
    scene.kubectl_edit(SECRETS, content, manager="backup-operator")
    labels = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "network"}}
    labels["metadata"] = {"name": "network", "labels": {"team": "edge"}}
    scene.kubectl_edit(NAMESPACES, labels, manager="kubectl-label")

    assert scene.find().drifts == ()


def test_what_flux_operator_made_of_its_namespace_is_its_own(scene: Scene) -> None:
    there = told(scene.kubernetes.get(ObjectRef(kind=NAMESPACES, name="flux-system")))

    assert "Disabled" in str(there)
    assert scene.find(Layer.KUBERNETES).drifts == ()


def test_an_api_that_does_not_answer_is_unknown(scene: Scene) -> None:
    for machine in scene.world.talos.machines:
        scene.world.talos.power_off(machine)

    report = scene.find(Layer.KUBERNETES)

    assert report.states == {"kubernetes": "unknown"}
    assert {one.problem.code for one in report.unknown} == {"drift.unread"}
