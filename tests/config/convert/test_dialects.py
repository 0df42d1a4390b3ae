"""From one dialect to the other: what is carried, how it is spelled, what is listed."""

from __future__ import annotations

import tomllib

import pytest
import yaml

from stockman.config.convert.dialects import classic_to_toml, toml_to_classic
from stockman.config.convert.output import ConversionResult
from stockman.config.load import load
from stockman.config.presets import PRESETS, render_preset

ENCRYPTED = "ENC[AES256_GCM,data:abcd,iv:ef,tag:gh,type:str]"
CANARY = "canary-71f0"


def to_toml(cluster: str = "", nodes: str = "nodes: []\n") -> ConversionResult:
    return classic_to_toml({"cluster.yaml": cluster.encode(), "nodes.yaml": nodes.encode()})


def to_classic(text: str) -> ConversionResult:
    return toml_to_classic({"cluster.toml": text.encode()})


def toml(converted: ConversionResult) -> dict[str, object]:
    assert list(converted.files) == ["cluster.toml"]
    return tomllib.loads(converted.files["cluster.toml"])


def classic(converted: ConversionResult) -> dict[str, object]:
    assert list(converted.files) == ["cluster.yaml", "nodes.yaml"]
    result = yaml.safe_load(converted.files["cluster.yaml"])
    assert isinstance(result, dict)
    return result


def lost(converted: ConversionResult) -> list[tuple[str, str]]:
    return [(item.key, str(item.at)) for item in converted.lost]


def test_flat_keys_go_to_their_sections() -> None:
    result = toml(to_toml("node_cidr: 127.66.0.0/24\ncluster_api_addr: 127.66.0.10\n"))

    assert result == {
        "network": {"node_cidr": "127.66.0.0/24"},
        "kubernetes": {"api": {"addr": "127.66.0.10"}},
        "nodes": [],
    }


def test_texts_stay_as_they_are_spelled() -> None:
    result = toml(
        to_toml(
            "talos_version: v1.12.0\ntalos_contract: 1.10\ncluster_name: 0123\n",
            "hosts:\n  pve: {pools: [{name: tank, disks: [sda], compression: on}]}\n",
        )
    )

    assert result["talos"] == {"version": "v1.12.0", "contract": "1.10"}
    assert result["cluster"] == {"name": "0123"}
    assert result["hosts"] == {
        "pve": {"pools": [{"name": "tank", "disks": ["sda"], "compression": "on"}]}
    }


def test_an_unquoted_mac_address_is_quoted_in_both_dialects() -> None:
    node = "{name: a, address: 127.66.0.21, controller: true, mac_addr: 52:54:00:12:34:56}"

    conversion_result = to_toml(nodes=f"nodes:\n  - {node}\n")
    back = to_classic(conversion_result.files["cluster.toml"])

    assert 'mac_addr = "52:54:00:12:34:56"' in conversion_result.files["cluster.toml"]
    assert 'mac_addr: "52:54:00:12:34:56"' in back.files["nodes.yaml"]


def test_numbers_are_numbers_but_where_other_readers_want_text() -> None:
    cluster = (
        "node_vlan_tag: 3\ncilium_bgp_router_addr: 127.66.0.1\n"
        "cilium_bgp_router_asn: 64512\ncilium_bgp_node_asn: '64513'\n"
        "upgrade: {width: '2'}\n"
    )

    conversion_result = to_toml(cluster)
    back = classic(to_classic(conversion_result.files["cluster.toml"]))

    assert toml(conversion_result)["network"] == {"vlan_tag": "3"}
    assert toml(conversion_result)["upgrade"] == {"width": 2}
    assert (back["node_vlan_tag"], back["cilium_bgp_node_asn"]) == ("3", "64513")
    assert back["upgrade"] == {"width": 2}


@pytest.mark.parametrize(
    ("classic_keys", "url"),
    [
        ("repository_name: owner/repo\n", "https://github.com/owner/repo.git"),
        (
            "repository_name: owner/repo\nrepository_visibility: private\n",
            "ssh://git@github.com/owner/repo.git",
        ),
        ("repository_name: https://git.example.com/a/b\n", "https://git.example.com/a/b"),
        ("repository_name: https://github.com/a/b\n", "https://github.com/a/b"),
    ],
)
def test_the_repository_has_its_address_in_one_key_or_two(classic_keys: str, url: str) -> None:
    conversion_result = to_toml(classic_keys)
    back = to_classic(conversion_result.files["cluster.toml"])

    assert toml(conversion_result)["repository"] == {"url": url}
    assert back.files["cluster.yaml"] == f"---\n{classic_keys}"


@pytest.mark.parametrize(("flag", "provider"), [("true", "cloudflare"), ("false", "none")])
def test_cloudflare_is_a_flag_or_a_provider(flag: str, provider: str) -> None:
    conversion_result = to_toml(f"cloudflare_enabled: {flag}\n")
    back = to_classic(conversion_result.files["cluster.toml"])

    assert toml(conversion_result)["dns"] == {"provider": provider}
    assert back.files["cluster.yaml"] == f"---\ncloudflare_enabled: {flag}\n"


def test_keys_without_a_flat_name_stay_in_their_sections() -> None:
    result = classic(to_classic('[network]\naddressing = "dhcp"\nnode_cidr = "127.66.0.0/24"\n'))

    assert result == {"node_cidr": "127.66.0.0/24", "network": {"addressing": "dhcp"}}


def test_one_simple_backup_target_is_flat_and_others_are_not() -> None:
    item = '[[backup.targets]]\nbucket = "a"\n[backup]\nrecipients = ["age1qq"]\n'
    named = '[[backup.targets]]\nbucket = "a"\nname = "minio"\n'
    two = '[backup]\ntargets = [{bucket = "a"}, {bucket = "b"}]\nrecipients = ["age1q", "age1w"]\n'

    assert classic(to_classic(item)) == {"backup_s3_bucket": "a", "backup_age_public_key": "age1qq"}
    assert classic(to_classic(named)) == {"backup": {"targets": [{"bucket": "a", "name": "minio"}]}}
    assert classic(to_classic(two)) == {
        "backup": {
            "targets": [{"bucket": "a"}, {"bucket": "b"}],
            "recipients": ["age1q", "age1w"],
        }
    }


def test_an_empty_section_stays() -> None:
    conversion_result = to_toml("proxmox: {}\n")

    assert toml(conversion_result)["proxmox"] == {}
    assert classic(to_classic(conversion_result.files["cluster.toml"])) == {"proxmox": {}}


def test_only_written_keys_are_carried_and_classes_stay_classes() -> None:
    nodes = (
        "classes:\n  worker: {mtu: 9000}\n"
        "nodes:\n  - {name: a, address: 127.66.0.21, controller: false, mac_addr: bc:24:11:0:0:1}\n"
    ).replace("bc:24:11:0:0:1", "bc:24:11:00:00:01")

    assert toml(to_toml(nodes=nodes)) == {
        "classes": {"worker": {"mtu": 9000}},
        "nodes": [
            {
                "name": "a",
                "address": "127.66.0.21",
                "controller": False,
                "mac_addr": "bc:24:11:00:00:01",
            }
        ],
    }


def test_either_file_may_be_missing() -> None:
    assert toml(classic_to_toml({"cluster.yaml": b"cluster_name: a\n"})) == {
        "cluster": {"name": "a"}
    }
    assert toml(classic_to_toml({"nodes.yaml": b"hosts: {pve: {}}\n"})) == {"hosts": {"pve": {}}}


def test_a_file_without_machines_still_makes_two_files() -> None:
    assert to_classic('[cluster]\nname = "a"\n').files == {
        "cluster.yaml": "---\ncluster_name: a\n",
        "nodes.yaml": "---\nnodes: []\n",
    }
    assert to_classic("").files["cluster.yaml"] == "---\n{}\n"


def test_keys_that_are_missing_do_not_stand_in_the_way() -> None:
    assert toml(to_toml(nodes="nodes: [{name: a}]\n")) == {"nodes": [{"name": "a"}]}


def test_encrypted_values_are_listed_and_left_out() -> None:
    converted = to_toml(
        f"cluster_name: a\ncloudflare_token: {ENCRYPTED}\n"
        f"node_dns_servers: ['{ENCRYPTED}', 1.1.1.1]\n"
        "talos: {patches: {all: [{secret: '" + ENCRYPTED + "'}]}}\n"
        "sops: {mac: x, version: '3'}\n"
    )

    assert toml(converted) == {
        "cluster": {"name": "a"},
        "network": {"dns_servers": ["1.1.1.1"]},
        "talos": {"patches": {"all": [{}]}},
        "nodes": [],
    }
    assert lost(converted) == [
        ("cloudflare_token", "cluster.yaml:2:19"),
        ("node_dns_servers[0]", "cluster.yaml:3:20"),
        ("talos.patches.all[0].secret", "cluster.yaml:4:34"),
        ("sops", "cluster.yaml:5:1"),
    ]


def test_an_encrypted_toml_file_loses_its_encrypted_values_too() -> None:
    converted = to_classic(f'[dns]\ntoken = "{ENCRYPTED}"\n[sops]\nmac = "x"\n')

    assert lost(converted) == [("dns.token", "cluster.toml:2:9"), ("sops", "cluster.toml:3:2")]


def test_values_that_toml_cannot_have_are_listed() -> None:
    converted = to_toml("node_vlan_tag:\nspegel: {enabled: }\ncomponents: {a: {values: {b: ~}}}\n")

    assert lost(converted) == [
        ("node_vlan_tag", "cluster.yaml:1:1"),
        ("spegel.enabled", "cluster.yaml:2:10"),
        ("components.a.values.b", "cluster.yaml:3:30"),
    ]
    assert load({"cluster.toml": converted.files["cluster.toml"].encode()}).problems.errors == ()


def test_a_visibility_without_meaning_is_listed() -> None:
    assert lost(to_toml("repository_visibility: public\n")) == [
        ("repository_visibility", "cluster.yaml:1:1")
    ]


def test_anchors_aliases_and_merges_are_written_out_and_noted() -> None:
    nodes = (
        "classes:\n  a: &base\n    # the same for all\n    mtu: 9000\n"
        "  b:\n    <<: *base\n    secureboot: true\n  c: *base\n"
    )

    converted = to_toml(nodes=nodes)

    assert toml(converted)["classes"] == {
        "a": {"mtu": 9000},
        "b": {"mtu": 9000, "secureboot": True},
        "c": {"mtu": 9000},
    }
    assert converted.notes == ("anchors, aliases and merges are written out",)
    assert converted.files["cluster.toml"].count("the same for all") == 1
    assert to_toml("cluster_name: a\n").notes == ()


def test_comments_follow_their_keys() -> None:
    converted = to_toml(
        "# The file.\n\n# The network.\nnode_cidr: 127.66.0.0/24  # all nodes\n"
        "# repository\nrepository_name: a/b # on GitHub\n# nobody else\n"
        "repository_visibility: private # hidden\nbackup_age_public_key: age1qq # mine\n# end\n",
        "# The machines.\n\nhosts:\n  # the only one\n  pve: {}\n\n# No more.\n",
    )

    assert converted.lost == ()
    assert converted.files["cluster.toml"] == (
        "# The file.\n\n[network]\n# The network.\n"
        'node_cidr = "127.66.0.0/24"  # all nodes\n\n'
        "[repository]\n# repository\n# nobody else\n"
        'url = "ssh://git@github.com/a/b.git"  # on GitHub hidden\n\n'
        '[backup]\nrecipients = ["age1qq"]  # mine\n\n'
        "# end\n\n# The machines.\n\n[hosts]\n\n# the only one\n[hosts.pve]\n\n# No more.\n"
    )


def test_comments_of_a_section_that_vanishes_go_to_its_first_key() -> None:
    converted = to_classic(
        "# Where nodes are.\n[network]  # local\n# the whole of it\n"
        'node_cidr = "127.66.0.0/24"\n\n# Who is called.\n[[backup.targets]]\nbucket = "a"\n'
    )

    assert converted.files["cluster.yaml"] == (
        "---\n# Where nodes are.\n# local\n# the whole of it\nnode_cidr: 127.66.0.0/24\n\n"
        "# Who is called.\nbackup_s3_bucket: a\n"
    )


def test_the_line_for_editors_is_listed_and_left_out() -> None:
    conversion_result = to_toml(
        "# yaml-language-server: $schema=./a.json\n# The file.\n\ncluster_name: a\n"
    )
    back = to_classic('#:schema ./b.json\n[cluster]\nname = "a"\n')

    assert conversion_result.files["cluster.toml"].startswith("# The file.\n")
    assert back.files["cluster.yaml"] == "---\ncluster_name: a\n"
    assert lost(conversion_result) == [("a comment", "cluster.yaml:1:1")]
    assert lost(back) == [("a comment", "cluster.toml:1:1")]


def test_comments_of_what_is_lost_are_listed() -> None:
    converted = to_toml(f"# why\ncloudflare_token: {ENCRYPTED}\n")

    assert lost(converted) == [
        ("a comment", "cluster.yaml:2:1"),
        ("cloudflare_token", "cluster.yaml:2:19"),
    ]


@pytest.mark.parametrize(
    ("cluster", "code"),
    [
        ("a: [", "yaml.syntax"),
        ("node_cdir: 127.66.0.0/24\n", "config.unknown-key"),
        ("node_cidr: here\n", "config.value"),
        ("nodes: []\n", "config.wrong-file"),
    ],
)
def test_mistakes_of_form_come_first_and_nothing_is_converted(cluster: str, code: str) -> None:
    converted = to_toml(cluster)

    assert [problem.code for problem in converted.problems] == [code]
    assert converted.files == {}


def test_a_secret_in_the_clear_is_carried_and_never_shown() -> None:
    conversion_result = to_toml(f"cloudflare_token: {CANARY}\nrepository_visibility: public\n")
    back = to_classic(conversion_result.files["cluster.toml"])

    assert CANARY in conversion_result.files["cluster.toml"]
    assert CANARY in back.files["cluster.yaml"]
    assert CANARY not in repr(conversion_result) + repr(back)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_lose_nothing_but_the_line_for_editors(preset: str) -> None:
    texts = render_preset(preset)

    conversion_result = classic_to_toml({name: text.encode() for name, text in texts.items()})
    back = to_classic(conversion_result.files["cluster.toml"])

    assert lost(conversion_result) == [
        ("a comment", "cluster.yaml:1:1"),
        ("a comment", "nodes.yaml:1:1"),
    ]
    assert back.lost == ()
    for line in (line for text in texts.values() for line in text.splitlines()[1:]):
        comment = line.strip()
        if comment.startswith("#"):
            assert comment in conversion_result.files["cluster.toml"]
            assert comment in "".join(back.files.values())
