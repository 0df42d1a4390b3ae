"""Virtual machines at work: their volumes, their power, and everything that takes a worker."""
