"""Every source keeps the same laws."""

from __future__ import annotations

import os
import random
import time
import traceback
import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fsspec.core import url_to_fs
from support.relay import relayed
from support.servers import Store, store
from support.web import folder_served

from crucible_datasets import Dataset, config, load_dataset, storage
from crucible_datasets.exceptions import AccessDeniedError, ContentMismatchError, DatasetsError, DownloadError
from crucible_datasets.localhub.server import serving
from crucible_datasets.sources.base import SOURCES, Source, source_of

pytestmark = [
    pytest.mark.usefixtures("online"),
    pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning"),  # gcsfs sends whole bodies
]

FILES = {
    "one.csv": b"a,b\n1,2\n",
    "data/train-00000-of-00001.parquet": random.Random(1).randbytes(2_500_000),
    "data/deep/empty.txt": b"",
    "data/w\u00f6rt er.txt": "gr\u00fc\u00df".encode(),
}
NOWHERE = Store("", {}, None, {})


@contextmanager
def folder(tmp_path):
    _fill(tmp_path / "place")
    yield str(tmp_path / "place"), lambda path, content: (tmp_path / "place" / path).write_bytes(content), NOWHERE


@contextmanager
def web(tmp_path):
    _fill(tmp_path / "place")
    for path in FILES:  # the times that web servers state have no fractions of a second
        os.utime(tmp_path / "place" / path, (1e9, 1e9))
    write = lambda path, content: (tmp_path / "place" / path).write_bytes(content)  # noqa: E731
    with folder_served(tmp_path / "place") as address:
        yield address, write, NOWHERE


@contextmanager
def memory(tmp_path):
    with filled(Store("memory:/", {}, None, {})) as place:
        yield place


def bucket(kind):
    @contextmanager
    def opened(tmp_path):
        with filled(store(kind)) as place:
            yield place

    return opened


@contextmanager
def filled(store):
    """A folder of its own in a store, which somebody else writes to."""
    root = f"{store.root}/{uuid.uuid4().hex}"
    system, base = url_to_fs(root, **store.options, skip_instance_cache=True)
    for path, content in FILES.items():
        system.pipe_file(f"{base}/{path}", content)
    yield root, lambda path, content: system.pipe_file(f"{base}/{path}", content), store
    system.rm(base, recursive=True)


@contextmanager
def hub(tmp_path):
    _fill(tmp_path / "hub" / "acme" / "data")
    with serving(str(tmp_path / "hub")) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "HF_ENDPOINT", server.endpoint)

        def write(path, content):
            (tmp_path / "hub" / "acme" / "data" / path).write_bytes(content)
            server.hub._looked.clear()

        yield "hf://datasets/acme/data", write, NOWHERE


@contextmanager
def hub_bucket(tmp_path):
    folder = tmp_path / "hub" / "buckets" / "acme" / "stuff"
    _fill(folder)
    with serving(str(tmp_path / "hub")) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "HF_ENDPOINT", server.endpoint)
        yield "hf://buckets/acme/stuff", lambda path, content: (folder / path).write_bytes(content), NOWHERE


def _fill(place):
    for path, content in FILES.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)


PLACES = {
    "local": {"disk": folder},
    "http": {"web": web},
    "cloud": {"memory": memory, "s3": bucket("s3"), "gs": bucket("gs"), "az": bucket("az")},
    "hub": {"hub": hub, "bucket": hub_bucket},
}


@dataclass(frozen=True)
class Place:
    """A source, a place that it knows with files in it, and what must be said to get in."""

    source: Any
    root: str
    write: Any
    store: Store

    def listed(self, path=""):
        return self.source.listed(f"{self.root}/{path}" if path else self.root, self.store.options)

    def found(self, path):
        (file,) = self.listed(path.replace(" ", "%20") if self.source.name == "http" else path)
        return file

    def opened(self, file):
        return self.source.opened(file, self.store.options)

    def fetched(self, files):
        return self.source.fetched(files, self.store.options)


@pytest.fixture(params=[f"{source}-{kind}" for source in sorted(SOURCES) for kind in PLACES[source]])
def place(request, tmp_path):
    source, kind = request.param.split("-")
    with PLACES[source][kind](tmp_path) as (root, write, store):
        yield Place(SOURCES[source], root, write, store)


@pytest.fixture(params=["s3", "gs", "az"])
def filled_bucket(request):
    with filled(store(request.param)) as (root, write, store_):
        yield Place(SOURCES["cloud"], root, write, store_)


def test_every_source_has_a_place_here():
    assert set(PLACES) == set(SOURCES)


def test_an_address_finds_its_source(place):
    assert source_of(place.root) is place.source


def test_a_listing_has_every_file(place):
    if place.source.name == "http":
        pytest.skip("web servers do not list")
    assert {file.path: file.size for file in place.listed()} == {path: len(FILES[path]) for path in FILES}
    assert [file.path for file in place.listed("data/*.parquet")] == ["train-00000-of-00001.parquet"]
    assert len(place.listed("**")) == len(FILES)
    assert [file.path for file in place.listed("**/*.txt")] == ["data/deep/empty.txt", "data/w\u00f6rt er.txt"]
    assert [file.path for file in place.listed("data/")] == [path[5:] for path in sorted(FILES) if path[:5] == "data/"]


def test_the_first_folder_may_be_a_pattern(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    (file,) = SOURCES["local"].listed(f"/?{str(tmp_path)[2:]}/*.txt", {})
    assert f"/{file.path}" == file.url == str(tmp_path / "a.txt")


WILDCARDS = {
    "data/n[12].txt": ["n1.txt", "n2.txt"],
    "data/n[!1].txt": ["n2.txt"],
    "data/n?.txt": ["n1.txt", "n2.txt"],
    "d?ta/n1.txt": ["data/n1.txt"],
    "data/n[1-2].t*": ["n1.txt", "n2.txt"],
    "data/odd[1].txt": ["odd[1].txt"],  # there is a file of this name
}


def test_every_wildcard_is_one_everywhere(place):
    if place.source.name == "http":
        pytest.skip("web servers do not list")
    for name in ("n1", "n2", "odd[1]", "odd1"):
        place.write(f"data/{name}.txt", name.encode())
    assert {pattern: [file.path for file in place.listed(pattern)] for pattern in WILDCARDS} == WILDCARDS
    assert [file.url for file in place.listed("data/n?.txt")] == storage.glob(
        f"{place.root}/data/n[12].txt", place.store.options
    )


def test_an_address_that_was_listed_leads_to_the_same_file(place):
    for file in [place.found("one.csv")] if place.source.name == "http" else place.listed():
        (again,) = place.source.listed(file.url, place.store.options)
        assert (again.url, again.identity, again.size) == (file.url, file.identity, file.size)
        place.source.require_same(file, place.store.options)


def test_bytes_are_those_of_the_file_from_any_place_on(place):
    for path, content in FILES.items():
        with place.opened(place.found(path)) as stream:
            assert stream.read() == content
            chance = random.Random(3)
            for _ in range(10):
                start, length = chance.randrange(len(content) + 1), chance.choice([0, 1, 7, 1000, 300_000])
                stream.seek(start)
                assert stream.read(length) == content[start : start + length]
            assert stream.seek(0, os.SEEK_END) == len(content)


def test_whole_files_come_to_this_disk_once(place):
    files = [place.found(path) for path in FILES]
    paths = place.fetched(files)
    assert [Path(path).read_bytes() for path in paths] == list(FILES.values())
    times = [os.stat(path).st_mtime_ns for path in paths]
    assert place.fetched(files) == paths
    assert [os.stat(path).st_mtime_ns for path in paths] == times
    assert [os.path.splitext(path)[1] for path in paths] == [os.path.splitext(path)[1] for path in FILES]


def test_another_content_is_another_identity(place):
    before = place.found("one.csv")
    assert place.found("one.csv").identity == before.identity
    for content in (b"a,b\n1,22\n", b"a,b\n1,33\n"):
        place.write("one.csv", content)
        after = place.found("one.csv")
        assert after.identity != before.identity
        assert Path(place.fetched([after])[0]).read_bytes() == content
        before = after


def test_a_file_that_is_written_later_is_listed(place):
    if place.source.name == "http":
        pytest.skip("web servers do not list")
    before = len(place.listed())
    place.write("data/new.txt", b"new")
    assert len(place.listed()) == before + 1


def test_what_is_not_there_is_not_found(place):
    with pytest.raises(FileNotFoundError) as caught:
        place.found("nothing.csv")
    assert isinstance(caught.value, DatasetsError) and "nothing.csv" in str(caught.value)


def test_a_file_that_changes_while_it_comes_is_refused(filled_bucket):
    content = random.Random(5).randbytes(9 << 20)
    filled_bucket.write("long.bin", content)
    file = filled_bucket.found("long.bin")
    with relayed(filled_bucket.store.options) as (relay, options), ThreadPoolExecutor(1) as thread:
        # The emulator of GCS does one thing at a time, so all but a little must have left it.
        relay.count_anew(halt_at=len(content) - (1 << 17))
        coming = thread.submit(filled_bucket.source.fetched, [file], options)
        while not relay.is_halted and not coming.done():
            time.sleep(0.01)
        filled_bucket.write("long.bin", content[::-1])
        relay.release()
        with pytest.raises(ContentMismatchError, match=r"long\.bin"):
            coming.result(60)
    assert Path(filled_bucket.fetched([filled_bucket.found("long.bin")])[0]).read_bytes() == content[::-1]


@pytest.mark.parametrize("kind", ["s3", "az"])
def test_denied_access_is_an_error_that_keeps_the_secret(kind, caplog):
    with filled(store(kind)) as (root, _, known):
        source = SOURCES["cloud"]
        (file,) = source.listed(f"{root}/one.csv", known.options)
        for attempt in (
            lambda: source.listed(root, known.wrong),
            lambda: source.opened(file, known.wrong).read(),
            lambda: source.fetched([file], known.wrong),
        ):
            with pytest.raises(DownloadError, match="denied") as caught:
                attempt()
            told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(file)
            assert not any(secret in told for secret in secrets_of(known.wrong))


def secrets_of(options):
    """The keys in what is said to a store."""
    texts = ";".join(options.values()).split(";")
    return [text.removeprefix("AccountKey=") for text in texts if "SECRET"[::-1] in text or "AccountKey" in text]


@pytest.mark.parametrize("kind", ["s3", "gs", "az"])
def test_credentials_come_from_where_the_clients_of_a_store_look(kind, monkeypatch):
    with filled(store(kind)) as (root, _, known):
        for name, value in known.environment.items():
            monkeypatch.setenv(name, value)
        url_to_fs(root)[0].clear_instance_cache()
        (file,) = SOURCES["cloud"].listed(f"{root}/one.csv", {})
        assert SOURCES["cloud"].opened(file, {}).read() == FILES["one.csv"]
        url_to_fs(root)[0].clear_instance_cache()


def test_keys_in_a_file_are_found(tmp_path, monkeypatch):
    with filled(store("s3")) as (root, _, known):
        (tmp_path / "credentials").write_text(
            f"[lab]\naws_access_key_id={known.options['key']}\naws_secret_access_key={known.options['secret']}\n"
        )
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
        options = {"profile": "lab", "endpoint_url": known.options["endpoint_url"]}
        assert len(SOURCES["cloud"].listed(root, options)) == len(FILES)


# The emulator of GCS takes two minutes to store that many files.
@pytest.mark.parametrize("kind", ["s3", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("gs", "az"))])
def test_a_listing_of_more_than_a_page_is_whole(kind):
    known = store(kind)
    root = f"{known.root}/{uuid.uuid4().hex}"
    system, base = url_to_fs(root, **known.options, skip_instance_cache=True)
    names = [f"shards/{number:05d}.txt" for number in range(1203)]
    system.pipe({f"{base}/{name}": b"x" for name in names})
    assert [file.path for file in SOURCES["cloud"].listed(root, known.options)] == names
    assert len(SOURCES["cloud"].listed(f"{root}/shards/000*.txt", known.options)) == 100


def test_a_member_of_an_archive_in_a_bucket_is_read(tmp_path):
    with filled(store("s3")) as (root, write, known):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("inner/one.csv", FILES["one.csv"])
        write("a.zip", (tmp_path / "a.zip").read_bytes())
        options = {"s3": known.options}
        (file,) = SOURCES["cloud"].listed(f"zip://inner/*.csv::{root}/a.zip", options)
        assert SOURCES["cloud"].opened(file, options).read() == FILES["one.csv"]
        assert Path(SOURCES["cloud"].fetched([file], options)[0]).read_bytes() == FILES["one.csv"]


ACTS = {
    "write": lambda path, options: storage.write_jsonl(path, [{"a": 1}], storage_options=options),
    "append": lambda path, options: storage.write_jsonl(path, [{"a": 1}], append=True, storage_options=options),
    "remove": lambda path, options: storage.remove(path, storage_options=options),
    "export": lambda path, options: Dataset.from_dict({"a": [1]}).to_parquet(path, storage_options=options),
    "read": lambda path, options: storage.open(path, storage_options=options),
    "list": lambda path, options: storage.listdir(path.rpartition("/")[0], storage_options=options),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("kind", ["s3", "az"])
def test_who_may_not_is_told_where_and_what_to_do(kind, act):
    with filled(store(kind)) as (root, _, known):
        with pytest.raises(AccessDeniedError, match="storage_options") as caught:
            ACTS[act](f"{root}/one.csv", known.wrong)
        assert isinstance(caught.value, PermissionError) and root in str(caught.value)
        told = "".join(traceback.format_exception(caught.value))
        assert not any(secret in told for secret in secrets_of(known.wrong))
        (file,) = SOURCES["cloud"].listed(f"{root}/one.csv", known.options)
        assert SOURCES["cloud"].opened(file, known.options).read() == FILES["one.csv"]


@pytest.mark.parametrize("kind", ["gs"])
def test_a_bucket_that_is_not_there_cannot_be_written_to(kind):
    known = store(kind)
    with pytest.raises(FileNotFoundError, match="bucket or folder to write to does not exist"):
        ACTS["write"](f"{kind}://{uuid.uuid4().hex}/a.jsonl", known.options)


def test_a_source_of_somebody_else_is_found_by_its_scheme(tmp_path, monkeypatch):
    monkeypatch.setattr(SOURCES, "entries", dict(SOURCES.entries))
    local, file = SOURCES["local"], tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n{"a": 2}\n')

    def listed(url, options):
        (found,) = local.listed(url.replace("shelf:/", str(tmp_path)), options)
        return [replace(found, url=url)]

    def opened(found, options):
        return file.open("rb")

    def fetched(files, options):
        return [str(file) for _ in files]

    SOURCES.add(Source("shelf", ("shelf",), listed, opened, fetched))
    for streaming in (False, True):
        rows = load_dataset("json", data_files="shelf://rows.jsonl", split="train", streaming=streaming)
        assert [row["a"] for row in rows] == [1, 2]
