"""Definitions are those that each minor registers itself."""

from __future__ import annotations

import pytest
from stockman_lab.talos.cosi.registry import claimed
from stockman_lab.talos.cosi.tables import (
    DEFINITIONS,
    definitions,
    namespaces,
    rows,
    shape_of,
    words,
)

from lab.tests.talos.cosi.handmade import MINORS

COUNTS = {"1.11": 155, "1.12": 158, "1.13": 165, "1.14": 200}


@pytest.mark.parametrize("minor", MINORS)
def test_a_minor_has_its_own_kinds_and_the_two_that_describe_them(minor: str) -> None:
    assert len(definitions(minor)) == COUNTS[minor] + 2


def test_links_are_found_by_many_names() -> None:
    links = definitions("1.13")["linkstatuses.net.talos.dev"]

    assert links.display == "LinkStatus"
    assert links.aliases == ("link", "links", "linkstatus", "ls")
    assert links.all_aliases[:3] == ("linkstatuses", "linkstatuses.net", "linkstatuses.net.talos")
    assert links.namespace == "network"


def test_old_mounts_have_no_automatic_names() -> None:
    mounts = definitions("1.13")["mountstatuses.runtime.talos.dev"]

    assert mounts.all_aliases == mounts.aliases == ("mounts",)


def test_links_have_an_alias_since_the_second_minor() -> None:
    by_minor = {
        minor: definitions(minor)["linkstatuses.net.talos.dev"].columns[0][0] for minor in MINORS
    }

    assert by_minor == {"1.11": "Type", "1.12": "Alias", "1.13": "Alias", "1.14": "Alias"}


@pytest.mark.parametrize(
    "name", ["kubeletspecs.kubernetes.talos.dev", "apiserverconfigs.kubernetes.talos.dev"]
)
def test_some_kinds_became_sensitive(name: str) -> None:
    sensitive = [minor for minor in MINORS if definitions(minor)[name].is_sensitive]

    assert sensitive == ["1.13", "1.14"]


def test_definitions_define_themselves() -> None:
    own = definitions("1.11")[DEFINITIONS.lower()]

    assert own.aliases == ("api-resources", "resourcedefinition", "rd", "rds")
    assert own.columns == (("Aliases", "{.aliases[:]}"),)


@pytest.mark.parametrize("minor", MINORS)
def test_every_kind_is_in_a_namespace_that_exists(minor: str) -> None:
    assert {definition.namespace for definition in definitions(minor).values()} <= set(
        namespaces(minor)
    )


@pytest.mark.parametrize(
    ("namespace", "since"), [("security", "1.13"), ("storage", "1.14"), ("containers", "1.14")]
)
def test_namespaces_came_later(namespace: str, since: str) -> None:
    assert next(minor for minor in MINORS if namespace in namespaces(minor)) == since


def test_every_claimed_kind_is_defined_in_some_minor() -> None:
    known = {definition.type for minor in MINORS for definition in definitions(minor).values()}

    assert set(claimed()) <= known


@pytest.mark.parametrize("minor", MINORS)
def test_contents_of_claimed_kinds_are_known(minor: str) -> None:
    unknown = [
        name
        for name, kind in claimed().items()
        if kind.written is None
        and name.lower() in definitions(minor)
        and not rows(shape_of(name), minor)
    ]

    assert unknown == []


def test_numbers_of_arguments_moved() -> None:
    numbers = {
        minor: [
            row.number for row in rows("k8s.APIServerConfigSpec", minor) if row.key == "extraArgs"
        ]
        for minor in MINORS
    }

    assert numbers == {"1.11": [7], "1.12": [7], "1.13": [13], "1.14": [13]}


def test_spikes_are_no_part_of_the_time_status() -> None:
    assert [row.key for row in rows("time.StatusSpec", "1.14")] == [
        "synced",
        "epoch",
        "syncDisabled",
    ]


def test_words_have_the_numbers_of_the_wire() -> None:
    assert words("NethelpersOperationalState")["up"] == 6
    assert words("RuntimeMachineStage")["shutting down"] == 6
    assert words("NethelpersLinkFlag")["LOWER_UP"] == 1 << 16
