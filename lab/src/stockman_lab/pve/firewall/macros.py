"""Names that stand for a protocol with its ports."""

from __future__ import annotations

MACROS = (
    "Amanda", "Auth", "BGP", "BitTorrent", "BitTorrent32", "Ceph", "CVS", "Citrix", "DAAP", "DCC",
    "DHCPfwd", "DHCPv6", "DNS", "Distcc", "FTP", "Finger", "GNUnet", "GRE", "Git", "HKP", "HTTP",
    "HTTPS", "ICPV2", "ICQ", "IMAP", "IMAPS", "IPIP", "IPsec", "IPsecah", "IPsecnat", "IRC",
    "Jetdirect", "L2TP", "LDAP", "LDAPS", "MSNP", "MSSQL", "Mail", "MDNS", "Munin", "MySQL",
    "NNTP", "NNTPS", "NTP", "NeighborDiscovery", "OSPF", "OpenVPN", "PCA", "PMG", "POP3", "POP3S",
    "PPtP", "Ping", "PostgreSQL", "Printer", "RDP", "RIP", "RNDC", "Razor", "Rdate", "Rsync",
    "SANE", "SMB", "SMBswat", "SMTP", "SMTPS", "SNMP", "SPAMD", "SPICEproxy", "SSH", "SVN",
    "SixXS", "Squid", "Submission", "Syslog", "TFTP", "Telnet", "Telnets", "Time", "Trcrt", "VNC",
    "VNCL", "Web", "Webcache", "Webmin", "Whois",
)  # fmt: skip
_PREFERRED = {name.lower(): name for name in MACROS}


def preferred(name: str) -> str:
    """A macro as it is written; empty where there is none of that name."""
    return _PREFERRED.get(name.lower(), "")
