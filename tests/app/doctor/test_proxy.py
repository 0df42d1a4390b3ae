"""Whether the web is reached through a proxy."""

import pytest

from stockman.assessment.doctor.servers import proxy_variable
from tests.app.doctor.fakes import FakeMachine


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_variable_sends_questions_to_a_proxy(name: str) -> None:
    machine = FakeMachine(variables={name: "http://proxy.test:3128"})

    assert proxy_variable(machine, "factory.test") == name


@pytest.mark.parametrize(
    "rule", ["factory.test", ".test", "test", "*.test", "*", "a, factory.test"]
)
@pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
def test_a_rule_sends_them_straight(name: str, rule: str) -> None:
    machine = FakeMachine(variables={"HTTPS_PROXY": "http://proxy.test:3128", name: rule})

    assert proxy_variable(machine, "factory.test") == ""


@pytest.mark.parametrize("rule", ["", "other.test", "tory.test"])
def test_another_rule_does_not(rule: str) -> None:
    machine = FakeMachine(variables={"HTTPS_PROXY": "x", "NO_PROXY": rule})

    assert proxy_variable(machine, "factory.test") == "HTTPS_PROXY"
