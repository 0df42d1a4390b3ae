"""Jobs run pods to their end."""

from __future__ import annotations

from typing import Any

from lab.tests.kube.controllers.playing import BATCH, CORE, Played, played, template

WOOL = f"{BATCH}/jobs/wool"


def started(**spec: Any) -> Played:
    lab = played()
    inner = {"spec": template(restartPolicy="Never")["spec"]}
    body = {"metadata": {"name": "wool"}, "spec": {"template": inner, **spec}}
    lab.ask("POST", f"{BATCH}/jobs", body)
    return lab


def conditions(lab: Played) -> list[str]:
    return [condition["type"] for condition in lab.get(WOOL)["status"].get("conditions", [])]


def test_a_job_is_complete_when_enough_pods_succeeded() -> None:
    lab = started(completions=3, parallelism=2)
    assert lab.get(WOOL)["status"]["active"] == 2

    lab.end("Succeeded")
    lab.end("Succeeded")

    assert lab.get(WOOL)["status"]["succeeded"] == 3
    assert conditions(lab) == ["SuccessCriteriaMet", "Complete"]


def test_a_job_fails_behind_its_limit() -> None:
    lab = started(backoffLimit=0)

    lab.end("Failed")

    assert conditions(lab) == ["FailureTarget", "Failed"]


def test_the_next_try_waits_longer_each_time() -> None:
    lab = started(backoffLimit=3)
    lab.end("Failed")
    assert len(lab.items(f"{CORE}/pods")) == 1

    lab.run(10.0)

    assert len(lab.items(f"{CORE}/pods")) == 2


def test_a_job_that_takes_too_long_fails() -> None:
    lab = started(activeDeadlineSeconds=60)

    lab.run(60.0)

    assert conditions(lab) == ["FailureTarget", "Failed"]
    assert lab.items(f"{CORE}/pods") == []


def test_a_job_goes_some_time_after_its_end() -> None:
    lab = started(ttlSecondsAfterFinished=30)
    lab.end("Succeeded")

    lab.run(30.0)

    assert lab.items(f"{BATCH}/jobs") == []
    assert lab.items(f"{CORE}/pods") == []


def test_a_suspended_job_has_no_pods() -> None:
    lab = started()

    lab.patch(WOOL, {"spec": {"suspend": True}})

    assert lab.items(f"{CORE}/pods") == []
    assert conditions(lab) == ["Suspended"]
