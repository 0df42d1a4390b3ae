"""`ports.repo.Repo` by the git program."""
