"""How objects are changed by patches of all kinds, and who owns which field."""
