"""The command that hands out identities: run without a shell, and never quoted."""

import shlex
import sys

import pytest

from stockman.adapters.programs import ProgramKeyCommand
from stockman.ports.environment import NoAnswer

PYTHON = shlex.quote(sys.executable)


def test_the_command_sees_more_variables_and_its_output_comes_back() -> None:
    command = f"{PYTHON} -c 'import os; print(os.environ[\"SOPS_AGE_RECIPIENT\"])'"

    output = ProgramKeyCommand().output(command, {"SOPS_AGE_RECIPIENT": "age1abc"})

    assert output == b"age1abc\n"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("", "it is empty"),
        ("echo 'open", "it contains an unclosed quote"),
        ("/no/such/program", "it cannot be run: No such file"),
        (f"{PYTHON} -c 'import sys; print(\"CANARY\"); sys.exit(3)'", "it exited with status 3"),
        (f"{PYTHON} -c 'print(\"x\" * 2_000_000)'", "too large for a key"),
    ],
)
def test_what_goes_wrong_is_told_without_the_output(command: str, why: str) -> None:
    with pytest.raises(NoAnswer, match=why) as caught:
        ProgramKeyCommand().output(command, {})

    assert "CANARY" not in str(caught.value)


def test_a_command_that_does_not_end_is_given_up() -> None:
    with pytest.raises(NoAnswer, match=r"within 0\.2 s"):
        ProgramKeyCommand(patience=0.2).output(f"{PYTHON} -c 'import signal; signal.pause()'", {})
