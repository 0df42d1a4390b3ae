"""bbolt, the file format of etcd: pages, a writer that streams, a reader that trusts nothing."""
