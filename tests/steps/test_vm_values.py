"""Values of a guest's keys mean the same however they are spelled, or not spelled at all."""

from __future__ import annotations

import pytest

from stockman.steps.vm.values import same_value


@pytest.mark.parametrize(
    ("key", "desired", "observed"),
    [
        ("scsihw", "lsi", None),
        ("memory", "512", None),
        ("citype", "nocloud", None),
        ("startup", "down=180,order=2", "2"),
        ("startup", "down=180,order=2,up=30", "order=2,up=30"),
        ("cpu", "host,flags=+aes", "cputype=host,flags=+aes"),
        ("features", "nesting=1,mount=nfs;cifs", "mount=cifs;nfs,nesting=1,keyctl=0"),
        ("net0", "virtio=BC:24:11:00:00:01,bridge=vmbr0", "virtio=bc:24:11:00:00:01,bridge=vmbr0"),
    ],
)
def test_both_mean_the_same(key: str, desired: str, observed: str | None) -> None:
    assert same_value(key, desired, observed)


@pytest.mark.parametrize(
    ("key", "desired", "observed"),
    [
        ("scsihw", "virtio-scsi-pci", None),
        ("startup", "down=180,order=2", "order=2,down=60"),
        ("startup", "down=180,order=2", None),
        ("balloon", "0", None),
        ("features", "nesting=1", "nesting=1,keyctl=1"),
    ],
)
def test_they_differ(key: str, desired: str, observed: str | None) -> None:
    assert not same_value(key, desired, observed)
