"""The lab of a user: one world in one file, served until it is told to stop."""
