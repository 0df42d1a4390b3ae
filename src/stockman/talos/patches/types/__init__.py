"""Tables of the types of machine configurations, one file per minor of Talos."""
