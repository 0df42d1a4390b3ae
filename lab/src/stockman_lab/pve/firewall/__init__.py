"""Firewalls: rules, aliases and sets of addresses of the cluster, of groups, hosts and guests."""
