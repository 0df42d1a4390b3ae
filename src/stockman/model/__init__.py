"""Records, names, versions, secrets and problems: the vocabulary of all other packages."""
