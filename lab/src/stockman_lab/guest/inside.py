"""What a plain Linux is made of while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman_lab.guest.links import Link

NAME, VERSION = "Stockman Lab Linux", "1"
KERNEL = "6.12.0-lab"
KERNEL_VERSION = "#1 SMP PREEMPT_DYNAMIC"
_FIRST_PID = 700


@dataclass(slots=True, kw_only=True)
class Process:
    """Something that the agent ran."""

    exit_code: int
    output: str = ""
    errors: str = ""


@dataclass(slots=True, kw_only=True)
class Inside:
    """Hardware as the kernel sees it, and what the agent keeps."""

    hostname: str = "localhost"
    machine: str = "x86_64"
    cores: int = 1
    memory: int = 0
    """Bytes."""
    links: list[Link] = field(default_factory=list)
    disks: dict[str, int] = field(default_factory=dict)
    """Sizes by slot."""
    boot_slot: str = ""
    started_at: float = 0.0
    files: dict[str, str] = field(default_factory=dict)
    """What the agent wrote, in base64 by path; it outlives a reset."""
    handles: dict[str, dict[str, object]] = field(default_factory=dict)
    """Files that are open: path, mode and place by number."""
    processes: dict[str, Process] = field(default_factory=dict)
    last_pid: int = _FIRST_PID
    last_handle: int = 1000
    is_frozen: bool = False

    def own_files(self) -> dict[str, str]:
        """Texts that the system itself provides, by path."""
        return {
            "/etc/hostname": f"{self.hostname}\n",
            "/etc/os-release": (
                f'NAME="{NAME}"\nID=stockman-lab\nVERSION_ID="{VERSION}"\n'
                f'PRETTY_NAME="{NAME} {VERSION}"\n'
            ),
            "/proc/version": f"Linux version {KERNEL} {KERNEL_VERSION}\n",
        }
