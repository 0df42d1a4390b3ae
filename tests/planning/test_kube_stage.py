"""The Kubernetes stage: what is planned, in which order, and that it leads to Flux."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.kube_port import memory_kubernetes

from stockman.engine.observe.kubernetes import KubernetesQuery, observe_kubernetes
from stockman.kubernetes.objects import (
    DEPLOYMENTS,
    JOBS,
    SECRETS,
    ObjectList,
    ObjectRef,
    ResourceKind,
    Selection,
    ServerSideApply,
)
from stockman.model.errors import Refused, Rejected, Unreachable
from stockman.model.problem import Problem
from stockman.planning.kubernetes.changes import (
    StageContext,
    kubernetes_steps,
    plan_kubernetes_changes,
    push_change,
    reconcile_changes,
)
from stockman.planning.kubernetes.conflicts import find_foreign_objects
from stockman.planning.observed.kubernetes import ObjectOwner
from stockman.steps.kubernetes.objects import ROLE_BINDINGS, object_name
from stockman.steps.plan import Plan, build_plan, render_plan
from tests.planning.bootstrapped import CANARY, Bootstrapped, Workspace, bootstrapped

BEFORE_FLUX = ["cilium", "coredns", "spegel", "cert-manager", "flux-operator", "flux-instance"]


def installs(steps: tuple[object, ...]) -> list[str]:
    ids = [str(getattr(step, "id", "")) for step in steps]
    return [step_id.rpartition("/")[2] for step_id in ids if "/install/" in step_id]


def leftovers(cluster: Bootstrapped) -> list[str]:
    """What an install should have taken away again."""

    async def listed() -> list[str]:
        port = memory_kubernetes(cluster.cluster.api)
        jobs = (await port.objects(JOBS)).items
        bindings = (await port.objects(ROLE_BINDINGS)).items
        names = [object_name(content) for content in (*jobs, *bindings)]
        return [name for name in names if name.startswith("stockman-")]

    return asyncio.run(listed())


def test_a_cluster_without_a_network_comes_to_follow_its_repository(bare: Bootstrapped) -> None:
    before = bare.look()
    assert [node.is_ready for node in before.nodes or ()] == [False, False, False]

    bare.apply()

    after = bare.look()
    assert [node.is_ready for node in after.nodes or ()] == [True, True, True]
    assert {release.name: release.status for release in after.releases or ()} == dict.fromkeys(
        BEFORE_FLUX, "deployed"
    )
    again = [release.name for release in after.releases or () if release.revision != 1]
    assert again == ["coredns"], "Flux makes a revision of its own of what it takes over"
    taken_over = after.of_flux("HelmRelease", "kube-system", "coredns")
    assert taken_over is not None
    assert taken_over.ready
    assert leftovers(bare) == []
    assert after.unknown == {}
    assert bare.changes() == ()
    assert bare.steps() == ()


def test_a_plan_says_what_comes_before_what(bare: Bootstrapped) -> None:
    steps = bare.steps()

    assert installs(steps) == BEFORE_FLUX
    ids = [step.id for step in steps]
    assert ids[0] == "kubernetes/pushed"
    assert ids.index("kubernetes/definitions/gateway-api") < ids.index("kubernetes/install/cilium")
    assert ids.index("kubernetes/secret/flux-system/sops-age") < ids.index(
        "kubernetes/install/flux-instance"
    )
    tests = [step.id for step in steps if step.id.startswith("kubernetes/test/")]
    assert tests == ids[-len(tests) :]
    chain = ids[: -len(tests)]
    assert [step.needs for step in steps[: len(chain)]] == [(), *((name,) for name in chain[:-1])]
    assert {step.needs for step in steps[len(chain) :]} == {(chain[-1],)}


def test_without_a_cluster_everything_is_planned(followed: Workspace) -> None:
    kubernetes_changes = plan_kubernetes_changes(followed.wish, None)

    assert installs(kubernetes_changes) == BEFORE_FLUX
    assert kubernetes_steps(
        kubernetes_changes, followed.wish, StageContext(needs=("talos/x",), push=True)
    )[0].needs == ("talos/x",)


def test_a_saved_plan_holds_no_secret(bare: Bootstrapped) -> None:
    plan = build_plan(Plan(cluster="one", made_at=bare.ports.clock.now(), steps=bare.steps()))

    text = render_plan(plan)

    assert "sops-age.sops.yaml" in text
    assert CANARY not in text


def test_what_could_not_be_read_is_not_taken_for_absent(followed: Workspace) -> None:
    cluster = bootstrapped(followed)

    class Deaf:
        """A door that does not tell of Secrets."""

        def __init__(self) -> None:
            self.door = memory_kubernetes(cluster.cluster.api)

        def __getattr__(self, name: str) -> object:
            return getattr(self.door, name)

        async def objects(
            self, kind: ResourceKind, selection: Selection | None = None
        ) -> ObjectList:
            if kind == SECRETS:
                raise Unreachable(Problem(code="toy.deaf", what="no answer", why="cut", fix=""))
            return await self.door.objects(kind, selection)

    seen = asyncio.run(
        observe_kubernetes(Deaf(), cluster.ports.clock, KubernetesQuery())  # type: ignore[arg-type]  # handed on
    )

    assert seen.releases is None
    assert seen.unknown["releases"] == "no answer: cut"
    with pytest.raises(Refused, match=r"kube\.unknown"):
        plan_kubernetes_changes(cluster.wish, seen)


def test_one_look_asks_as_much_of_a_small_cluster_as_of_a_large_one(bare: Bootstrapped) -> None:
    kinds = {one.kind for found in bare.wish.conditions.values() for one in found}

    assert bare.look().calls <= 20 + 2 * len(kinds)


def test_objects_of_others_are_named_before_anything_is_done(bare: Bootstrapped) -> None:
    template = {
        "metadata": {"labels": {"app": "dns"}},
        "spec": {"containers": [{"name": "dns", "image": "example.org/dns:1"}]},
    }
    content = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "coredns", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": {"app": "dns"}}, "template": template},
    }
    port = memory_kubernetes(bare.cluster.api)
    asyncio.run(port.apply(DEPLOYMENTS, ServerSideApply(content=content, manager="somebody")))

    foreign_objects = find_foreign_objects(bare.wish, bare.look())

    assert [problem.code for problem in foreign_objects] == ["kube.foreign"]
    assert "deployments.apps coredns in kube-system" in foreign_objects[0].what
    assert "somebody" in foreign_objects[0].why


def test_a_helm_job_that_fails_tells_what_helm_said(bare: Bootstrapped) -> None:
    bare.world.faults.add(
        Fault(
            point=Point.POD,
            effect=Effect.FAIL,
            match={"action": "run", "pod": "stockman-install-cilium-*"},
            message="chart has no network",
            times=None,
        )
    )

    with pytest.raises(Rejected) as caught:
        bare.apply()

    problem = caught.value.problem
    assert problem.code == "kube.install-failed"
    assert problem.what == "the chart of cilium was not installed"
    assert "jobs.batch stockman-install-cilium in kube-system, pod" in str(problem.where)
    assert "BackoffLimitExceeded" in problem.why
    assert "Error: chart has no network" in problem.why
    assert problem.fix
    assert leftovers(bare) == []
    assert installs(bare.changes()) == BEFORE_FLUX


def test_a_release_that_is_there_is_not_installed_again(bare: Bootstrapped) -> None:
    bare.apply(until="kubernetes/install/coredns")

    assert installs(bare.changes()) == BEFORE_FLUX[1:]


def test_secrets_of_ours_that_differ_are_put_right(bare: Bootstrapped) -> None:
    bare.apply(until="kubernetes/install/flux-operator")
    secret = next(step for step in bare.steps() if "/secret/" in step.id)
    asyncio.run(bare.perform(secret))
    seen = bare.look()
    assert [(secret.name, secret.owner) for secret in seen.secrets or ()] == [
        ("sops-age", ObjectOwner.STOCKMAN)
    ]
    desired_secret = bare.wish.secrets[0]
    renewed = replace(desired_secret, digests=dict.fromkeys(desired_secret.digests, "another"))

    kubernetes_changes = plan_kubernetes_changes(replace(bare.wish, secrets=(renewed,)), seen)

    whys = [change.why for change in kubernetes_changes if "/secret/" in change.id]
    assert whys == ["age.agekey differs from the encrypted file"]


def test_the_seen_secret_has_digests_and_no_values(bare: Bootstrapped) -> None:
    bare.apply(until="kubernetes/definitions/gateway-api")
    secret = next(step for step in bare.steps() if "/secret/" in step.id)
    asyncio.run(bare.perform(secret))

    assert CANARY not in repr(bare.look())
    ref = ObjectRef(kind=SECRETS, name="sops-age", namespace="flux-system")
    assert asyncio.run(memory_kubernetes(bare.cluster.api).get(ref))["data"]


def test_flux_looks_at_its_repository_when_it_is_asked_to(bare: Bootstrapped) -> None:
    assert list(reconcile_changes(bare.wish, bare.look(), "now", "it was asked for")) == []
    bare.apply()

    reconciliations = tuple(reconcile_changes(bare.wish, bare.look(), "now", "it was asked for"))
    for step in kubernetes_steps(reconciliations, bare.wish, StageContext()):
        asyncio.run(bare.perform(step))

    assert [step.id for step in reconciliations] == [
        "kubernetes/reconcile/gitrepositories",
        "kubernetes/reconcile/kustomizations",
        "kubernetes/wait/repository",
    ]
    assert all(asyncio.run(step.action.done(bare.ports)) for step in reconciliations)


def test_a_repository_that_is_all_that_differs_is_pushed_without_a_look_at_itself(
    bare: Bootstrapped,
) -> None:
    steps = kubernetes_steps(
        (push_change(bare.wish, "files are rendered"),), bare.wish, StageContext(needs=("a",))
    )

    assert [(step.id, step.needs) for step in steps] == [("kubernetes/push", ("a",))]
