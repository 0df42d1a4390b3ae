"""Names that firewall rules may use: services, protocols, types of ICMP, helpers."""

from __future__ import annotations

_SERVICES_NAMES = """
acr-nema afpovertcp afs3-bos afs3-callback afs3-fileserver afs3-kaserver afs3-prserver
afs3-rmtsys afs3-update afs3-vlserver afs3-volser amanda amandaidx amidxtape amqp amqps
asf-rmcp asp auth babel bacula-dir bacula-fd bacula-sd bbs bgp bgpd biff binkp bootpc bootps
canna cfengine chargen cisco-sccp clc-build-daemon clearcase cmip-agent cmip-man codaauth2
codasrv codasrv-se csync2 cvspserver daap datametrics daytime db-lsp dcap dhcpv6-client
dhcpv6-server dicom dict dircproxy discard distcc domain domain-s echo epmap epmd exec
f5-globalsite f5-iquery fax fido finger font-service freeciv fsp ftp ftp-data ftps ftps-data
gdomap gds-db git gnunet gnutella-rtr gnutella-svc gopher gpsd gris groupwise gsidcap gsiftp
gsigatekeeper hkp http http-alt https hylafax iax icpv2 imap2 imaps ingreslock ipp iprop
ipsec-nat-t ipx ircd ircs-u isakmp iscsi-target isisd isns iso-tsap kamanda kerberos
kerberos-adm kerberos-master kerberos4 kermit klogin kpasswd krb-prop kshell l2f ldap ldaps
ldp login lotusnote mailq mdns microsoft-ds moira-db moira-update moira-ureg mon ms-sql-m
ms-sql-s ms-wbt-server mtn munin mysql mysql-proxy nbd nbp netbios-dgm netbios-ns
netbios-ssn netstat nfs nntp nntps nqs nrpe nsca ntalk ntp ntske nut omniorb openvpn ospf6d
ospfapi ospfd passwd-server pawserv pop3 pop3s poppassd postgresql predict printer proofd
ptp-event ptp-general puppet qmqp qmtp qotd radius radius-acct radmin-port redis remctl ripd
ripngd rmiregistry rmtcfg rootd route rpc2portmap rplay rsync rtcm-sc104 rtmp rtsp
sa-msg-port saft sane-port sge-execd sge-qmaster sgi-cad sgi-cmsd sgi-crsd sgi-gcd shell
sieve silc sip sip-tls skkserv smtp smux snmp snmp-trap snpp socks spamd ssh submission
submissions sunrpc supfiledbg supfilesrv suucp svn svrloc syslog syslog-tls sysrqd systat
tacacs talk tcpmux telnet telnets tfido tftp time tinc tproxy uucp venus venus-se webmin who
whois wnn6 x11 x11-1 x11-2 x11-3 x11-4 x11-5 x11-6 x11-7 xdmcp xinetd xmms2 xmpp-client
xmpp-server xtel xtelw z3950 zabbix-agent zabbix-trapper zebra zebrasrv zephyr-clt zephyr-hm
zephyr-srv zip zope zope-ftp zserv
"""
SERVICES = frozenset(_SERVICES_NAMES.split())
"""Services that a host of Debian knows by name."""

_NUMBERED = """
    ah=51 ax.25=93 dccp=33 ddp=37 egp=8 eigrp=88 encap=98 esp=50 etherip=97 ethernet=143 fc=133
    ggp=3 gre=47 hip=139 hmp=20 hopopt=0 icmp=1 idpr-cmtp=38 idrp=45 igmp=2 igp=9 ip=0
    ipcomp=108 ipencap=4 ipip=94 ipv6-frag=44 ipv6-icmp=58 ipv6-nonxt=59 ipv6-opts=60
    ipv6-route=43 ipv6=41 isis=124 iso-tp4=29 l2tp=115 manet=138 mobility-header=135
    mpls-in-ip=137 mptcp=262 ospf=89 pim=103 pup=12 rdp=27 rohc=142 rspf=73 rsvp=46 sctp=132
    shim6=140 skip=57 st=5 tcp=6 udp=17 udplite=136 vmtp=81 vrrp=112 wesp=141 xns-idp=22 xtp=36
"""
PROTOCOLS = frozenset(pair.partition("=")[0] for pair in _NUMBERED.split()) | {"icmpv6"}
PROTOCOL_NUMBERS = frozenset(pair.partition("=")[2] for pair in _NUMBERED.split())

_ICMP_TYPES_NAMES = """
TOS-host-redirect TOS-host-unreachable TOS-network-redirect TOS-network-unreachable
address-mask-reply address-mask-request address-unreachable any bad-header beyond-scope
communication-prohibited destination-unreachable echo-reply echo-request failed-policy
fragmentation-needed host-precedence-violation host-prohibited host-redirect host-unknown
host-unreachable ip-header-bad neighbor-advertisement neighbor-solicitation
neighbour-advertisement neighbour-solicitation network-prohibited network-redirect
network-unknown network-unreachable no-route packet-too-big parameter-problem
port-unreachable precedence-cutoff protocol-unreachable redirect reject-route
required-option-missing router-advertisement router-solicitation source-quench
source-route-failed time-exceeded timestamp-reply timestamp-request
ttl-zero-during-reassembly ttl-zero-during-transit unknown-header-type unknown-option
"""
ICMP_TYPES = frozenset(_ICMP_TYPES_NAMES.split())
"""Types of both families."""

HELPERS = frozenset({"amanda", "ftp", "irc", "netbios-ns", "pptp", "sane", "sip", "snmp", "tftp"})
