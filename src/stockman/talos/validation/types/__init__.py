"""What expressions and runtime specifications may hold, per minor; written by a script."""
