"""The certificate authority of a simulated cluster, and the certificates of its hosts."""
