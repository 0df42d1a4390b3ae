"""The table of controllers."""

from __future__ import annotations

from stockman_lab.talos.figures.controllers import edges_of


def test_what_came_later_is_not_known_earlier() -> None:
    oldest, newest = edges_of("1.11"), edges_of("1.14")
    assert {one.kind for one in newest} <= {0, 1, 2, 3, 4}
    gone = {one.controller for one in oldest} - {one.controller for one in newest}
    come = {one.controller for one in newest} - {one.controller for one in oldest}
    assert len(come) > len(gone)
    assert all(one.type.endswith((".talos.dev", ".cosi.dev")) for one in newest)
