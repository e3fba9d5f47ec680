"""Search indexes: vectors by exact comparison or by faiss, text by Elasticsearch."""
