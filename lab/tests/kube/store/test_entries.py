"""Objects as they were stored by the lab, by a real server, or by nobody who knows how."""

from __future__ import annotations

from stockman_lab.kube.protobuf.reading import MAGIC

from lab.tests.kube.asking import MAPS, served
from stockman.etcd.protobuf import bytes_field


def test_what_a_real_server_stored_is_read() -> None:
    server = served()
    metadata = bytes_field(1, b"real") + bytes_field(3, b"default")
    raw = bytes_field(1, metadata) + bytes_field(2, bytes_field(1, b"x") + bytes_field(2, b"y"))
    head = bytes_field(1, b"v1") + bytes_field(2, b"ConfigMap")
    value = MAGIC + bytes_field(1, head) + bytes_field(2, raw)
    server.cluster.keyspace.put(b"/registry/configmaps/default/real", value)

    found = server.ask("GET", f"{MAPS}/real")

    assert found["data"] == {"x": "y"}
    assert found["metadata"]["name"] == "real"


def test_what_nobody_can_read_is_an_error() -> None:
    server = served()
    server.cluster.keyspace.put(b"/registry/configmaps/default/odd", b"k8s:enc:secretbox:v1:x:")

    assert server.ask("GET", f"{MAPS}/odd")["code"] == 500


def test_custom_objects_are_written_by_name_and_others_in_their_own_order() -> None:
    server = served()
    made = server.made("a", z="1", b="2")

    assert list(made) == ["kind", "apiVersion", "metadata", "data"]
    assert list(made["metadata"])[:3] == ["name", "namespace", "uid"]
