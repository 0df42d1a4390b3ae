"""What a machine configuration says to a machine, in the words of any contract."""
