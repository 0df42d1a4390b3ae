"""Addresses of machines are somewhere on this machine, and stay there."""

from __future__ import annotations

import errno
import socket

import pytest
from stockman_lab.servers.talos_servers import TalosPlaces

from lab.tests.talos.api.pretended import PretendedMachine


def machine() -> PretendedMachine:
    return PretendedMachine("talos-1", ["127.66.0.11"])


def test_an_address_of_this_machine_is_what_it_is() -> None:
    talos_places = TalosPlaces()
    assert talos_places.of(machine(), "127.66.0.11", 50000) == ("127.66.0.11", 50000)
    assert talos_places.of(machine(), "127.66.0.11", 50001) == ("127.66.0.11", 50001)


def test_others_are_not_reached() -> None:
    assert TalosPlaces().of(machine(), "10.42.0.11", 50000) is None
    assert TalosPlaces(0).of(machine(), "fd66::11", 50000) is None


def test_a_free_port_stays_the_same_and_is_nobody_elses() -> None:
    talos_places = TalosPlaces(0)
    first = talos_places.of(machine(), "127.66.0.11", 50000)
    assert first is not None
    assert first == talos_places.of(machine(), "127.66.0.11", 50000)
    assert first[0] == "127.66.0.11"
    assert first[1] not in (0, 50000)


def test_an_address_that_is_missing_here_becomes_a_port_that_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OneAddress(socket.socket):
        def bind(self, address: object, /) -> None:
            if isinstance(address, tuple) and address[0] != "127.0.0.1":
                raise OSError(errno.EADDRNOTAVAIL, "Can't assign requested address")
            super().bind(address)  # type: ignore[arg-type]

    monkeypatch.setattr("stockman_lab.servers.talos_servers.socket.socket", OneAddress)
    talos_places = TalosPlaces()
    first = talos_places.of(machine(), "127.66.0.11", 50000)
    assert first is not None
    assert first[0] == "127.0.0.1"
    assert talos_places.of(machine(), "127.66.0.11", 50000) == first
    assert talos_places.of(machine(), "127.66.0.12", 50000) != first
