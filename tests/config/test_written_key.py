"""Keys that are written into files of others."""

from __future__ import annotations

import pytest

from stockman.config.writers.yaml_edit import NotWritable, read_key, set_key

TEXT = """\
# The cluster.
proxmox_endpoint: https://127.0.0.1:8006  # of the first host
proxmox:
    # Where images go.
    image_storage: local
    tls:
        fingerprint: AA
last: 1
"""


def test_a_value_takes_the_place_of_the_one_before() -> None:
    text = set_key(TEXT, "proxmox_endpoint", "https://127.66.0.4:8006")

    assert "proxmox_endpoint: https://127.66.0.4:8006  # of the first host\n" in text
    assert len(text.splitlines()) == len(TEXT.splitlines())


def test_a_missing_key_comes_first_among_its_neighbours() -> None:
    text = set_key(TEXT, "proxmox.tls.ca_file", "ca.pem")

    assert "    tls:\n        ca_file: ca.pem\n        fingerprint: AA\n" in text


def test_missing_parents_come_along() -> None:
    text = set_key(TEXT, "proxmox.access.user", "root@pam")

    assert "proxmox:\n    access:\n      user: root@pam\n    # Where images go.\n" in text


def test_what_has_no_parent_comes_last() -> None:
    text = set_key(TEXT, "talos.factory_url", "http://127.66.0.3:8080")

    assert text == f"{TEXT}\ntalos:\n  factory_url: http://127.66.0.3:8080\n"


def test_a_text_that_looks_like_something_else_is_quoted() -> None:
    assert set_key("a: x\n", "a", "yes") == 'a: "yes"\n'


@pytest.mark.parametrize("text", ["proxmox: {image_storage: local}\n", "proxmox: local\n"])
def test_where_the_place_is_not_obvious_nothing_is_written(text: str) -> None:
    with pytest.raises(NotWritable):
        set_key(text, "proxmox.tls.ca_file", "ca.pem")


def test_what_is_written_is_found() -> None:
    assert read_key(TEXT, "proxmox.tls.fingerprint") == "AA"
    assert read_key(TEXT, "proxmox.tls") is None
    assert read_key(TEXT, "proxmox.tls.ca_file") is None
