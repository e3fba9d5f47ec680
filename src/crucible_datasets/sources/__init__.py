"""Stage 1 of 6: where files are, one module for each kind of storage.

base                 `Source`, the interface
local, http, cloud, hub    this disk, web servers, any fsspec file system, the Hugging Face Hub
web                  HTTP with retries: client, client_errors, stdlib_http, header_timeout, backoff, throughput, headers
ranged               a remote file read by ranges
downloads, fetching, listings    verified downloads, and cached listings for offline use
wildcards            patterns in paths
append_copy          appending by rewriting the file
store_bodies         contents of object stores, as they arrive
store_errors         exceptions of storage clients → our errors
"""
