"""Directories of talhelper users, small and large, in the style of any Talos line."""

from __future__ import annotations

from pathlib import Path

from tests.talos.machine.clusters import KUBERNETES, TALOS

SCHEMATIC = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"

TOP = """\
clusterName: meadow
talosVersion: v{talos}
kubernetesVersion: v{kubernetes}
endpoint: https://127.66.0.10:6443
"""
SMALL = """\
nodes:
  - hostname: cp-1
    ipAddress: 127.66.0.21
    controlPlane: true
    installDisk: /dev/sda
    networkInterfaces:
      - deviceSelector: {hardwareAddr: "bc:24:11:00:00:21"}
        dhcp: false
        addresses: [127.66.0.21/24]
        routes: [{network: 0.0.0.0/0, gateway: 127.66.0.1}]
        vip: {ip: 127.66.0.10}
"""

# As the template that many started from writes it, with all its patches.
TEMPLATE_TOP = """\
clusterName: meadow
talosVersion: "${talosVersion}"
kubernetesVersion: "${kubernetesVersion}"
endpoint: https://127.66.0.10:6443
additionalApiServerCertSans: &sans
  - "127.0.0.1"
  - "127.66.0.10"
  - "api.example.com"
additionalMachineCertSans: *sans
clusterPodNets: ["10.42.0.0/16"]
clusterSvcNets: ["10.43.0.0/16"]
cniConfig:
  name: none
nodes:
"""
TEMPLATE_NODE = """\
  - hostname: "{name}"
    ipAddress: "{address}"
    installDiskSelector:
      serial: "SERIAL-{number}"
    machineSpec:
      secureboot: false
    talosImageURL: factory.talos.dev/installer/{schematic}
    controlPlane: {controller}
    networkInterfaces:
      - deviceSelector:
          hardwareAddr: "bc:24:11:00:00:{number}"
        dhcp: false
        addresses:
          - "{address}/24"
        routes:
          - gateway: "127.66.0.1"
            network: 0.0.0.0/0
        mtu: 9000
{vip}    patches:
      - # Encrypt system disk with TPM
        |-
        machine:
          systemDiskEncryption:
            state:
              provider: luks2
              keys:
                - slot: 0
                  tpm: {{}}
      - "@./patches/{name}/modules.yaml"
"""
VIP = '        vip:\n          ip: "127.66.0.10"\n'
TEMPLATE_END = """\
patches:
  - "@./patches/global/machine-files.yaml"
  - "@./patches/global/machine-kubelet.yaml"
  - "@./patches/global/machine-network.yaml"
  - "@./patches/global/machine-sysctls.yaml"
  - "@./patches/global/machine-time.yaml"
controlPlane:
  patches:
    - "@./patches/controller/cluster.yaml"
"""
TEMPLATE_FILES = {
    "talenv.yaml": """\
# renovate: depName=x
talosVersion: v{talos}
kubernetesVersion: v{kubernetes}
""",
    "patches/cp-1/modules.yaml": "machine: {{kernel: {{modules: [{{name: nbd}}]}}}}\n",
    "patches/work-1/modules.yaml": "machine: {{kernel: {{modules: [{{name: zfs}}]}}}}\n",
    "patches/global/machine-files.yaml": """\
machine:
  files:
    - op: create
      path: /etc/cri/conf.d/20-customization.part
      content: |
        [plugins."io.containerd.cri.v1.images"]
          discard_unpacked_layers = false
""",
    "patches/global/machine-kubelet.yaml": """\
machine:
  kubelet:
    extraConfig: {{serializeImagePulls: false}}
    nodeIP: {{validSubnets: [127.66.0.0/24]}}
""",
    "patches/global/machine-network.yaml": """\
machine:
  network:
    disableSearchDomain: true
    nameservers: [127.66.0.1, 127.66.0.2]
""",
    "patches/global/machine-sysctls.yaml": """\
machine:
  sysctls:
    fs.inotify.max_user_watches: "1048576"     # Watchdog
""",
    "patches/global/machine-time.yaml": """\
machine:
  time:
    disabled: false
    servers: [162.159.200.1]
""",
    "patches/controller/cluster.yaml": """\
cluster:
  allowSchedulingOnControlPlanes: true
  apiServer:
    admissionControl:
      $$patch: delete
    extraArgs: {{enable-aggregator-routing: "true"}}
  controllerManager:
    extraArgs: {{bind-address: 0.0.0.0}}
  coreDNS: {{disabled: true}}
  etcd:
    extraArgs: {{listen-metrics-urls: "http://0.0.0.0:2381"}}
    advertisedSubnets: [127.66.0.0/24]
  proxy: {{disabled: true}}
""",
}

LARGE = """\
domain: meadow.local
allowSchedulingOnMasters: true
additionalApiServerCertSans: [api.example.com, 127.66.0.99]
clusterPodNets: [10.42.0.0/16]
clusterSvcNets: [10.43.0.0/16]
imageFactory: {registryURL: factory.example.com, protocol: https}
inlineManifests:
  - name: space
    contents: "@./manifest.yaml"
patches:
  - |-
    machine:
      env: {GRPC_GO_LOG_SEVERITY_LEVEL: error, COLOR: "${colour}"}
      sysctls: {vm.nr_hugepages: "1"}
  - "@./watchdog.yaml"
nodes:
  - hostname: cp-1
    ipAddress: 127.66.0.21
    controlPlane: true
    installDiskSelector: {size: ">= 4GB", model: "QEMU*"}
    schematic:
      customization:
        extraKernelArgs: [net.ifnames=0]
        systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}
    nodeLabels:
      example.com/rack: a
      example.com/secure: '{{ .MachineConfig.MachineInstall.InstallImage | contains "secureboot" }}'
    nodeAnnotations: {example.com/note: b}
    disableSearchDomain: true
    nameservers: [127.66.0.1]
    certSANs: [cp-1.example.com]
    kernelModules:
      - name: br_netfilter
        parameters: [nf_conntrack_max=131072]
    machineFiles:
      - {content: "@./motd", permissions: 0o644, path: /var/etc/motd, op: create}
    networkInterfaces:
      - interface: bond0
        bond:
          mode: 802.3ad
          lacpRate: fast
          miimon: 100
          deviceSelectors:
            - {hardwareAddr: "bc:24:11:00:00:21"}
            - {hardwareAddr: "bc:24:11:00:01:21"}
        addresses: [127.66.0.21/24]
        mtu: 1500
        routes:
          - {network: 0.0.0.0/0, gateway: 127.66.0.1}
          - {network: 127.77.0.0/16, gateway: 127.66.0.3, metric: 5}
        vlans:
          - {vlanId: 5, addresses: [127.67.0.21/24], routes: [], dhcp: false}
        vip: {ip: 127.66.0.10}
      - deviceSelector: {hardwareAddr: "bc:24:11:00:02:21", driver: virtio*}
        dhcp: true
        dhcpOptions: {routeMetric: 2048}
    extensionServices:
      - name: nut-client
        configFiles:
          - {content: MONITOR, mountPath: /usr/local/etc/nut/upsmon.conf}
        environment: [UPS_NAME=ups]
    volumes:
      - name: EPHEMERAL
        provisioning: {diskSelector: {match: disk.transport == "nvme"}, maxSize: 50GiB}
    userVolumes:
      - name: data
        provisioning: {diskSelector: {match: disk.transport == "sata"}, minSize: 100GiB}
        filesystem: {type: xfs}
    patches:
      - "machine: {sysctls: {vm.nr_hugepages: '3', net.core.somaxconn: '65535'}}"
  - hostname: work-1
    ipAddress: 127.66.0.31
    controlPlane: false
    installDisk: /dev/sdb
    talosImageURL: factory.example.com/nocloud-installer/{schematic}
    machineSpec: {mode: nocloud}
    nodeTaints: {example.com/slow: NoSchedule}
    nameservers: [127.66.0.1]
    networkInterfaces:
      - deviceSelector: {hardwareAddr: "bc:24:11:00:00:31"}
        addresses: [127.66.0.31/24]
        routes: [{network: 0.0.0.0/0, gateway: 127.66.0.1}]
        mtu: 1500
        dhcp: false
      - interface: eth7
        mtu: 1400
        addresses: [127.68.0.31/24]
    overridePatches: true
    patches:
      - "@./node.yaml"
  - hostname: work-2
    ipAddress: 127.66.0.32
    controlPlane: false
    installDisk: /dev/sdb
    nameservers: [127.66.0.1]
    networkInterfaces:
      - deviceSelector: {hardwareAddr: "bc:24:11:00:00:32"}
        dhcp: true
      - interface: br0
        bridge: {interfaces: [eth1], stp: {enabled: true}}
        mtu: 1500
controlPlane:
  patches:
    - |-
      machine:
        kubelet: {extraArgs: {rotate-server-certificates: "true"}}
        sysctls: {vm.nr_hugepages: "2"}
worker:
  ingressFirewall:
    defaultAction: block
    rules:
      - name: apid
        portSelector: {ports: [50000], protocol: tcp}
        ingress: [{subnet: 127.66.0.0/24, except: 127.66.0.7/32}]
  schematic:
    customization:
      systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}
  patches:
    - "machine: {kubelet: {extraArgs: {feature-gates: GracefulNodeShutdown=false}}}"
"""
LARGE_FILES = {
    "talenv.yaml": "colour: green\n",
    "manifest.yaml": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: $${kept}\n",
    "motd": "moo ${colour}\n",
    "watchdog.yaml": """\
apiVersion: v1alpha1
kind: WatchdogTimerConfig
device: /dev/watchdog0
timeout: 2m0s
""",
    "node.yaml": """\
machine:
  sysctls:
    example.type: '{{ .MachineConfig.MachineType }}'
    example.cluster: '{{ .ClusterConfig.ClusterName | upper }}'
---
apiVersion: v1alpha1
kind: EnvironmentConfig
variables: {A: b}
""",
}
OLD_NODE = "machine: {sysctls: {example.type: '{{ .MachineConfig.MachineType }}'}}\n"


def small(line: str) -> dict[str, str]:
    """One machine, and nothing that has not to be there."""
    return {"talconfig.yaml": _top(line) + SMALL}


def template(line: str) -> dict[str, str]:
    """Two machines as cluster-template renders them."""
    nodes = [
        TEMPLATE_NODE.format(
            name=name,
            address=f"127.66.0.{number}",
            number=number,
            schematic=SCHEMATIC,
            controller=controller,
            vip=VIP if controller == "true" else "",
        )
        for name, number, controller in (("cp-1", 21, "true"), ("work-1", 31, "false"))
    ]
    versions = {"talos": TALOS[line], "kubernetes": KUBERNETES[line]}
    files = {name: text.format(**versions) for name, text in TEMPLATE_FILES.items()}
    return {"talconfig.yaml": TEMPLATE_TOP + "".join(nodes) + TEMPLATE_END, **files}


def large(line: str) -> dict[str, str]:
    """Three machines with a patch in every place, and almost every key that there is."""
    files = dict(LARGE_FILES)
    if line < "1.13":
        files["node.yaml"] = OLD_NODE
    text = (_top(line) + LARGE).replace("{schematic}", SCHEMATIC)
    return {"talconfig.yaml": text, **files}


ALL = {"small": small, "template": template, "large": large}


def written(files: dict[str, str], directory: Path) -> Path:
    """A directory with these files."""
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


def _top(line: str) -> str:
    return TOP.format(talos=TALOS[line], kubernetes=KUBERNETES[line])
