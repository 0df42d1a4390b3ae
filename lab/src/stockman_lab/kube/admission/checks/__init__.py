"""What is wrong with objects of the most used kinds, in the words of the server."""
