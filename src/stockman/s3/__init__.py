"""What S3 asks and answers, whoever carries it."""
