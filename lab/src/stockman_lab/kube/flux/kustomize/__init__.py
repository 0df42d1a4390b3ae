"""`kustomize build` without any program: objects out of a tree of files."""
