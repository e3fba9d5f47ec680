"""Stage 1 of 6: where files are, one module for each kind of place.

base                 `Source`, the interface
local, http, cloud, hub    this disk, web servers, any fsspec file system, the Hugging Face Hub
web                  HTTP with retries: client, client_errors, stdlib_http, prompt, backoff, throughput, headers
ranged               a remote file read by ranges
downloads, fetching, listings    verified downloads, and what is known offline
continued            appends, by a copy of what is there
refusals             errors of stores
"""
