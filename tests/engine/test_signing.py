"""Only plans and journals that the key of the configuration signed are executed."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from stockman.app.runs.apply import read_saved_plan
from stockman.engine.etcd_records import EtcdRecords
from stockman.engine.journal import FIRST_CHECKSUM, encode_entry, open_journal, parse_journal
from stockman.engine.lifecycle import RunHome, abort_run, resume_run, start_run
from stockman.engine.signing import RunSigner
from stockman.engine.state import RunResult
from stockman.model.errors import Refused
from stockman.steps.digest import json_digest
from stockman.steps.plan import Plan, parse_plan, render_plan
from stockman.steps.ports import Ports
from stockman.steps.step import Retry
from tests.engine.toys import Break, Flag, Scene, make, plan_of, way

SEED, OTHER_SEED = bytes(range(32)), bytes(range(1, 33))
SIGNER = RunSigner(Ed25519PrivateKey.from_private_bytes(SEED))
OTHER = RunSigner(Ed25519PrivateKey.from_private_bytes(OTHER_SEED))
PLAN = plan_of(make("one"))
FAILING = plan_of(
    make("one", holds=(Flag(name="red"),)),
    make("two", "one", action=Break(key="two"), retry=Retry(attempts=1)),
)


def _process(scene: Scene, signer: RunSigner | None = SIGNER) -> tuple[RunHome, Ports]:
    home, ports = scene.process()
    return replace(home, signer=signer), ports


def _run(scene: Scene, plan: Plan, signer: RunSigner | None = SIGNER) -> str:
    home, ports = _process(scene, signer)
    return asyncio.run(start_run(home, plan, ports, way())).state.run


def _stored(scene: Scene, run: str) -> dict[str, bytes]:
    return {key: text for key, text in scene.kept.content.items() if f"/{run}/" in key}


def _changed(text: str) -> str:
    """A plan with another step, and a digest that matches it."""
    content: dict[str, Any] = json.loads(text)
    content["plan"]["steps"][0]["action"]["key"] = "planted"
    content["digest"] = json_digest(content["plan"])
    return json.dumps(content)


def _refusal(scene: Scene, run: str) -> str:
    home, ports = _process(scene)
    codes = set()
    for act in (resume_run, abort_run):
        with pytest.raises(Refused) as refused:
            asyncio.run(act(home, run, ports, way()))
        codes.add(refused.value.problem.code)
    return ", ".join(codes)


def test_a_saved_plan_is_read_by_whoever_has_the_key(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(render_plan(PLAN, SIGNER.sign_plan), "utf-8")

    assert read_saved_plan(file, SIGNER) == PLAN


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (render_plan(PLAN), "no signature"),
        (render_plan(PLAN, OTHER.sign_plan), "another key"),
        (_changed(render_plan(PLAN, SIGNER.sign_plan)), "does not match"),
        (render_plan(PLAN, lambda digest: SIGNER.sign_run("run", digest)), "does not match"),
        (render_plan(PLAN, lambda _: {"key": SIGNER.public, "value": "no hex"}), "does not match"),
    ],
)
def test_any_other_saved_plan_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text, "utf-8")
    parse_plan(text, "plan.json")

    with pytest.raises(Refused) as refused:
        read_saved_plan(file, SIGNER)

    assert refused.value.problem.code == "plan.signature"
    assert why in refused.value.problem.why


def test_a_signed_run_is_resumed_and_ended_with_signed_lines() -> None:
    scene = Scene()
    run = _run(scene, FAILING)
    home, ports = _process(scene)

    resumed = asyncio.run(resume_run(home, run, ports, way()))
    aborted = asyncio.run(abort_run(home, run, ports, way()))

    assert (resumed.result, aborted.result) == (RunResult.FAILED, RunResult.ABORTED)
    text = asyncio.run(home.runs.plan(run))
    lines = asyncio.run(home.runs.lines(run))
    journal = asyncio.run(open_journal(lines, ports.clock, SIGNER.check_run(run, text)))
    assert len(journal.entries) > 1


def test_no_private_key_is_stored() -> None:
    scene = Scene()
    run = _run(scene, PLAN)
    stored = b"".join(_stored(scene, run).values())

    assert SEED.hex().encode() not in stored
    assert SIGNER.journal_keys(run)._private.private_bytes_raw().hex().encode() not in stored


def test_a_planted_step_in_the_plan_of_a_run_is_refused() -> None:
    scene = Scene()
    run = _run(scene, FAILING)
    key = next(name for name in _stored(scene, run) if name.endswith("plan.json"))

    scene.kept.content[key] = _changed(scene.kept.content[key].decode()).encode()

    assert _refusal(scene, run) == "run.signature"
    assert "planted" not in scene.made


def test_planted_entries_with_correct_checksums_are_refused() -> None:
    scene = Scene()
    run = _run(scene, FAILING)
    segments = _segments(scene, run)
    entries, _ = parse_journal(b"".join(scene.kept.content[key] for key in segments), run)
    before, lines = FIRST_CHECKSUM, []
    for entry in entries:
        line, before = encode_entry(replace(entry, data={**entry.data, "planted": True}), before)
        lines.append(line)

    for key in segments[1:]:
        del scene.kept.content[key]
    scene.kept.content[segments[0]] = b"".join(lines)

    assert _refusal(scene, run) == "run.signature"


def test_the_journal_of_another_run_is_refused() -> None:
    scene = Scene()
    first, second = _run(scene, FAILING), _run(scene, FAILING)
    for key in _segments(scene, second):
        del scene.kept.content[key]

    for key, text in _stored(scene, first).items():
        if "/journal/" in key:
            scene.kept.content[key.replace(first, second)] = text

    assert _refusal(scene, second) == "run.signature"


def test_an_unsigned_older_run_is_left_alone_unless_it_may_hold_something() -> None:
    scene = Scene()
    run = _run(scene, FAILING, None)
    before = _stored(scene, run)

    assert _run(scene, PLAN)
    assert _stored(scene, run) == before

    held = Scene()
    run = _killed_while_holding(held)
    with pytest.raises(Refused, match=r"run\.signature"):
        _run(held, PLAN)


def test_only_a_signed_destroy_ends_the_memory_of_an_etcd() -> None:
    scene = Scene()
    home, ports = _process(scene)
    records = EtcdRecords(home.runs, ports.clock, SIGNER)
    _run(scene, plan_of(make("talos/bootstrap")))
    _run(scene, plan_of(make("vms/destroy/cp-1"), ends_cluster=True), None)

    with pytest.raises(Refused, match=r"run\.signature"):
        asyncio.run(records.find_earlier_etcd(()))

    _run(scene, plan_of(make("vms/destroy/cp-2"), ends_cluster=True))
    assert asyncio.run(records.find_earlier_etcd(())) == ""


def test_runs_of_other_secrets_say_nothing_about_the_etcd_of_these() -> None:
    scene = Scene()
    home, ports = _process(scene)
    _run(scene, plan_of(make("talos/bootstrap")), OTHER)

    assert asyncio.run(EtcdRecords(home.runs, ports.clock, SIGNER).find_earlier_etcd(())) == ""


def _segments(scene: Scene, run: str) -> list[str]:
    return sorted(key for key in _stored(scene, run) if "/journal/" in key)


def _killed_while_holding(scene: Scene) -> str:
    """An unsigned run whose journal ends while it holds a flag."""
    run = _run(scene, FAILING, None)
    segments = _segments(scene, run)
    first = next(key for key in segments if b'"released"' in scene.kept.content[key])
    for key in segments[segments.index(first) :]:
        del scene.kept.content[key]
    return run
