"""What Prometheus is told of runs."""

from __future__ import annotations

from pathlib import Path

from stockman.app.runs.metrics import write_textfile
from stockman.assessment.status.metrics import Sample, gauge, prometheus_text
from tests.app.private_problems import Counted
from tests.app.run_metrics_scene import FAILS, WAITS, carried_out, metrics_text
from tests.engine.simulated import MORNING
from tests.engine.toys import Scene, make, plan_of

ABOUT = gauge("one", "What it is.", Sample(value=1.5, labels={"name": 'a"b\\c\nd'}))


def test_without_runs_there_are_none() -> None:
    assert metrics_text(Scene()).splitlines() == [
        "# HELP stockman_runs Runs that are kept.",
        "# TYPE stockman_runs gauge",
        "stockman_runs 0",
    ]


def test_a_run_that_failed_after_one_that_did_not() -> None:
    scene = Scene()
    carried_out(scene, plan_of(make("before")))
    scene.clock.jump(3600)
    run = carried_out(scene, FAILS)
    began = int(MORNING.timestamp())

    lines = [line for line in metrics_text(scene).splitlines() if not line.startswith("#")]

    assert lines == [
        'stockman_runs{cluster="toy"} 2',
        f'stockman_run_info{{cluster="toy",run="{run}"}} 1',
        'stockman_run_result{cluster="toy",result="open"} 0',
        'stockman_run_result{cluster="toy",result="done"} 0',
        'stockman_run_result{cluster="toy",result="failed"} 1',
        'stockman_run_result{cluster="toy",result="refused"} 0',
        'stockman_run_result{cluster="toy",result="paused"} 0',
        'stockman_run_result{cluster="toy",result="aborted"} 0',
        f'stockman_run_started_timestamp_seconds{{cluster="toy"}} {began + 3600}',
        f'stockman_run_last_entry_timestamp_seconds{{cluster="toy"}} {began + 3600}',
        f'stockman_run_last_success_timestamp_seconds{{cluster="toy"}} {began}',
        'stockman_run_steps{cluster="toy",state="waiting"} 1',
        'stockman_run_steps{cluster="toy",state="at gate"} 0',
        'stockman_run_steps{cluster="toy",state="running"} 0',
        'stockman_run_steps{cluster="toy",state="unknown"} 0',
        'stockman_run_steps{cluster="toy",state="done"} 1',
        'stockman_run_steps{cluster="toy",state="failed"} 1',
        'stockman_run_steps{cluster="toy",state="already"} 0',
        'stockman_run_progress_ratio{cluster="toy"} 0.333',
        'stockman_run_left_seconds{cluster="toy"} 90',
        'stockman_run_open_holds{cluster="toy"} 0',
        'stockman_run_step_duration_seconds_sum{cluster="toy",stage="vms",kind="test.make"} 0',
        'stockman_run_step_duration_seconds_count{cluster="toy",stage="vms",kind="test.make"} 1',
    ]


def test_gates_that_were_waited_for_are_counted_by_stage() -> None:
    scene = Scene()
    carried_out(scene, WAITS)

    rsplits = dict(line.rsplit(" ", 1) for line in metrics_text(scene).splitlines())

    assert float(rsplits['stockman_run_gate_wait_seconds_sum{cluster="toy",stage="vms"}']) > 30
    assert rsplits['stockman_run_gate_wait_seconds_count{cluster="toy",stage="vms"}'] == "1"
    assert not any("last_success" in name for name in rsplits)


def test_texts_in_labels_are_escaped() -> None:
    assert prometheus_text([ABOUT]).splitlines()[-1] == r'one{name="a\"b\\c\nd"} 1.500'


def test_a_file_is_replaced_and_leaves_no_draft(tmp_path: Path) -> None:
    file = tmp_path / "stockman.prom"
    file.write_text("before")

    write_textfile(file, [ABOUT], Counted())

    assert file.read_text() == prometheus_text([ABOUT])
    assert list(tmp_path.iterdir()) == [file]


def test_every_metric_stands_in_the_reference() -> None:
    page = Path(__file__).parents[2] / "docs/reference/plans-and-runs.md"
    scene = Scene()
    carried_out(scene, WAITS)
    carried_out(scene, FAILS)
    carried_out(scene, plan_of(make("a")))

    rows = {line.split()[2] for line in metrics_text(scene).splitlines() if line[:6] == "# TYPE"}

    assert len(rows) > 8
    assert all(f"| `{name}` |" in page.read_text() for name in rows)
