"""What is there: one pass over each system, many questions at once, and nothing is changed."""
