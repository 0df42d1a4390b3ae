import socket

import pytest
from hypothesis import settings


def test_properties_are_tried_on_the_same_examples_each_time() -> None:
    assert settings().derandomize is True


@pytest.mark.parametrize("address", ["10.0.3.16", "203.0.113.1", "0.0.0.0"])
def test_no_test_can_dial_another_machine(address: str) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as dialler,
        pytest.raises(RuntimeError, match=f"socket.connect to {address}"),
    ):
        dialler.connect((address, 9))


def test_no_test_can_ask_a_name_server() -> None:
    with pytest.raises(RuntimeError, match=r"socket\.getaddrinfo of pve\.example"):
        socket.getaddrinfo("pve.example", 8006)


def test_a_test_can_dial_this_machine() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as dialler,
    ):
        assert dialler.getpeername() == server.getsockname()
