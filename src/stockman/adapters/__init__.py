"""The real doors: each translates one port into one technology, and decides nothing."""
