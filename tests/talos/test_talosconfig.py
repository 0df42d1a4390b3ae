"""talosconfig: written, read, merged."""

from dataclasses import replace

import pytest

from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.certificates import ClientIssuer
from stockman.talos.credentials.roles import TalosRole
from stockman.talos.credentials.talosconfig import (
    BasicAuth,
    RenamedContext,
    Talosconfig,
    TalosContext,
    client_context,
    merge_talosconfigs,
    read_talosconfig,
    talosconfig_text,
    with_context,
)
from tests.talos.made import NOW, bundle, dice

A, B, C = (TalosContext(endpoints=(f"127.0.0.{number}",)) for number in (1, 2, 3))


def read(text: str) -> tuple[Talosconfig | None, list[str]]:
    problems = Problems()
    talosconfig = read_talosconfig("talosconfig", Secret(text), problems)
    return talosconfig, [problem.code for problem in problems]


def test_what_is_written_is_read_again() -> None:
    issuer = ClientIssuer(bundle=bundle(), talos=Version(1, 12), now=NOW, random_bytes=dice())
    client = issuer.talos_client([TalosRole.ADMIN])
    context = client_context(bundle().certs.os.crt, client, endpoints=["127.0.0.1"], nodes=["n"])
    omni = TalosContext(
        basic=BasicAuth(username="u", password=Secret("p")),
        identity="me@example.org",
        cluster="c",
        proxy_url="http://127.0.0.1:1",
    )
    config = Talosconfig(context="meadow", contexts={"meadow": context, "omni": omni})

    assert read(talosconfig_text(config).reveal()) == (config, [])


def test_the_text_is_that_of_talosctl() -> None:
    config = Talosconfig(context="b", contexts={"b": replace(B, nodes=("m",)), "a": TalosContext()})

    assert talosconfig_text(config).reveal() == (
        "context: b\n"
        "contexts:\n"
        "    a:\n"
        "        endpoints: []\n"
        "    b:\n"
        "        endpoints:\n"
        "            - 127.0.0.2\n"
        "        nodes:\n"
        "            - m\n"
    )
    assert talosconfig_text(Talosconfig()).reveal() == 'context: ""\ncontexts: {}\n'


def test_a_merge_renames_what_is_taken_and_takes_over_the_context_in_use() -> None:
    ours = Talosconfig(context="a", contexts={"a": A, "a-1": B})
    theirs = Talosconfig(context="a", contexts={"a": C, "c": C})

    both, renames = merge_talosconfigs(ours, theirs)

    assert both == Talosconfig(context="a-2", contexts={"a": A, "a-1": B, "a-2": C, "c": C})
    assert renames == (RenamedContext("a", "a-2"),)


def test_a_merge_with_nothing_in_use_keeps_ours() -> None:
    both, renames = merge_talosconfigs(
        Talosconfig(context="a", contexts={"a": A}), Talosconfig(contexts={"b": B})
    )

    assert (both.context, list(both.contexts), renames) == ("a", ["a", "b"], ())


def test_a_context_made_anew_replaces_the_one_of_its_name() -> None:
    config = Talosconfig(context="b", contexts={"a": A, "b": B})

    assert with_context(config, "a", C) == Talosconfig(context="b", contexts={"a": C, "b": B})
    assert with_context(Talosconfig(), "a", A) == Talosconfig(context="a", contexts={"a": A})


def test_the_old_spelling_of_an_endpoint_is_understood() -> None:
    talosconfig, _ = read("contexts: {a: {endpoints: [127.0.0.1], target: 127.0.0.2}}")

    assert talosconfig is not None
    assert talosconfig.contexts["a"].endpoints == ("127.0.0.1", "127.0.0.2")


@pytest.mark.parametrize("text", ["", "context: ''\ncontexts: {}\n", "contexts:\n"])
def test_an_empty_file_has_no_contexts(text: str) -> None:
    assert read(text) == (Talosconfig(), [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("contexts: [a]", "talosconfig.unreadable"),
        ("contexts: {a: }", "talosconfig.unreadable"),
        ("contexts: {a: {endpoints: x}}", "talosconfig.unreadable"),
        ("contexts: {a: {crt: '%'}}", "talosconfig.unreadable"),
        ("contexts: {a: ", "yaml.syntax"),
    ],
)
def test_what_cannot_be_used_is_named(text: str, code: str) -> None:
    assert read(text) == (None, [code])


def test_keys_and_passwords_are_not_printed() -> None:
    context = TalosContext(
        key=Secret("a key"), basic=BasicAuth(username="u", password=Secret("p1"))
    )

    assert "a key" not in repr(context)
    assert "p1" not in repr(context)
