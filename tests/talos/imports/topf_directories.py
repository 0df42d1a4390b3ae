"""A directory of a topf user, as cluster-template renders it."""

from __future__ import annotations

from tests.talos.imports.directories import SCHEMATIC
from tests.talos.machine.clusters import KUBERNETES, TALOS

TOPF = """\
---
clusterName: meadow
clusterEndpoint: https://127.66.0.10:6443
talosVersion: v{talos}
kubernetesVersion: v{kubernetes}
secretsPath: secrets.sops.yaml
data:
  region: meadow-1
nodes:
"""
NODE = """\
  - host: "{name}"
    ip: "{address}"
    role: {role}
    schematicId: "{schematic}"
    data:
      installDisk: "{disk}"
      installDiskSerial: "{serial}"
      macAddr: "{mac}"
      mtu: 9000
      encryptDisk: {encrypt}
      kernelModules: [{modules}]
"""
ADDRESSES = {"cp-1": "127.66.0.21", "work-1": "127.66.0.31"}
MACS = {"cp-1": "bc:24:11:00:00:21", "work-1": "bc:24:11:00:00:31"}

FILES = {
    "all/00-install.yaml.tpl": """\
machine:
  install:
    {{- if .Node.Data.installDisk }}
    disk: "{{ .Node.Data.installDisk }}"
    {{- else }}
    diskSelector:
      serial: "{{ .Node.Data.installDiskSerial }}"
    {{- end }}
""",
    "all/01-hostname.yaml.tpl": """\
apiVersion: v1alpha1
kind: HostnameConfig
auto: "off"
hostname: "{{ .Node.Host }}"
""",
    "all/10-cluster.yaml": """\
cluster:
  network:
    cni:
      name: none
    podSubnets: ["10.42.0.0/16"]
    serviceSubnets: ["10.43.0.0/16"]
machine:
  certSANs:
    - "127.0.0.1"
    - "127.66.0.10"
""",
    "all/20-network-links.yaml.tpl": """\
---
apiVersion: v1alpha1
kind: LinkAliasConfig
name: ethSel0
selector:
  match: glob("{{ .Node.Data.macAddr }}", mac(link.hardware_addr))
---
apiVersion: v1alpha1
kind: BondConfig
name: bond0
links:
  - ethSel0
bondMode: active-backup
mtu: {{ .Node.Data.mtu }}
addresses:
  - address: "{{ .Node.IP }}/24"
routes:
  - gateway: "127.66.0.1"
{{- if eq .Node.Role "control-plane" }}
---
apiVersion: v1alpha1
kind: Layer2VIPConfig
link: bond0
name: "127.66.0.10"
{{- end }}
""",
    "all/21-network.yaml": """\
machine:
  network:
    disableSearchDomain: true
    nameservers:
      - 127.66.0.1
""",
    "all/22-time.yaml": "machine: {time: {disabled: false, servers: [162.159.200.1]}}\n",
    "all/30-kubelet.yaml": """\
machine:
  kubelet:
    extraConfig:
      maxParallelImagePulls: 3
    nodeIP:
      validSubnets:
        - 127.66.0.0/24
""",
    "all/40-sysctls.yaml.tpl": """\
machine:
  sysctls:
    fs.inotify.max_user_watches: "1048576" # Watchdog
    example.region: {{ .Data.region | default "nowhere" | quote }}
""",
    "all/60-encryption.yaml.tpl": """\
{{- if .Node.Data.encryptDisk }}
# Encrypt system disk with TPM
machine:
  systemDiskEncryption:
    state:
      provider: luks2
      keys:
        - slot: 0
          tpm: {}
{{- end }}
""",
    "all/61-kernel-modules.yaml.tpl": """\
{{- if .Node.Data.kernelModules }}
machine:
  kernel:
    modules:
      {{- range .Node.Data.kernelModules }}
      - name: {{ . }}
      {{- end }}
{{- end }}
""",
    "control-plane/00-cluster.yaml": """\
cluster:
  allowSchedulingOnControlPlanes: true
  apiServer:
    admissionControl:
      $patch: delete
    certSANs:
      - "127.0.0.1"
      - "127.66.0.10"
    extraArgs:
      enable-aggregator-routing: "true"
  coreDNS:
    disabled: true
  etcd:
    advertisedSubnets:
      - 127.66.0.0/24
  proxy:
    disabled: true
""",
    "node/work-1/00-labels.yaml": "machine: {nodeLabels: {example.com/rack: a}}\n",
}


def meadow(line: str) -> dict[str, str]:
    """Two machines, one of each role."""
    nodes = [
        NODE.format(
            name=name,
            address=ADDRESSES[name],
            role=role,
            schematic=SCHEMATIC,
            disk=disk,
            serial=serial,
            mac=MACS[name],
            encrypt=encrypt,
            modules=modules,
        )
        for name, role, disk, serial, encrypt, modules in (
            ("cp-1", "control-plane", "/dev/sda", "", "false", ""),
            ("work-1", "worker", "", "SERIAL-1", "true", "nbd, zfs"),
        )
    ]
    top = TOPF.format(talos=TALOS[line], kubernetes=KUBERNETES[line])
    return {"topf.yaml": top + "".join(nodes), **FILES}
