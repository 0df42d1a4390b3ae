"""Tables: what clients print of objects, as the server lays it out for them."""
