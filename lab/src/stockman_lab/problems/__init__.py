"""Pages of the problem codes of the lab, which `stockman explain` shows."""
