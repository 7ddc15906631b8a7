"""What all formats of other tools have in common: what they state, how their documents are read. Names no format."""
