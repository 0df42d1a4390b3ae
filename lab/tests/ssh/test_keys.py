"""Keys of the SSH door."""

from __future__ import annotations

import asyncssh
from stockman_lab.core.dice import Dice
from stockman_lab.ssh.keys import authorize, authorized_keys, client_key, host_key

from lab.tests.worlds import NAME, small_world


def test_keys_are_written_as_openssh_does() -> None:
    state = small_world().state.clusters[NAME]

    key = client_key(state, Dice(1).random_bytes)

    read = asyncssh.import_private_key(key.private)
    assert read.export_public_key().decode().split()[:2] == key.public.split()[:2]
    assert key.public.endswith(f" lab@{NAME}")


def test_a_key_is_made_once() -> None:
    state = small_world().state.clusters[NAME]

    first = client_key(state, Dice(1).random_bytes)

    assert client_key(state, Dice(2).random_bytes) == first
    assert authorized_keys(state) == {" ".join(first.public.split()[:2])}


def test_the_key_of_a_host_follows_from_seed_and_address() -> None:
    first, second = (small_world().state.clusters[NAME] for _ in range(2))
    second.hosts["pve1"].name = "other"

    key = host_key(first, first.hosts["pve1"], 1)

    assert host_key(second, second.hosts["pve1"], 1).public.split()[1] == key.public.split()[1]
    assert host_key(first, first.hosts["pve2"], 1).public != key.public
    third = small_world().state.clusters[NAME]
    assert host_key(third, third.hosts["pve1"], 2).public.split()[1] != key.public.split()[1]


def test_others_can_be_let_in() -> None:
    state = small_world().state.clusters[NAME]
    key = client_key(small_world().state.clusters[NAME], Dice(7).random_bytes)
    client_key(state, Dice(1).random_bytes)

    authorize(state, key)
    authorize(state, key)
    state.ssh["authorized_keys"] += "# a remark\n\nssh-rsa AAAA somebody\n"

    texts = authorized_keys(state)
    assert len(texts) == 3
    assert "ssh-rsa AAAA" in texts
