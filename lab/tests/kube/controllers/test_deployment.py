"""Deployments roll out templates."""

from __future__ import annotations

from typing import Any

from lab.tests.kube.controllers.playing import APPS, CORE, Played, played, workload

WOOL = f"{APPS}/deployments/wool"


def rolled_out(replicas: int = 4, **spec: Any) -> Played:
    lab = played()
    lab.ask("POST", f"{APPS}/deployments", workload(replicas=replicas, **spec))
    lab.make_ready()
    return lab


def change_image(lab: Played, image: str) -> None:
    containers = [{"name": "one", "image": image}]
    lab.patch(WOOL, {"spec": {"template": {"spec": {"containers": containers}}}})


def sizes(lab: Played) -> list[int]:
    return sorted(item["spec"]["replicas"] for item in lab.items(f"{APPS}/replicasets"))


def progress(lab: Played) -> str:
    conditions = lab.get(WOOL)["status"]["conditions"]
    return str(
        next(condition["reason"] for condition in conditions if condition["type"] == "Progressing")
    )


def test_a_new_deployment_is_available_when_its_pods_are_ready() -> None:
    lab = rolled_out()

    status = lab.get(WOOL)["status"]

    assert status["availableReplicas"] == status["updatedReplicas"] == 4
    assert progress(lab) == "NewReplicaSetAvailable"


def test_an_update_never_leaves_its_fences() -> None:
    lab = rolled_out()

    change_image(lab, "wool:2")

    assert sizes(lab) == [2, 3]
    assert len(lab.items(f"{CORE}/pods")) == 5


def test_an_update_ends_with_the_new_replica_set_alone() -> None:
    lab = rolled_out()
    change_image(lab, "wool:2")
    for _ in range(4):
        lab.make_ready()

    assert sizes(lab) == [0, 4]
    assert lab.get(WOOL)["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"


def test_going_back_takes_the_old_replica_set_again() -> None:
    lab = rolled_out(1)
    for image in ("wool:2", "wool:1"):
        change_image(lab, image)
        for _ in range(3):
            lab.make_ready()

    assert len(lab.items(f"{APPS}/replicasets")) == 2
    assert lab.get(WOOL)["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"


def test_a_paused_deployment_is_scaled_but_not_rolled_out() -> None:
    lab = rolled_out()
    lab.patch(WOOL, {"spec": {"paused": True}})

    change_image(lab, "wool:2")
    lab.patch(WOOL, {"spec": {"replicas": 6}})

    assert sizes(lab) == [6]
    assert progress(lab) == "DeploymentPaused"


def test_old_replica_sets_beyond_the_history_go() -> None:
    lab = rolled_out(1, revisionHistoryLimit=1)
    for number in range(2, 5):
        change_image(lab, f"wool:{number}")
        for _ in range(3):
            lab.make_ready()

    assert len(lab.items(f"{APPS}/replicasets")) == 2


def test_a_rollout_without_progress_is_late_after_its_deadline() -> None:
    lab = rolled_out(2, progressDeadlineSeconds=60)
    change_image(lab, "wool:2")

    lab.run(70.0)

    assert progress(lab) == "ProgressDeadlineExceeded"


def test_recreating_takes_old_pods_away_first() -> None:
    lab = rolled_out(2, strategy={"type": "Recreate"})

    change_image(lab, "wool:2")

    assert sizes(lab) == [0, 2]
    assert {item["spec"]["containers"][0]["image"] for item in lab.items(f"{CORE}/pods")} == {
        "wool:2"
    }


def test_events_tell_how_replica_sets_are_scaled() -> None:
    lab = rolled_out(2)

    name = lab.names(f"{APPS}/replicasets")[0]

    assert f"Scaled up replica set {name} from 0 to 2" in lab.messages()
