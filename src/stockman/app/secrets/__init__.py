"""Secret files of a workspace: keys, encryption, references and the secrets bundle."""
