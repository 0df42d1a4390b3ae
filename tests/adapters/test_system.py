"""The clock and the dice of the operating system."""

from datetime import UTC

from stockman.adapters.system import SystemClock, SystemEntropy


def test_the_clock_knows_its_time_zone_and_never_runs_backwards() -> None:
    clock = SystemClock()

    first, second = clock.now(), clock.now()

    assert first.tzinfo is UTC
    assert first <= second


def test_the_dice_give_as_many_bytes_as_asked_and_others_each_time() -> None:
    entropy = SystemEntropy()

    assert len(entropy.random_bytes(16)) == 16
    assert entropy.random_bytes(16) != entropy.random_bytes(16)
