"""Functions and filters of the contract."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.model.secret import Secret
from stockman.rendering.templates.contract import CLASSIC, TOML, TemplateStopped
from stockman.rendering.templates.functions import Functions, basename, nthhost
from tests.rendering.templates.judge import nthhost as judged_nthhost
from tests.rendering.templates.trees import KEYS, tree_of

POST_QUANTUM = "# public key: age1pq1meadow\nAGE-SECRET-KEY-PQ-1MEADOW\n"
TUNNEL = "cloudflare-tunnel.json"


def functions(*, files: dict[str, str] | None = None, toml: bool = False) -> Functions:
    contract = TOML if toml else CLASSIC
    key_files = {name: Secret(text) for name, text in (KEYS | (files or {})).items()}
    return Functions(contract, tree_of({}, contract), key_files)


def call(name: str, *given: str, files: dict[str, str] | None = None, toml: bool = False) -> object:
    return functions(files=files, toml=toml).by_name()[name](*given)


def test_post_quantum_keys_are_read_whole() -> None:
    files = {"age.key": POST_QUANTUM}

    assert call("age_key", "public", files=files) == "age1pq1meadow"
    assert call("age_key", "private", files=files) == "AGE-SECRET-KEY-PQ-1MEADOW"


def test_the_secret_of_a_tunnel_is_what_cloudflared_takes() -> None:
    token = base64.b64decode(str(call("cloudflare_tunnel_secret")))

    assert token == b'{"a":"account","t":"tunnel-66","s":"the-tunnel-secret"}'


def test_the_secret_inside_of_the_tunnel_is_known_as_well() -> None:
    made = functions()
    made.by_name()["cloudflare_tunnel_secret"]()

    assert made.given["TunnelSecret"] == Secret("the-tunnel-secret")


@pytest.mark.parametrize(
    ("name", "given", "files"),
    [
        ("age_key", ("public",), {"age.key": "AGE-SECRET-KEY-1MEADOW"}),
        ("age_key", ("private",), {"age.key": "# public key: age1meadow"}),
        ("age_key", ("private",), {"age.key": " \n"}),
        ("cloudflare_tunnel_id", (), {TUNNEL: "not json"}),
        ("cloudflare_tunnel_id", (), {TUNNEL: "[]"}),
        ("cloudflare_tunnel_id", (), {TUNNEL: "{}"}),
        ("cloudflare_tunnel_id", (), {TUNNEL: '{"TunnelID": ""}'}),
        ("cloudflare_tunnel_secret", (), {TUNNEL: json.dumps({"TunnelID": "x"})}),
        ("github_push_token", (), {"github-push-token.txt": ""}),
        ("github_deploy_key", ("../.ssh/id_ed25519",), {}),
    ],
)
def test_files_that_are_not_as_they_should_be_are_told(
    name: str, given: tuple[str, ...], files: dict[str, str]
) -> None:
    with pytest.raises(TemplateStopped) as caught:
        call(name, *given, files=files)

    assert caught.value.code == "template.key-file"


def test_every_dialect_has_its_functions() -> None:
    assert set(functions().by_name()) == set(CLASSIC.functions)
    assert set(functions(toml=True).by_name()) == set(TOML.functions)


@pytest.mark.parametrize("name", ["../../..", "", "global/..", "/etc"])
def test_patches_are_only_those_of_the_tree(name: str) -> None:
    assert call("talos_patches", name) == []


@given(st.ip_addresses(v=4), st.integers(0, 32), st.integers(-2, 2**33))
def test_an_address_of_a_network_is_that_of_the_plugin(
    address: object, prefix: int, number: int
) -> None:
    network = f"{address}/{prefix}"

    assert nthhost(network, number) == judged_nthhost(network, number)


@pytest.mark.parametrize(("path", "name"), [("a/b.yaml.j2", "b.yaml"), ("b", "b"), (".b", ".b")])
def test_basename_drops_the_last_suffix(path: str, name: str) -> None:
    assert basename(path) == name
