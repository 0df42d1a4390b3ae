"""Random patches of all kinds: the lab and a real kube-apiserver come to the same objects."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator

import pytest

from tests.real.kube_api.conversations import begin
from tests.real.kube_api.talking import RealApi, compare, lab_api
from tests.real.kube_api.watches import placed
from tests.real.rendered.api_server import TOKEN, api_server
from tests.soak.kube_changes import Changes
from tools.pytest_plugin import RealTool

OBJECTS = int(os.environ.get("STOCKMAN_SOAK_OBJECTS", "60"))
CHANGES = 60


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[RealApi]:
    mktemp = tmp_path_factory.mktemp("judge")
    with api_server(mktemp, real_tool, accounts=True) as server:
        real_api = RealApi(server.port, TOKEN)
        yield real_api
        real_api.close()


def test_random_changes_have_the_same_outcome(real: RealApi) -> None:
    first = random.randrange(1 << 30)
    for seed in range(first, first + OBJECTS):
        lab = lab_api()
        for number, step in enumerate([*begin(), *Changes(seed).steps(CHANGES)]):
            differences = compare(placed(step, f"s{seed}"), real, lab)
            asked = f"{step.method} {step.path} {step.kind} {json.dumps(step.body)}"
            assert differences == [], f"seed {seed}, step {number}: {asked}"
