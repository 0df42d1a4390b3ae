"""Moving addresses from one network into another."""

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.config.presets import readdress
from stockman.model.errors import WrongUsage

OLD = IPv4Network("10.0.3.0/24")
LAB = IPv4Network("127.66.0.0/16")


def moved(text: str, new: IPv4Network = LAB, name: str = "cluster.yaml") -> str:
    return readdress({name: text}, OLD, new)[name]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 10.0.3.16", "a: 127.66.0.16"),
        ('a: "10.0.3.16"', 'a: "127.66.0.16"'),
        ("node_cidr: 10.0.3.0/24", "node_cidr: 127.66.0.0/16"),
        ("address: 10.0.3.16/24", "address: 127.66.0.16/16"),
        ("pool: [10.0.3.19]", "pool: [127.66.0.19]"),
        ("pool: [10.0.3.20-10.0.3.29]", "pool: [127.66.0.20-127.66.0.29]"),
        ("pool: [10.0.3.32/28]", "pool: [127.66.0.32/28]"),
        ("host: 10.0.3.4/32", "host: 127.66.0.4/32"),
        ("e: https://10.0.3.4:8006", "e: https://127.66.0.4:8006"),
        ("e: http://10.0.3.4/24", "e: http://127.66.0.4/24"),
        ("connect: {10.0.3.4:8006: 10.0.3.5:8006}", "connect: {127.66.0.4:8006: 127.66.0.5:8006}"),
        ("text: see 10.0.3.4, then 10.0.3.5.", "text: see 127.66.0.4, then 127.66.0.5."),
    ],
)
def test_every_form_of_an_address_moves(before: str, after: str) -> None:
    assert moved(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "dns: 1.1.1.1",
        "pod: 10.244.0.0/16",
        "wider: 10.0.0.0/8",
        "version: 10.0.3",
        "longer: 10.0.3.4.5",
        "name: v10.0.3.4",
        "strange: 10.0.3.400",
        "octal: 10.0.3.016",
        "a: 1 # 10.0.3.16 stays",
        "# 10.0.3.16 stays\na: 1",
        'mac: "bc:24:11:03:00:16"',
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert moved(text) == text


def test_layout_and_comments_stay() -> None:
    text = "# 10.0.3.1\na:   10.0.3.1   # 10.0.3.1\nb:\n- 10.0.3.2\n\n# end"

    assert moved(text) == "# 10.0.3.1\na:   127.66.0.1   # 10.0.3.1\nb:\n- 127.66.0.2\n\n# end"


def test_toml_moves_too() -> None:
    text = '# 10.0.3.1\n[[nodes]]\naddress = "10.0.3.1" # 10.0.3.1\n'

    assert moved(text, name="cluster.toml") == text.replace('"10.0.3.1"', '"127.66.0.1"')


def test_what_an_alias_repeats_moves_once() -> None:
    assert moved("a: &x 10.0.3.1\nb: *x") == "a: &x 127.66.0.1\nb: *x"


def test_a_smaller_network_does_where_the_addresses_fit() -> None:
    assert moved("a: 10.0.3.30", IPv4Network("127.66.0.32/27")) == "a: 127.66.0.62"


@pytest.mark.parametrize(
    ("text", "network", "needed"),
    [
        ("a: 10.0.3.31", "127.66.0.0/27", "/26"),
        ("a: 10.0.3.32", "127.66.0.0/27", "/26"),
        ("a: 10.0.3.254", "127.66.0.0/25", "/24"),
        ("a: 10.0.3.16/28", "127.66.0.0/28", "/27"),
        ("a: 10.0.3.1", "127.66.0.0/32", "/30"),
    ],
)
def test_a_network_that_is_too_small_says_how_large_it_has_to_be(
    text: str, network: str, needed: str
) -> None:
    with pytest.raises(WrongUsage) as refused:
        moved(text, IPv4Network(network))

    assert refused.value.problem.code == "network.too-small"
    assert f"{needed} or larger" in refused.value.problem.fix


@given(
    st.sets(st.integers(1, 254), min_size=1),
    st.integers(1, 24),
    st.integers(0, 2**32 - 1),
)
def test_addresses_stay_apart_and_inside(hosts: set[int], length: int, base: int) -> None:
    network = IPv4Network((base, length), strict=False)
    text = "\n".join(f"- 10.0.3.{host}" for host in sorted(hosts))

    addresses = moved(f"a:\n{text}", network).splitlines()[1:]

    assert [str(network[host]) for host in sorted(hosts)] == [address[2:] for address in addresses]


def test_there_and_back_again_is_the_same_text() -> None:
    text = "cidr: 10.0.3.0/24\nnodes: [10.0.3.16, 10.0.3.17]  # 10.0.3.99\n"

    back = readdress({"nodes.yaml": moved(text, name="nodes.yaml")}, LAB, OLD)

    assert back == {"nodes.yaml": text}
