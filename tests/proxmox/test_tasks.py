"""How often one looks at a task."""

from __future__ import annotations

import pytest

from stockman.proxmox.tasks import Patience


@pytest.mark.parametrize(("ran", "wait"), [(0.0, 0.08), (1.0, 0.08), (10.0, 0.4), (60.0, 1.0)])
def test_the_longer_a_task_runs_the_less_often_it_is_looked_at(ran: float, wait: float) -> None:
    assert Patience().wait(ran) == pytest.approx(wait)


def test_a_task_of_ten_seconds_is_looked_at_about_sixty_times() -> None:
    patience, ran, looks = Patience(), 0.0, 0

    while ran < 10.0:
        ran += patience.wait(ran)
        looks += 1

    assert looks < 70
