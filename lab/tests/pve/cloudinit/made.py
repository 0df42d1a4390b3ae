"""VMs whose cloud-init tests look at."""

from __future__ import annotations

from stockman_lab.pve.cloudinit.settings import Resolver, Settings

RESOLVER = Resolver(servers=("127.66.0.2", "127.66.0.3"), search="lab.test other.test")
STATIC = {
    "name": "cp-1",
    "net0": "virtio=BC:24:11:AA:BB:00,bridge=vmbr0,tag=62",
    "ipconfig0": "ip=127.66.0.21/23,gw=127.66.0.1,ip6=fd66::21/64,gw6=fd66::1",
}
SEVERAL = {
    "name": "many.example.org",
    "net0": "virtio=BC:24:11:AA:BB:00,bridge=vmbr0",
    "net10": "e1000=BC:24:11:AA:BB:10,bridge=vmbr0",
    "net2": "model=virtio,macaddr=BC:24:11:AA:BB:02,bridge=vmbr0",
    "net3": "virtio=BC:24:11:AA:BB:03,bridge=vmbr0",
    "ipconfig0": "ip=dhcp",
    "ipconfig10": "ip6=auto",
    "ipconfig2": "ip=127.66.2.2/8,ip6=dhcp",
    "nameserver": "127.66.0.9",
    "searchdomain": "a.test b.test",
}


def vm(values: dict[str, str], *, resolver: Resolver = RESOLVER) -> Settings:
    return Settings(vmid=100, values=values, resolver=resolver)
