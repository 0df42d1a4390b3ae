"""What cloud-init is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.checks import url_encoded
from stockman_lab.pve.formats.cloud_init import (
    IpConfig,
    decode_keys,
    encode_keys,
    parse_custom,
    parse_ip_config,
)
from stockman_lab.pve.formats.format_error import FormatError

KEY = "ssh-ed25519 AAAAC3Nz+x/y= me@example"


def test_an_address_comes_with_its_prefix_and_may_have_a_gateway() -> None:
    assert parse_ip_config("gw=10.0.0.1,ip=10.0.0.5/24") == IpConfig(
        "10.0.0.5/24", "10.0.0.1", "", ""
    )
    assert parse_ip_config("ip=dhcp,ip6=auto") == IpConfig("dhcp", "", "auto", "")
    assert parse_ip_config("ip6=fd00::5/64,gw6=fd00::1") == IpConfig(
        "", "", "fd00::5/64", "fd00::1"
    )


def test_nothing_means_dhcp() -> None:
    assert parse_ip_config("") == IpConfig("dhcp", "", "dhcp", "")


def test_a_gateway_needs_an_address() -> None:
    with pytest.raises(FormatError) as refused:
        parse_ip_config("gw=10.0.0.1")

    assert refused.value.errors == {"ip": "missing property required by 'gw'"}


@pytest.mark.parametrize("text", ["ip=dhcp,gw=10.0.0.1", "ip6=auto,gw6=fd00::1"])
def test_a_gateway_makes_no_sense_without_a_fixed_address(text: str) -> None:
    assert parse_ip_config(text) is None


@pytest.mark.parametrize("text", ["ip=10.0.0.5", "ip=10.0.0.5/33", "ip=10.0.0.5/7", "ip6=fd00::5"])
def test_an_address_without_a_usual_prefix_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        parse_ip_config(text)


def test_files_of_the_user_replace_generated_ones() -> None:
    text = "user=local:snippets/a.yaml,network=local:snippets/b.yaml"

    assert parse_custom(text) == {
        "user": "local:snippets/a.yaml",
        "network": "local:snippets/b.yaml",
    }
    with pytest.raises(FormatError):
        parse_custom("user=a.yaml")


def test_keys_are_encoded_as_in_a_url_with_blanks_and_line_feeds() -> None:
    encoded = encode_keys(f"{KEY}\n{KEY}")

    assert encoded.startswith("ssh-ed25519%20AAAAC3Nz%2Bx%2Fy%3D%20me%40example%0Assh-")
    assert decode_keys(encoded) == [KEY, KEY]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1))
def test_any_encoded_key_passes_the_check_and_can_be_read_back(key: str) -> None:
    encoded = encode_keys(key)

    url_encoded(encoded)
    assert decode_keys(encoded) == ([key] if key.strip() else [])
