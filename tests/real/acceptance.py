"""The acceptance tests of the bpg provider, each package a program, against a served lab."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from stockman_lab.images.system_archive import system_archive
from stockman_lab.pve.access.login import scramble
from stockman_lab.pve.host import GIB
from stockman_lab.testing.thread import ProxmoxLab

from lab.tests.populated import image
from tests.real.images_served import serve_files
from tests.real.served import served

PASSWORD = "a word for root"
_ENDED = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+) ", re.MULTILINE)
_MOST_SECONDS = 300


PACKAGES = (
    "access",
    "cluster-backup",
    "cluster-ha",
    "cluster-hardwaremapping",
    "cluster-replication",
    "nodes-clonedvm",
    "nodes-datastores",
    "nodes-hardware",
    "nodes-network",
    "nodes-vm",
    "nodes-vm-cdrom",
    "nodes-vm-cpu",
    "nodes-vm-rng",
    "nodes-vm-vga",
    "pools",
    "storage",
)
EXCLUDED = {
    "TestAccRealmLDAP": "realms of LDAP are not simulated",
    "TestAccRealmOpenID": "realms of OpenID are not simulated",
    "TestAccRealmOpenIDUsernameClaim": "realms of OpenID are not simulated",
    "TestAccRealmOpenIDWriteOnly": "realms of OpenID are not simulated",
    "TestAccRealmSync": "realms of LDAP are not simulated",
}
"""Tests that are not run, and why."""


@dataclass(slots=True)
class Results:
    """What became of tests, by name; of those with parts only the whole counts."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    output: str = ""


@dataclass(slots=True)
class Acceptance:
    """Where the tests are run, and against what."""

    lab: ProxmoxLab
    tofu: Path
    folder: Path
    images: str
    """Where images are served."""

    def prepare(self) -> None:
        """Make the cluster what the tests expect to find."""
        self.lab.run(self._furnish)

    def names(self, program: Path) -> list[str]:
        """The tests of a program that need a Proxmox VE, without those that are excluded."""
        words = [str(program), "-test.list=^TestAcc"]
        listed = subprocess.run(words, capture_output=True, text=True, check=True)
        return [one for one in listed.stdout.split() if one not in EXCLUDED]

    def run(self, program: Path, names: Iterable[str]) -> Results:
        """Run tests by their names."""
        self.folder.mkdir(exist_ok=True)
        tests = f"^({'|'.join(names)})$"
        found = subprocess.run(
            [str(program), "-test.v", f"-test.run={tests}", f"-test.timeout={_MOST_SECONDS}s"],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=_MOST_SECONDS + 30,
            check=False,
        )
        results = Results(output=f"{found.stdout}\n{found.stderr}")
        lists = {"PASS": results.passed, "FAIL": results.failed, "SKIP": results.skipped}
        for verdict, name in _ENDED.findall(results.output):
            if "/" not in name:
                lists[verdict].append(name)
        return results

    def _furnish(self) -> None:
        (cluster,) = self.lab.world.clusters.values()
        state = cluster.state
        stored = scramble(PASSWORD, cluster.around.dice.random_bytes).stored
        state.access.system_passwords["root"] = stored
        state.storages["local"].options["content"] = (
            "iso,vztmpl,backup,import,snippets,images,rootdir"
        )
        state.storages["files"].options["content"] = "images,rootdir"
        for pool in self.lab.world.state.network.pools:
            pool.first = pool.first.replace("127.66.", "10.66.")
        state.storages["local-lvm"] = replace(state.storages["thin"], id="local-lvm")
        for host in state.hosts.values():
            host.pools["fs:/"].size = 2000 * GIB
            for card in ("eno2", "eno3"):
                host.interfaces[card] = {"type": "eth", "method": "manual", "exists": "1"}

    def _environment(self) -> dict[str, str]:
        address = self.lab.endpoint.removeprefix("https://").partition(":")[0]
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "CHECKPOINT_DISABLE": "1",
            "TF_ACC": "1",
            "TF_ACC_TERRAFORM_PATH": str(self.tofu),
            "TF_ACC_PROVIDER_NAMESPACE": "hashicorp",
            "TF_ACC_PROVIDER_HOST": "registry.opentofu.org",
            "PROXMOX_VE_ENDPOINT": self.lab.endpoint,
            "PROXMOX_VE_API_TOKEN": f"{self.lab.token_id}={self.lab.token_secret}",
            "PROXMOX_VE_USERNAME": "root@pam",
            "PROXMOX_VE_PASSWORD": PASSWORD,
            "PROXMOX_VE_INSECURE": "true",
            "PROXMOX_VE_ACC_NODE_NAME": "pve1",
            "PROXMOX_VE_ACC_NODE_2_NAME": "pve2",
            "PROXMOX_VE_ACC_NODE_SSH_ADDRESS": address,
            "PROXMOX_VE_ACC_NODE_SSH_PORT": str(self.lab.ssh_ports["pve1"]),
            "PROXMOX_VE_SSH_USERNAME": "root",
            "PROXMOX_VE_SSH_PRIVATE_KEY": self.lab.ssh_key,
            "PROXMOX_VE_ACC_ZFS_DATASTORE_ID": "local-zfs",
            "PROXMOX_VE_ACC_CLOUD_IMAGES_SERVER": self.images,
            "PROXMOX_VE_ACC_CONTAINER_IMAGES_SERVER": self.images,
            "PROXMOX_VE_ACC_IFACE_NAME": "eno1",
            "PROXMOX_VE_ACC_BOND_SLAVE1": "eno2",
            "PROXMOX_VE_ACC_BOND_SLAVE2": "eno3",
        }


@contextmanager
def acceptance(folder: Path, program: Callable[[str], Path]) -> Iterator[Acceptance]:
    """A lab that is furnished for the tests, and the images that they download."""
    scratch = folder / "lab"
    scratch.mkdir()
    with serve_files(_images()) as images, served(scratch, "9.1") as lab:
        found = Acceptance(lab, program("tofu"), folder / "tests", images)
        found.prepare()
        yield found


def _images() -> dict[str, bytes]:
    return {
        "images/system/ubuntu-24.04-standard_24.04-2_amd64.tar.zst": system_archive(
            "ubuntu", "24.04", "zst"
        ),
        "minimal/releases/noble/release/ubuntu-24.04-minimal-cloudimg-amd64.img": image(),
    }
