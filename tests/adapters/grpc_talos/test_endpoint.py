"""Addresses of machines, in all forms that talosconfigs have."""

import pytest

from stockman.adapters.talos.endpoint import TalosEndpoints
from stockman.model.errors import Refused
from stockman.ports.environment import ServerAddress


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("10.42.0.11", "10.42.0.11", 50000),
        ("10.42.0.11:50443", "10.42.0.11", 50443),
        ("cp-1.home.arpa", "cp-1.home.arpa", 50000),
        ("fd66::11", "fd66::11", 50000),
        ("[fd66::11]:50443", "fd66::11", 50443),
        ("https://cp-1.home.arpa", "cp-1.home.arpa", 443),
    ],
)
def test_an_address_is_dialled_and_expected(text: str, host: str, port: int) -> None:
    assert TalosEndpoints(hosts=()).server(text) == ServerAddress(host=host, port=port, name=host)


def test_a_map_leads_elsewhere_and_the_name_stays() -> None:
    known = TalosEndpoints(hosts=(), connect={"10.42.0.11:50000": "127.0.0.1:6000"})

    assert known.server("10.42.0.11") == ServerAddress(
        host="127.0.0.1", port=6000, name="10.42.0.11"
    )


@pytest.mark.parametrize(
    "text", ["", "http://10.42.0.11", "10.42.0.11:port", "user@10.42.0.11", "10.42.0.11/api", "[::"]
)
def test_other_texts_are_no_addresses(text: str) -> None:
    with pytest.raises(Refused) as caught:
        TalosEndpoints(hosts=()).server(text)

    assert caught.value.problem.code == "talos.address"
