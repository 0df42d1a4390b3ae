"""A sample of the bpg provider's own acceptance tests passes on the lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.acceptance import acceptance
from tools.pytest_plugin import RealTool

SAMPLE = {
    "access": (
        "TestAccAclGroup",
        "TestAccAclToken",
        "TestAccAclUser",
        "TestAccResourceUser",
        "TestAccResourceUserToken",
    ),
    "cluster-ha": ("TestAccHAResources",),
    "nodes-datastores": ("TestAccDatasourceDatastores",),
    "nodes-hardware": ("TestAccDataSourceHardwarePCI",),
    "nodes-vm": ("TestAccDatasourceVM", "TestAccDatasourceVMNotFound", "TestAccResourceVMShort"),
    "nodes-vm-vga": ("TestAccResourceVM2VGA",),
    "pools": ("TestAccPoolMembershipStorage", "TestAccPoolMembershipVm"),
    "storage": ("TestAccResourceStorageDirectoryCreateOptions",),
}


@pytest.mark.parametrize("package", SAMPLE)
def test_they_pass(tmp_path: Path, real_tool: RealTool, package: str) -> None:
    with acceptance(tmp_path, real_tool) as tests:
        found = tests.run(real_tool(f"bpg-acceptance@{package}"), SAMPLE[package])

    assert sorted(found.passed) == sorted(SAMPLE[package]), found.output[-4000:]
    assert found.failed == []
