"""Rendered files: edited, committed by others, not pushed, not applied."""

from __future__ import annotations

import pytest

from stockman.assessment.drift.report import DriftSeverity, Layer
from stockman.kubernetes.objects import MergePatch, ObjectRef
from stockman.steps.kubernetes.objects import HELM_RELEASES, KUSTOMIZATIONS, OCI_REPOSITORIES
from tests.app.drift.scene import COREDNS, Scene, others_push, told
from tests.contract.repo.doors import git


def test_a_file_that_somebody_edited_waits_for_a_decision(scene: Scene) -> None:
    scene.edit(COREDNS, "replicaCount: 2", "replicaCount: 5")

    only = scene.only()

    assert (only.layer, only.subject) == (Layer.TREE, COREDNS)
    assert only.description == f"{COREDNS} was changed by hand"
    assert "-    replicaCount: 5" in only.details
    assert "+    replicaCount: 2" in only.details
    assert not only.author.is_known
    assert only.correction.steps == ()
    assert only.correction.command.startswith(f"stockman render --overwrite {COREDNS};")


def test_a_committed_edit_has_the_author_of_its_commit(scene: Scene) -> None:
    scene.edit(COREDNS, "replicaCount: 2", "replicaCount: 5")
    commit = scene.commit("More names", author="Mary")
    scene.follow()

    only = scene.only()

    assert only.subject == COREDNS
    assert only.author.name == "Mary <mary@example.org>"
    assert only.author.how == f"commit {commit[:12]}: More names"


def test_what_flux_made_of_the_pushed_commit_is_no_drift_of_its_own(scene: Scene) -> None:
    scene.edit(COREDNS, "replicaCount: 2", "replicaCount: 5")
    scene.commit("More names", author="Mary")
    scene.follow()

    assert [drift.subject for drift in scene.find().drifts] == [COREDNS]


def test_other_files_need_rendering_and_the_plan_does_it(scene: Scene) -> None:
    scene.edit("cluster.yaml", "^kubernetes_version: .*$", "kubernetes_version: 1.34.1\ndrift: {}")
    (scene.directory / COREDNS).unlink()

    uncommitted, missing = scene.find().drifts

    assert [value.key for value in uncommitted.values] == ["cluster.yaml"]
    assert missing.description == f"{COREDNS} is not on disk"
    assert [step.id for step in missing.correction.steps] == ["access/render"]


def test_commits_that_others_pushed_are_told_with_their_authors(scene: Scene) -> None:
    elsewhere = scene.elsewhere()
    text = (elsewhere / COREDNS).read_text().replace("replicaCount: 2", "replicaCount: 4")
    commit = others_push(elsewhere, COREDNS, text, "Joan")
    scene.follow()

    only = scene.only()

    assert (only.layer, only.subject) == (Layer.TREE, "git")
    assert only.description == "others pushed 1 commits that change rendered files"
    assert [value.key for value in only.values] == [COREDNS]
    assert only.author.name == "Joan <joan@example.org>"
    assert only.author.how == f"commit {commit[:12]}: Change {COREDNS}"
    assert only.severity is DriftSeverity.WARNING


def test_files_of_others_are_only_a_notice(scene: Scene) -> None:
    others_push(scene.elsewhere(), "notes.txt", "theirs\n", "Joan")
    scene.follow()

    only = scene.only()

    assert only.description == "others pushed 1 commits"
    assert only.severity is DriftSeverity.NOTICE


def test_their_commit_is_gone_once_it_is_taken_back(scene: Scene) -> None:
    elsewhere = scene.elsewhere()
    text = (elsewhere / COREDNS).read_text()
    others_push(elsewhere, COREDNS, text.replace("replicaCount: 2", "replicaCount: 4"), "Joan")
    git(scene.directory, "pull", "--quiet", "--rebase")
    (scene.directory / COREDNS).write_text(text)
    scene.commit("Render again")
    scene.follow()

    assert scene.find().drifts == ()


def test_commits_that_are_not_pushed_are_told(scene: Scene) -> None:
    (scene.directory / "notes.txt").write_text("mine\n")
    scene.commit("Notes", push=False)

    only = scene.only()

    assert only.description == "1 commit is not pushed"
    assert only.correction.command == "git push origin main"


def test_flux_that_has_not_applied_the_commit_yet_is_late(scene: Scene) -> None:
    (scene.directory / "notes.txt").write_text("mine\n")
    commit = scene.commit("Notes")

    only = scene.only()

    assert only.description == f"Flux has not applied commit {commit[:12]}"
    assert only.severity is DriftSeverity.NOTICE
    scene.follow()
    assert scene.find().drifts == ()


def test_a_remote_that_does_not_answer_is_unknown(scene: Scene) -> None:
    git(scene.directory, "remote", "set-url", "origin", str(scene.root / "nowhere.git"))

    report = scene.find(Layer.TREE)

    assert report.states == {"tree": "unknown"}
    assert report.unknown[0].subject == "git"


@pytest.mark.parametrize("name", ["HelmRelease", "Kustomization"])
def test_an_object_of_flux_that_somebody_edited_names_the_manager(scene: Scene, name: str) -> None:
    kind = HELM_RELEASES if name == "HelmRelease" else KUSTOMIZATIONS
    key, value = ("interval", "7h") if name == "HelmRelease" else ("prune", False)
    content = {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": "coredns", "namespace": "kube-system"},
        "spec": {key: value},
    }
    scene.kubectl_edit(kind, content)

    only = scene.only()

    assert only.subject == f"{name} kube-system/coredns"
    assert [one.key for one in only.values] == [f"spec.{key}"]
    assert only.author.name == "kubectl-edit"
    owner = "coredns" if name == "HelmRelease" else "cluster-apps"
    space = "kube-system" if name == "HelmRelease" else "flux-system"
    assert only.correction.command == (
        f"kubectl -n {space} annotate kustomization {owner} --overwrite"
        ' reconcile.fluxcd.io/requestedAt="$(date +%s)"'
    )
    by_name = {"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "1"}}}
    ref = ObjectRef(kind=KUSTOMIZATIONS, name=owner, namespace=space)
    told(scene.kubernetes.patch(ref, MergePatch(changes=by_name)))
    scene.world.advance(120.0)
    assert scene.find().drifts == ()


def test_a_release_that_somebody_suspended_is_told(scene: Scene) -> None:
    ref = ObjectRef(kind=HELM_RELEASES, name="coredns", namespace="kube-system")
    content = {
        "apiVersion": HELM_RELEASES.api_version,
        "kind": "HelmRelease",
        "metadata": {"name": "coredns", "namespace": "kube-system"},
        "spec": {"suspend": True},
    }
    scene.kubectl_edit(HELM_RELEASES, content, manager="flux")

    only = scene.only(Layer.TREE)

    assert [(value.key, value.observed, value.desired) for value in only.values] == [
        ("spec.suspend", "true", "false")
    ]
    assert only.author.name == "flux"
    assert only.correction.command.startswith("kubectl -n kube-system patch helmreleases.helm.")
    told(scene.kubernetes.patch(ref, MergePatch(changes={"spec": {"suspend": False}})))
    assert scene.find(Layer.TREE).drifts == ()


def test_a_release_that_somebody_deleted_is_missing(scene: Scene) -> None:
    ref = ObjectRef(kind=OCI_REPOSITORIES, name="reloader", namespace="kube-system")
    told(scene.kubernetes.delete(ref))
    scene.world.settle()

    drifts = [drift for drift in scene.find(Layer.TREE).drifts if "OCIRepository" in drift.subject]

    assert [drift.description.partition(" of ")[2] for drift in drifts] == [
        "kubernetes/apps/kube-system/reloader/app/ocirepository.yaml is not in the cluster"
    ]
