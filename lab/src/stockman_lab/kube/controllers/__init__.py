"""Controllers of a control plane: they see changes of objects and change objects in turn."""
