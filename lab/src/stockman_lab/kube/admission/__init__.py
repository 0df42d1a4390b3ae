"""What the server itself fills in and refuses, by kind."""
