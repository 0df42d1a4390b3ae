"""Every effect at API servers and kubelets, tried once."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.core.faults import Effect, Fault, Point

from lab.tests.kube import troubles
from lab.tests.kube.calling import KubeAsking, config_map

MAPS = "/api/v1/namespaces/default/configmaps"
SECONDS = 50.0
LONG = 7200.0
NEO = "talos-neo"


def kubernetes(effect: Effect) -> list[object]:
    """How a request went, whether it was done, how long it took, and what a later read says."""
    asking = KubeAsking()
    asking.ask("POST", MAPS, config_map("first"))
    fault = Fault(Point.KUBERNETES, effect, {"resource": "configmaps"}, seconds=SECONDS, times=2)
    asking.world.faults.add(fault)
    answer = asking.answer("GET" if effect is Effect.LIE else "POST", MAPS, config_map("wool"))
    if effect is Effect.LIE:
        fault.match["verb"] = "list"
        assert asking.ask("POST", MAPS, config_map("wool"))[0] == 201
    else:
        fault.times = 1
    read = asking.answer("GET", MAPS).response
    asking.world.faults.remove(fault.number)
    is_done = asking.ask("GET", f"{MAPS}/wool")[0] == 200
    is_read = read is not None and b'"wool"' in read.body
    how = "hangs" if answer.response is None else str(answer.response.status)
    return ["cut" if answer.is_cut else how, is_done, answer.seconds, is_read]


def node(effect: Effect) -> list[object]:
    """Whether a Node is ready: at once, a minute later, and after the fault was taken back."""
    lab = troubles.Troubled()
    number = lab.let("node", effect.value, f"machine={NEO}", times="always")
    seen: list[object] = []
    for seconds in (1.0, 60.0):
        lab.world.advance(seconds)
        seen.append(lab.ready(NEO))
    lab.take_back(number)
    return [*seen, lab.ready(NEO)]


_E = Effect
SEEN: list[tuple[Callable[[Effect], list[object]], Effect, list[object]]] = [
    (kubernetes, _E.FAIL, ["500", False, 0, False]),
    (kubernetes, _E.DO_THEN_FAIL, ["500", True, 0, True]),
    (kubernetes, _E.DELAY, ["201", True, SECONDS, True]),
    (kubernetes, _E.HANG, ["hangs", False, 0, False]),
    (kubernetes, _E.CUT, ["cut", False, 0, False]),
    (kubernetes, _E.DO_THEN_CUT, ["cut", True, 0, True]),
    (kubernetes, _E.LIE, ["200", True, 0, False]),
    (node, _E.FAIL, ["False", "False", "True"]),
    (node, _E.HANG, ["True", "Unknown", "True"]),
]
"""What is seen of each: the function is named after its point."""
