"""etcd on disk: bbolt files, snapshots, revisions, records. Pure: bytes in, bytes out."""
