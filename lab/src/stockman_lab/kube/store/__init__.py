"""Objects in the keyspace of etcd: read, written, listed and watched."""
