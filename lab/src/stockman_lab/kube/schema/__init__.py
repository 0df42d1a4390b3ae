"""What kinds of objects there are and how they are made."""
