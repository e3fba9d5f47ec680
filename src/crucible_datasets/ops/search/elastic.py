"""Text search by an Elasticsearch server, through its official client."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.ops.search.base import BaseIndex, BatchedSearchResults, SearchResults
from crucible_datasets.ops.search.vectors import spans
from crucible_datasets.registry import need
from crucible_datasets.tables.view import View

_ROWS_AT_ONCE = 1000
_FIELD = "text"
_CONFIG: dict[str, Any] = {
    "settings": {"number_of_shards": 1},
    "mappings": {"properties": {_FIELD: {"type": "text", "analyzer": "standard", "similarity": "BM25"}}},
}


class ElasticSearchIndex(BaseIndex):
    """An index on a server: a given client's, or the one at `host` and `port` (localhost, 9200)."""

    def __init__(
        self,
        host: str | None = None,
        port: int | None = None,
        es_client: Any | None = None,
        es_index_name: str | None = None,
        es_index_config: dict[str, Any] | None = None,
    ) -> None:
        if es_client is not None and (host is not None or port is not None):
            raise ArgumentError("es_client", es_client, "give either es_client or host and port.")
        elasticsearch = need("elasticsearch", extra="elasticsearch")
        self.es_client = elasticsearch.Elasticsearch(_address(host, port)) if es_client is None else es_client
        self.es_index_name = es_index_name or f"crucible_datasets_{uuid.uuid4().hex}"
        self.es_index_config = es_index_config or _CONFIG

    def add_documents(self, documents: Any, column: str | None = None) -> None:
        """Create the index on the server and send it texts: a list, or a column of a dataset."""
        texts = documents if column is None else _texts(getattr(documents, "_view", documents), column)
        helpers = need("elasticsearch.helpers", extra="elasticsearch")
        self.es_client.indices.create(index=self.es_index_name, **self.es_index_config)
        helpers.bulk(self.es_client, _actions(texts), index=self.es_index_name)
        # Otherwise the last texts could be found only after a second.
        self.es_client.indices.refresh(index=self.es_index_name)

    def search(self, query: Any, k: int = 10, **kwargs: Any) -> SearchResults:
        """The `k` best rows for a text; `kwargs` go to the client."""
        match = {"query": query, "fields": [_FIELD], "type": "cross_fields"}
        found = self.es_client.search(index=self.es_index_name, query={"multi_match": match}, size=k, **kwargs)
        hits = found["hits"]["hits"]
        return SearchResults([hit["_score"] for hit in hits], [int(hit["_id"]) for hit in hits])

    def search_batch(self, queries: Any, k: int = 10, max_workers: int = 10, **kwargs: Any) -> BatchedSearchResults:
        """The `k` best rows for each text, with up to `max_workers` concurrent requests."""
        with ThreadPoolExecutor(max_workers) as pool:
            found = list(pool.map(partial(self.search, k=k, **kwargs), queries))
        return BatchedSearchResults([result.scores for result in found], [result.indices for result in found])


def _address(host: str | None, port: int | None) -> str:
    place = f"{host or 'localhost'}:{port or 9200}"
    return place if "://" in place else f"http://{place}"


def _texts(view: View, column: str) -> Iterator[Any]:
    view.require([column])
    return (text for span in spans(len(view), _ROWS_AT_ONCE) for text in _read(view, column, span))


def _read(view: View, column: str, span: slice) -> list[Any]:
    texts: list[Any] = view.read(range(span.start, span.stop), [column]).column(0).to_pylist()
    return texts


def _actions(texts: Iterable[Any]) -> Iterator[dict[str, Any]]:
    return ({"_id": row, _FIELD: text} for row, text in enumerate(texts))
