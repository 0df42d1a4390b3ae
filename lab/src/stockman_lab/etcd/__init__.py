"""A simulated etcd cluster: members, quorum, leader, alarms, and a keyspace with its history."""
