"""Which servers the configuration names."""

from stockman.assessment.doctor.servers import name_servers, servers, time_servers
from stockman.ports.environment import Remote, ServerAddress
from tests.app.doctor.fakes import CLUSTER, NODES, PLANTED, scene

MORE = """\
proxmox:
  clusters:
    - region: east
      endpoint: https://pve-a.test:8006
      endpoints: [https://pve-b.test:8006]
      tls: {ca_file: pve-root-ca.pem}
    - region: west
      endpoint: https://127.66.9.4
      tls: {fingerprint: "FINGERPRINT"}
  connect:
    pve-b.test:8006: 127.66.0.5:18006
backup:
  targets:
    - {name: near, bucket: etcd, endpoint: "http://s3.test:9000"}
    - {name: far, bucket: etcd, region: eu-central-1}
    - {name: disk, directory: /backups}
lock:
  home: s3://locks/meadow
""".replace("FINGERPRINT", ":".join(["ab"] * 32))


def test_a_plain_cluster_has_api_factory_and_git() -> None:
    seen = servers(scene().estate)

    assert [(one.kind, one.address, one.required) for one in seen] == [
        ("kubernetes", "127.66.0.10:6443", False),
        ("factory", "https://factory.test:443", True),
        ("git", "git.test:443", True),
    ]


def test_the_place_where_a_server_is_written_is_told() -> None:
    factory = next(server for server in servers(scene().estate) if server.kind == "factory")

    assert factory.written == "talos.factory_url (cluster.yaml:13:16)"


def test_a_server_that_is_a_default_is_told_as_one() -> None:
    seen = servers(scene(CLUSTER.partition("talos:")[0]).estate)

    assert [one.written for one in seen if one.kind == "factory"] == [
        "talos.factory_url (its default)"
    ]


def test_each_region_of_proxmox_has_its_own_trust() -> None:
    seen = [server for server in servers(scene(CLUSTER + MORE).estate) if server.kind == "proxmox"]

    assert [(one.purpose, one.address) for one in seen] == [
        ("the Proxmox API, region east", "https://pve-a.test:8006"),
        (
            "the Proxmox API, region east",
            "https://pve-b.test:8006 (dialled at 127.66.0.5:18006)",
        ),
        ("the Proxmox API, region west", "https://127.66.9.4:443"),
    ]
    assert [one.ca_file for one in seen] == ["pve-root-ca.pem", "pve-root-ca.pem", None]
    assert seen[2].fingerprint == ":".join(["ab"] * 32)


def test_the_connect_map_changes_where_is_dialled_and_not_the_name() -> None:
    seen = [server for server in servers(scene(CLUSTER + MORE).estate) if server.kind == "proxmox"]

    assert seen[1].server == ServerAddress(host="127.66.0.5", port=18006, name="pve-b.test")


def test_buckets_are_asked_where_they_are() -> None:
    seen = [server for server in servers(scene(CLUSTER + MORE).estate) if server.kind == "s3"]

    assert [(one.purpose, one.address, one.tls) for one in seen] == [
        ("backups, near", "http://s3.test:9000", False),
        ("backups, far", "https://s3.eu-central-1.amazonaws.com:443", True),
        ("the lock", "https://s3.amazonaws.com:443", True),
    ]


def test_mirrors_and_identity_provider_are_for_the_nodes() -> None:
    talos = (
        CLUSTER
        + """\
  registries:
    docker.io:
      endpoints: [https://mirror.test:5000/v2, http://LOGIN@mirror.test]
      ca_file: mirror.pem
"""
    )
    oidc = talos.replace(
        "kubernetes:\n",
        """\
kubernetes:
  oidc: {issuer_url: "https://login.test/realm", client_id: x}
""",
    )

    seen = servers(scene(oidc.replace("LOGIN", f"me:{PLANTED}")).estate)

    assert [(one.kind, one.address, one.required) for one in seen[3:]] == [
        ("mirror", "https://mirror.test:5000", False),
        ("mirror", "http://mirror.test:80", False),
        ("identity", "https://login.test:443", False),
    ]
    assert seen[3].ca_file == "mirror.pem"
    assert PLANTED not in repr(seen)


def test_the_shell_of_a_host_is_under_its_address_or_name() -> None:
    hosts = (
        NODES
        + """\
hosts:
  pve-a: {ssh: {port: 2222}}
  pve-b: {address: 127.66.0.6, ssh: {user: root}}
  pve-c: {}
"""
    )

    seen = [
        server.address for server in servers(scene(nodes=hosts).estate) if server.kind == "host"
    ]

    assert seen == ["pve-a:2222", "127.66.0.6:22"]


def test_remotes_count_where_no_repository_is_written() -> None:
    estate = scene("cluster: {name: meadow}\n", "nodes: []\n").estate
    remotes = (
        Remote(name="origin", url="git@git.test:o/r.git"),
        Remote(name="disk", url="/srv/git/r.git"),
    )

    assert [(server.address, server.written) for server in servers(estate, remotes)] == [
        ("git.test:22", "git remote origin")
    ]


def test_without_nodes_nothing_of_the_cluster_is_asked() -> None:
    estate = scene(nodes="nodes: []\n").estate

    assert [server.kind for server in servers(estate)] == ["git"]
    assert time_servers(estate) == ()
    assert name_servers(estate) == ()


def test_name_and_time_servers_are_those_of_the_nodes() -> None:
    assert name_servers(scene().estate) == ("127.66.0.2",)
    assert time_servers(scene().estate) == ("127.66.0.3",)
