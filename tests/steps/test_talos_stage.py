"""From VMs that were just switched on to an etcd with all its members."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from stockman.model.secret import Secret
from stockman.steps.plan import Plan, build_plan, parse_plan, render_plan
from stockman.talos.secrets.bundle import bundle_text
from tests.steps.talos_scene import MINORS, MIXED, NEO, NIOBE, TRINITY, Scene, scene


def begun(version: str = "1.13.9", preset: str = "three-node") -> Scene:
    """Machines that wait for their configurations."""
    cluster = scene(preset, version)
    cluster.start()
    return cluster


@pytest.mark.parametrize("version", MINORS)
def test_machines_that_wait_become_a_cluster_and_a_second_plan_is_empty(version: str) -> None:
    cluster = begun(version)

    cluster.carry_out(cluster.plan())

    view = cluster.observe().etcd
    assert {voter.hostname for voter in view.voters} == {TRINITY, NEO, NIOBE}
    assert view.healthy_voters == 3
    assert cluster.watched.writes == [
        "apply_configuration",
        "apply_configuration",
        "apply_configuration",
        "bootstrap",
    ]
    cluster.again()
    assert cluster.plan() == ()
    assert cluster.refusals() == {}
    assert cluster.watched.writes == []


def test_workers_join_without_being_asked_about_etcd() -> None:
    cluster = begun(preset=MIXED)

    cluster.carry_out(cluster.plan())

    seen = cluster.observe()
    assert [member.hostname for member in seen.etcd.members] == [TRINITY]
    assert {name: one.status.stage for name, one in seen.machines.items() if one.status} == {
        TRINITY: "running",
        NEO: "running",
        NIOBE: "running",
    }


def test_a_plan_is_saved_and_read_again_and_holds_no_secret() -> None:
    cluster = begun()
    plan = build_plan(
        Plan(cluster="k8s", made_at=cluster.ports.clock.now(), steps=cluster.plan(), touched={})
    )

    text = render_plan(plan)

    assert parse_plan(text, "plan.json") == plan
    for line in bundle_text(cluster.bundle).reveal().splitlines():
        value = line.partition(":")[2].strip()
        assert len(value) < 20 or value not in text


def test_the_second_run_writes_no_file_of_a_client() -> None:
    cluster = begun(preset="single")
    cluster.carry_out(cluster.plan())
    before = dict(cluster.places.texts)

    cluster.carry_out(cluster.plan())

    assert set(before) == {"private:talosconfig", "private:kubeconfig"}
    assert cluster.places.texts == before


def test_files_of_clients_are_renewed_before_they_end() -> None:
    cluster = begun(preset="single")
    cluster.carry_out(cluster.plan())
    before = dict(cluster.places.texts)

    cluster.later(timedelta(days=340))
    due = [step for step in cluster.plan() if "client-file" in step.id]
    cluster.carry_out(due)

    assert {name for name in before if cluster.places.texts[name] != before[name]} == set(before)
    assert all(step.reason.startswith("its certificate ends ") for step in due)
    assert not [step for step in cluster.plan() if "client-file" in step.id]


def test_a_file_of_a_client_is_written_for_the_reason_that_holds() -> None:
    cluster = begun(preset="single")
    reasons = {step.id: step.reason for step in cluster.plan() if "client-file" in step.id}
    cluster.carry_out(cluster.plan())
    before = cluster.places.texts["private:kubeconfig"]
    secret = Secret(before.reveal().replace(":6443", ":6444"))
    cluster.places.texts["private:kubeconfig"] = secret
    named = [step.reason for step in cluster.plan() if "client-file" in step.id]
    cluster.later(timedelta(days=400))
    ended = {step.id: step.reason for step in cluster.plan() if "client-file" in step.id}

    assert set(reasons.values()) == {"it does not exist"}
    assert named == ["it contains the addresses of other machines"]
    assert all(one.startswith("its certificate ended ") for one in ended.values())


def test_controllers_join_an_etcd_one_after_the_other() -> None:
    cluster = begun()
    desired = cluster.desired
    cluster.wants(replace(desired, nodes=desired.nodes[:1]))
    cluster.carry_out(cluster.plan())

    cluster.wants(desired)
    grown = cluster.plan()
    cluster.carry_out(grown)

    assert "talos/bootstrap" not in {step.id for step in grown}
    by_id = {step.id: step for step in grown}
    assert f"talos/joined/{NEO}" in by_id[f"talos/configure/{NIOBE}"].needs
    assert cluster.observe().etcd.healthy_voters == 3
    assert cluster.watched.writes == ["apply_configuration", "apply_configuration"]
    assert cluster.plan() == ()


def test_a_controller_that_is_not_wanted_leaves_etcd_and_is_reset() -> None:
    cluster = scene(up=True)
    desired = cluster.desired
    leaving = {NIOBE: cluster.target(NIOBE).address}
    cluster.wants(replace(desired, nodes=desired.nodes[:2]))

    shrunk = cluster.plan(leaving=leaving)
    cluster.carry_out(step for step in shrunk if "client-file" not in step.id)

    assert [step.id for step in shrunk][:2] == [f"talos/leave/{NIOBE}", f"talos/reset/{NIOBE}"]
    assert {member.hostname for member in cluster.observe().etcd.members} == {TRINITY, NEO}
    cluster.world.advance(60.0)
    assert not cluster.machine(NIOBE).is_on
    assert [step for step in cluster.plan(leaving=leaving) if "client-file" not in step.id] == []


def test_a_dead_member_is_removed_by_its_id_before_its_vm_is_made_anew() -> None:
    cluster = scene(up=True)
    cluster.power_off(NIOBE)

    plan = cluster.plan(fresh=frozenset({NIOBE}), new=cluster.new(NIOBE))

    ids = [step.id for step in plan if "client-file" not in step.id]
    assert ids == [
        f"talos/remove-member/{NIOBE}",
        f"talos/seed/{NIOBE}",
        f"talos/start/{NIOBE}",
        f"talos/configure/{NIOBE}",
        f"talos/joined/{NIOBE}",
    ]
    assert plan[1].needs == (f"talos/remove-member/{NIOBE}",)
    cluster.carry_out(plan[:1])
    assert {member.hostname for member in cluster.observe().etcd.members} == {TRINITY, NEO}
