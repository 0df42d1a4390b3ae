"""The steps of the demo, and its recording for the README."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from demo.picture import lines_of
from demo.runner import Console, DemoFailed, ProgramCall, play, print_line, wrap_command
from demo.steps import (
    DEMO_PRESETS,
    ChangeDirectory,
    Command,
    DemoPreset,
    command_lines,
    demo_steps,
    follow_up_commands,
)
from stockman.cli.registry import COMMANDS
from stockman.config.load import load
from stockman.config.presets import PRESETS, render_preset
from stockman.config.resolve import resolve
from tests.docs.pages import DOCS, ROOT

RECORDING = DOCS / "_static" / "demo.svg"
NETWORK = "127.66.0.0/16"
THREE_NODE = DEMO_PRESETS["three-node"]


def shown_commands(lines: list[str]) -> list[str]:
    """Return the commands behind prompts, with continued lines joined."""
    text = "\n".join(lines).replace(" \\\n   ", "")
    return [line.removeprefix("$ ") for line in text.split("\n") if line.startswith("$ ")]


def test_the_demo_supports_every_preset() -> None:
    assert set(DEMO_PRESETS) == set(PRESETS)


@pytest.mark.parametrize("preset", DEMO_PRESETS.values(), ids=str)
def test_the_named_machine_is_on_the_failing_host(preset: DemoPreset) -> None:
    texts = render_preset(preset.name)
    desired = resolve(load({name: text.encode() for name, text in texts.items()}))
    hosts = {str(node.name): str(node.vm.host) for node in desired.nodes if node.vm is not None}
    hosts |= {str(guest.name): str(guest.host) for guest in desired.guests}
    controllers = [node for node in desired.nodes if node.is_controller]
    last_bytes = [int(node.address.ip) & 0xFF for node in controllers]

    assert hosts[preset.node] == preset.failing_host
    assert last_bytes[:1] == [preset.first] * preset.has_cluster


@pytest.mark.parametrize("preset", DEMO_PRESETS.values(), ids=str)
def test_every_command_of_the_demo_exists(preset: DemoPreset) -> None:
    commands = [step for step in demo_steps(preset, NETWORK) if isinstance(step, Command)]
    lines = [shlex.split(step.arguments) for step in commands if step.program == "stockman"]

    assert all(
        " ".join(words[:1]) in COMMANDS or " ".join(words[:2]) in COMMANDS for words in lines
    )


def test_follow_up_commands_name_a_machine_of_the_network() -> None:
    assert "-n 127.71.0.16 " in " ".join(follow_up_commands(THREE_NODE, "127.71.0.0/16"))


def test_long_lines_are_wrapped() -> None:
    line = "stockman lab up " + "--preset three-node " * 4 + "--repo flock"
    wrapped = wrap_command(line)

    assert len(wrapped) == 2
    assert shown_commands([f"$ {wrapped[0]}", *wrapped[1:]]) == [line]


def test_an_unexpected_exit_status_stops_the_demo(tmp_path: Path) -> None:
    def fail(call: ProgramCall, console: Console) -> int:
        del call, console
        return 70

    with pytest.raises(DemoFailed, match="exited with 70 instead of 0"):
        play(demo_steps(THREE_NODE, NETWORK), print_line, tmp_path, fail)


def test_commands_run_in_the_current_directory_of_the_demo(tmp_path: Path) -> None:
    calls: list[ProgramCall] = []

    def record_call(call: ProgramCall, console: Console) -> int:
        del console
        calls.append(call)
        return 0

    steps = (Command("validate"), ChangeDirectory("k8s"), Command("status", program="git"))
    play(steps, print_line, tmp_path, record_call)

    assert [call.directory for call in calls] == [tmp_path, tmp_path / "k8s"]
    assert calls[0].command[-2:] == ["stockman", "validate"]
    assert calls[1].command == ["git", "status"]


def test_the_recording_has_the_commands_of_the_demo() -> None:
    lines = shown_commands(lines_of(RECORDING.read_text("utf-8")))
    network = lines[0].rpartition(" ")[2]
    hint = f"record it again: python -m demo --record {RECORDING.relative_to(ROOT)}"

    assert lines == command_lines(THREE_NODE, network), hint


def test_the_recording_has_no_external_resources() -> None:
    text = RECORDING.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    markup = re.sub(r"<text.*?</text>", "", text)

    assert re.findall(r"https?:|url\((?!#)|@import|<script|<image|xlink", markup) == []
