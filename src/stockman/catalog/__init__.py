"""Components of a cluster: what each needs, installs and offers, one folder per component."""
