"""Every effect at API servers, tried once."""

from __future__ import annotations

from collections.abc import Callable

from stockman.lab.core.faults import Effect, Fault, Point
from tests.lab.kube.calling import KubeAsking, config_map

MAPS = "/api/v1/namespaces/default/configmaps"
SECONDS = 50.0


def kubernetes(effect: Effect) -> list[object]:
    """How a request went, whether it was done, how long it took, and what a later read says."""
    asking = KubeAsking()
    asking.ask("POST", MAPS, config_map("first"))
    fault = Fault(Point.KUBERNETES, effect, {"resource": "configmaps"}, seconds=SECONDS, times=2)
    asking.world.faults.add(fault)
    said = asking.answer("GET" if effect is Effect.LIE else "POST", MAPS, config_map("wool"))
    if effect is Effect.LIE:
        fault.match["verb"] = "list"
        assert asking.ask("POST", MAPS, config_map("wool"))[0] == 201
    else:
        fault.times = 1
    read = asking.answer("GET", MAPS).response
    asking.world.faults.remove(fault.number)
    is_done = asking.ask("GET", f"{MAPS}/wool")[0] == 200
    is_read = read is not None and b'"wool"' in read.body
    how = "hangs" if said.response is None else str(said.response.status)
    return ["cut" if said.is_cut else how, is_done, said.seconds, is_read]


_E = Effect
SEEN: list[tuple[Callable[[Effect], list[object]], Effect, list[object]]] = [
    (kubernetes, _E.FAIL, ["500", False, 0, False]),
    (kubernetes, _E.DO_THEN_FAIL, ["500", True, 0, True]),
    (kubernetes, _E.DELAY, ["201", True, SECONDS, True]),
    (kubernetes, _E.HANG, ["hangs", False, 0, False]),
    (kubernetes, _E.CUT, ["cut", False, 0, False]),
    (kubernetes, _E.DO_THEN_CUT, ["cut", True, 0, True]),
    (kubernetes, _E.LIE, ["200", True, 0, False]),
]
"""What is seen of each: the function is named after its point."""
