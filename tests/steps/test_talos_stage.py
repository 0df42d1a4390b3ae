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
    found = scene(preset, version)
    found.start()
    return found


@pytest.mark.parametrize("version", MINORS)
def test_machines_that_wait_become_a_cluster_and_a_second_plan_is_empty(version: str) -> None:
    found = begun(version)

    found.carry_out(found.plan())

    view = found.observe().etcd
    assert {one.hostname for one in view.voters} == {TRINITY, NEO, NIOBE}
    assert view.healthy_voters == 3
    assert found.watched.writes == [
        "apply_configuration",
        "apply_configuration",
        "apply_configuration",
        "bootstrap",
    ]
    found.again()
    assert found.plan() == ()
    assert found.refusals() == {}
    assert found.watched.writes == []


def test_workers_join_without_being_asked_about_etcd() -> None:
    found = begun(preset=MIXED)

    found.carry_out(found.plan())

    seen = found.observe()
    assert [one.hostname for one in seen.etcd.members] == [TRINITY]
    assert {name: one.status.stage for name, one in seen.machines.items() if one.status} == {
        TRINITY: "running",
        NEO: "running",
        NIOBE: "running",
    }


def test_a_plan_is_saved_and_read_again_and_holds_no_secret() -> None:
    found = begun()
    made = build_plan(
        Plan(cluster="k8s", made_at=found.ports.clock.now(), steps=found.plan(), touched={})
    )

    text = render_plan(made)

    assert parse_plan(text, "plan.json") == made
    for line in bundle_text(found.bundle).reveal().splitlines():
        value = line.partition(":")[2].strip()
        assert len(value) < 20 or value not in text


def test_the_second_run_writes_no_file_of_a_client() -> None:
    found = begun(preset="single")
    found.carry_out(found.plan())
    before = dict(found.places.texts)

    found.carry_out(found.plan())

    assert set(before) == {"private:talosconfig", "private:kubeconfig"}
    assert found.places.texts == before


def test_files_of_clients_are_renewed_before_they_end() -> None:
    found = begun(preset="single")
    found.carry_out(found.plan())
    before = dict(found.places.texts)

    found.later(timedelta(days=340))
    due = [one for one in found.plan() if "client-file" in one.id]
    found.carry_out(due)

    assert {name for name in before if found.places.texts[name] != before[name]} == set(before)
    assert all(one.reason.startswith("its certificate ends ") for one in due)
    assert not [one for one in found.plan() if "client-file" in one.id]


def test_a_file_of_a_client_is_written_for_the_reason_that_holds() -> None:
    found = begun(preset="single")
    reasons = {one.id: one.reason for one in found.plan() if "client-file" in one.id}
    found.carry_out(found.plan())
    before = found.places.texts["private:kubeconfig"]
    other = Secret(before.reveal().replace(":6443", ":6444"))
    found.places.texts["private:kubeconfig"] = other
    named = [one.reason for one in found.plan() if "client-file" in one.id]
    found.later(timedelta(days=400))
    ended = {one.id: one.reason for one in found.plan() if "client-file" in one.id}

    assert set(reasons.values()) == {"it is not there"}
    assert named == ["it names other machines"]
    assert all(one.startswith("its certificate ended ") for one in ended.values())


def test_controllers_join_an_etcd_one_after_the_other() -> None:
    found = begun()
    whole = found.desired
    found.wants(replace(whole, nodes=whole.nodes[:1]))
    found.carry_out(found.plan())

    found.wants(whole)
    grown = found.plan()
    found.carry_out(grown)

    assert "talos/bootstrap" not in {one.id for one in grown}
    by_id = {one.id: one for one in grown}
    assert f"talos/joined/{NEO}" in by_id[f"talos/configure/{NIOBE}"].needs
    assert found.observe().etcd.healthy_voters == 3
    assert found.watched.writes == ["apply_configuration", "apply_configuration"]
    assert found.plan() == ()


def test_a_controller_that_is_not_wanted_leaves_etcd_and_is_reset() -> None:
    found = scene(up=True)
    whole = found.desired
    leaving = {NIOBE: found.target(NIOBE).address}
    found.wants(replace(whole, nodes=whole.nodes[:2]))

    shrunk = found.plan(leaving=leaving)
    found.carry_out(one for one in shrunk if "client-file" not in one.id)

    assert [one.id for one in shrunk][:2] == [f"talos/leave/{NIOBE}", f"talos/reset/{NIOBE}"]
    assert {one.hostname for one in found.observe().etcd.members} == {TRINITY, NEO}
    found.world.advance(60.0)
    assert not found.machine(NIOBE).is_on
    assert [one for one in found.plan(leaving=leaving) if "client-file" not in one.id] == []


def test_a_dead_member_is_removed_by_its_id_before_its_vm_is_made_anew() -> None:
    found = scene(up=True)
    found.power_off(NIOBE)

    made = found.plan(fresh=frozenset({NIOBE}), needs={NIOBE: ("vms/start/talos-niobe",)})

    ids = [one.id for one in made if "client-file" not in one.id]
    assert ids == [
        f"talos/remove-member/{NIOBE}",
        f"talos/await/{NIOBE}",
        f"talos/configure/{NIOBE}",
        f"talos/joined/{NIOBE}",
    ]
    assert made[1].needs == ("vms/start/talos-niobe", f"talos/remove-member/{NIOBE}")
    found.carry_out(made[:1])
    assert {one.hostname for one in found.observe().etcd.members} == {TRINITY, NEO}
