"""Why a pod waits: what its scheduler's message means, which nodes come closest, and what is probably a mistake of the request."""
