"""Which pods would have to move for a request to fit, or for a node to be free: a plan to copy. gpudash moves nothing."""
