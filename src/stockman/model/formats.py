"""Text and number formats of the configuration language.

Each format has a description, so that messages, `stockman explain` and the JSON schema agree.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from stockman.model.names import (
    Bridge,
    ClassName,
    Datastore,
    GuestName,
    HostName,
    Mac,
    NodeName,
    Region,
    SchematicId,
    Vmid,
)


class TextFormat(NamedTuple):
    """A pattern that a whole text must match, and its description."""

    description: str
    pattern: str
    example: str
    lower_case: bool = False
    """Whether upper case is accepted and converted to lower case."""
    max_length: int = 1024


class Between(NamedTuple):
    """Inclusive limits of a number."""

    low: int
    high: int
    unit: str = ""


class Example(NamedTuple):
    """A valid example value, as a user writes it."""

    value: str


class NonEmpty(NamedTuple):
    """Marks a list or mapping that must have at least one item."""


class KeepPositions(NamedTuple):
    """Marks a free-form value whose nested positions are recorded."""


class Required(NamedTuple):
    """Marks a required key. The record has None if the key is missing or invalid."""


REQUIRED = Required()
NON_EMPTY = NonEmpty()

_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_FQDN = rf"({_LABEL}\.)+[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?"
_PVE_ID = r"[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]"
_DURATION = r"(?:\d+h)?(?:\d+m)?(?:\d+s)?"

NOT_EMPTY = TextFormat(
    "a text of at least one character", r"[\s\S]*\S[\s\S]*", "text", max_length=65_536
)
DNS_LABEL = TextFormat("a DNS label (a-z, 0-9, hyphen, at most 63 characters)", _LABEL, "worker-1")
FQDN = TextFormat(
    "a host name with a domain", _FQDN, "example.com", lower_case=True, max_length=253
)
HOST_OR_ADDRESS = TextFormat(
    "a host name or an IPv4 address", r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", "time.example.com"
)
CERTIFICATE_NAME = TextFormat(
    "a host name or an IP address",
    rf"({_LABEL}\.)*{_LABEL}|[0-9a-f]*:[0-9a-f:]*(\d+\.\d+\.\d+\.\d+)?",
    "api.example.com",
    lower_case=True,
    max_length=253,
)
MAC_ADDRESS = TextFormat(
    "a MAC address", r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", "bc:24:11:00:00:11", lower_case=True
)
SCHEMATIC = TextFormat("64 lower-case hex digits", r"[0-9a-f]{64}", "376567988ad3" + "0" * 52)
ORIGIN_URL = TextFormat(
    "a URL with a host, an optional port and no path",
    r"https?://[A-Za-z0-9.-]+(:\d{1,5})?/?",
    "https://127.66.0.4:8006",
)
HTTP_URL = TextFormat("an http or https URL", r"https?://[^\s/]+(/\S*)?", "https://s3.example.com")
GIT_URL = TextFormat(
    "an http, https, ssh or scp-like Git URL",
    r"(https?://[^\s/@]+/\S+|ssh://[^\s/]+/\S+|[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:\S+)",
    "https://github.com/owner/repo.git",
)
PACKAGE = TextFormat(
    "a wheel with its hash, or an image with its digest",
    r"https://[^\s#]+\.whl#sha256=[0-9a-f]{64}|[a-z0-9.-]+(:\d{1,5})?/[^\s@]+@sha256:[0-9a-f]{64}",
    f"https://example.com/stockman_talos-1.0.0-py3-none-any.whl#sha256={'0' * 64}",
)
TOKEN_ID = TextFormat(
    "a Proxmox token id, user@realm!name",
    r"[^\s@:/!]+@[A-Za-z][A-Za-z0-9._-]*![A-Za-z][A-Za-z0-9._-]*",
    "stockman@pve!stockman",
)
USER_ID = TextFormat(
    "a Proxmox user, user@realm", r"[^\s@:/!]+@[A-Za-z][A-Za-z0-9._-]*", "stockman@pve"
)
AGE_RECIPIENT = TextFormat(
    "an age recipient (age1...)", r"age1[0-9a-z]+", "age1" + "q" * 58, max_length=4096
)
FINGERPRINT = TextFormat(
    "a SHA-256 certificate fingerprint",
    r"[0-9a-f]{2}(:[0-9a-f]{2}){31}|[0-9a-f]{64}",
    ":".join(["a1"] * 32),
    lower_case=True,
)
DURATION = TextFormat("a duration such as 90s, 10m or 1h30m", rf"(?=\d){_DURATION}", "10m")
CRON = TextFormat("five cron fields", r"[0-9*/,A-Za-z-]+( +[0-9*/,A-Za-z-]+){4}", "0 3 * * 6")
DATE = TextFormat(
    "a date, YYYY-MM-DD",
    r"20[2-9][0-9]-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
    r"|20[2-9][0-9]-(0[469]|11)-(0[1-9]|[12][0-9]|30)|20[2-9][0-9]-02-(0[1-9]|1[0-9]|2[0-8])",
    "2027-03-01",
)
PVE_ID = TextFormat("a Proxmox name (letter first)", _PVE_ID, "local-zfs")
PVE_NODE = TextFormat("a Proxmox host name", _LABEL, "pve-a", lower_case=True)
BRIDGE_NAME = TextFormat("a bridge name", r"[A-Za-z][A-Za-z0-9_.-]{0,14}", "vmbr0")
EXTENSION = TextFormat(
    "an extension, vendor/name", r"[a-z0-9.-]+/[a-z0-9._-]+", "siderolabs/qemu-guest-agent"
)
ENDPOINT = TextFormat("host:port", r"[A-Za-z0-9.-]+:\d{1,5}", "127.66.0.4:8006")
LOCK_HOME = TextFormat(
    "`local` or an S3 address", r"local|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/\S*)?", "local"
)
IPV4 = TextFormat(
    "an IPv4 address",
    r"((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])",
    "127.66.0.9",
)
SUBNET = TextFormat(
    "an IPv4 network, with a leading ! to exclude it",
    r"!?((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}"
    r"(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])/(3[0-2]|[12]?[0-9])",
    "127.66.0.0/24",
)
PORTS = TextFormat("a port or a port range", r"\d{1,5}(-\d{1,5})?", "9100")
DISK_SIZE = TextFormat(
    "a size in bytes, with an optional comparison operator",
    r"((>=|<=|==|>|<) ?)?(\d{1,6}(\.\d{1,3})? ?[kMGT]i?|\d{1,18} ?)B",
    ">= 100GB",
)
BYTES = TextFormat("a size in bytes", r"(\d{1,6}(\.\d{1,3})?[kMGT]i?|\d{1,18})B", "100GiB")
BYTES_OR_PERCENT = TextFormat(
    "a size in bytes, or a percentage of the disk",
    r"(\d{1,6}(\.\d{1,3})?[kMGT]i?|\d{1,18})B|(100|[1-9]?[0-9])%",
    "80%",
)
VOLUME_NAME = TextFormat("a volume name (letters, digits, hyphen)", r"[A-Za-z0-9-]{1,34}", "media")
PARAMETER = TextFormat("a kernel parameter", r"[^\s=]+", "vm.nr_hugepages")
VARIABLE = TextFormat("a variable name", r"[A-Za-z_][A-Za-z0-9_]*", "https_proxy")
ARGUMENT = TextFormat("an argument without dashes", r"[a-z][a-z0-9.-]*", "max-pods")
DEVICE = TextFormat("a device under /dev", r"/dev/[A-Za-z0-9_./:-]+", "/dev/watchdog0")
DIRECTORY = TextFormat("an absolute directory path", r"/[^\s/][^\s]*", "/var/mnt/media")
LOG_URL = TextFormat(
    "a tcp or udp URL with a port",
    r"(tcp|udp)://[A-Za-z0-9.-]+:\d{1,5}",
    "udp://127.66.0.9:514",
)
REPOSITORY_FILE = TextFormat(
    "a file in the repository",
    r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*",
    "talos/ca.pem",
)
LINK_NAME = TextFormat("a network link name", r"[A-Za-z][A-Za-z0-9_.-]{0,14}", "eth1")
BOOT_DEVICE = TextFormat("a disk or network slot", r"(scsi|virtio|sata|ide|net)\d+", "scsi0")
PCI_ADDRESS = TextFormat(
    "a PCI address",
    r"([0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}(\.[0-7])?",
    "0000:01:00.0",
    lower_case=True,
)
USB_ID = TextFormat(
    "a USB vendor:product pair or bus-port path",
    r"[0-9a-f]{4}:[0-9a-f]{4}|\d+-\d+(\.\d+)*",
    "1a6e:089a",
    lower_case=True,
)
TAG = TextFormat("a Proxmox tag", r"[a-z0-9_][a-z0-9_+.-]*", "talos", lower_case=True)
QUANTITY = TextFormat("a Kubernetes quantity", r"\d+(\.\d+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?", "1")
LABEL_KEY = TextFormat(
    "a Kubernetes label key",
    r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?",
    "example.com/zone",
)
TAINT = TextFormat(
    "a taint, [value:]effect",
    r"([A-Za-z0-9_.-]*:)?(NoSchedule|PreferNoSchedule|NoExecute)",
    "NoSchedule",
)
COMPONENT = TextFormat("a component name", r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", "proxmox-csi")
ADDRESS_POOL = TextFormat(
    "an address, a range a-b, or a CIDR",
    r"\d+\.\d+\.\d+\.\d+(/\d{1,2}|-\d+\.\d+\.\d+\.\d+)?",
    "127.66.0.19",
)

Text = Annotated[str, NOT_EMPTY]
Name = Annotated[str, DNS_LABEL]
NodeNameText = Annotated[NodeName, DNS_LABEL]
HostNameText = Annotated[HostName, PVE_NODE]
ClassNameText = Annotated[ClassName, DNS_LABEL]
GuestNameText = Annotated[GuestName, DNS_LABEL]
Domain = Annotated[str, FQDN]
MacText = Annotated[Mac, MAC_ADDRESS]
SchematicText = Annotated[SchematicId, SCHEMATIC]
DatastoreText = Annotated[Datastore, PVE_ID]
BridgeText = Annotated[Bridge, BRIDGE_NAME]
RegionText = Annotated[Region, PVE_ID]
VmidNumber = Annotated[Vmid, Between(100, 999_999_999)]
Vlan = Annotated[int, Between(1, 4094)]
Mtu = Annotated[int, Between(576, 65520, "bytes")]
Asn = Annotated[int, Between(1, 4_294_967_295)]
DurationText = Annotated[str, DURATION]
CronText = Annotated[str, CRON]
DateText = Annotated[str, DATE]
AgeRecipientText = Annotated[str, AGE_RECIPIENT]
ExtensionName = Annotated[str, EXTENSION]
