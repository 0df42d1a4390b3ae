"""Whether secrets are where they belong: encrypted, for the right people, and nowhere else."""
