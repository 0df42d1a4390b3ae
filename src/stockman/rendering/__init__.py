"""From what should be to the files of a repository; pure."""
