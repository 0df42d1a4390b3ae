"""Labels of files."""

from __future__ import annotations

import pytest
from stockman_lab.talos.files.labels import label_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/etc/hostname", "etc_t"),
        ("/etc", "etc_t"),
        ("/etc/cni/net.d", "cni_conf_t"),
        ("/proc/1/stat", "proc_t"),
        ("/var/lib/etcd/member", "etcd_data_t"),
        ("/nowhere", "rootfs_t"),
    ],
)
def test_a_label_tells_where_a_file_is(path: str, kind: str) -> None:
    assert label_of(path) == f"system_u:object_r:{kind}:s0"
