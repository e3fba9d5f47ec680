"""R33: the viewer answers to its own pages that know the token, only reads, and reads nothing outside of its data."""

import itertools
import os
from pathlib import Path
from urllib.parse import quote

import pytest
from support.command import crucible
from support.runs import run_of
from support.viewers import PIXEL, served

from crucible_datasets import Dataset, Features, Image, ResultStore, Value, load_dataset, view
from crucible_datasets.exceptions import ArgumentError, OutOfBoundsError

SECRET = "the-secret-of-another-folder"
DATA = "/data/0.json"
PAGES = [
    "/",
    "/index.json",
    "/data/0",
    DATA,
    "/data/0/rows.json",
    "/data/0/row/0.json",
    "/data/0/place/0.json",
    "/data/0/summary.json?column=n",
    "/data/0/media/-/train/0/image",
    "/data/0/download.csv",
    "/results/1",
    "/results/1.json",
    "/results/1/run/a-run.json",
    "/results/1/compare.json?runs=a-run,b-run",
    "/results/1/samples.json?runs=a-run",
    "/results/1/sample/q0.json?runs=a-run",
    "/assets/app/main.js",
    "/assets/report/charts.js",
]
NOT_THERE = ["/nothing", "/data/7.json", "/assets/nothing.js", "/data/0/rows.json?limit=x", "/data/0/download.exe"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "secret.txt").write_text(SECRET)
    return folder


@pytest.fixture(scope="module")
def asking(place):
    rows = [{"n": number, "text": SECRET[:3], "image": {"bytes": PIXEL, "path": None}} for number in range(5)]
    rows += [
        {"n": 5 + at, "text": "", "image": {"bytes": bad, "path": "x.png"}} for at, bad in enumerate(PAGES_AS_MEDIA)
    ]
    features = Features({"n": Value("int64"), "text": Value("string"), "image": Image(decode=False)})
    store = ResultStore(place / "store")
    for model in "ab":
        store.save(run_of(model, [1, 0, None]))
    with served(Dataset.from_list(rows, features=features), store) as made:
        yield made


PAGES_AS_MEDIA = [
    b"<svg onload=alert(1)>",
    b"<!doctype html><script>1</script>",
    b"<?xml version='1.0'?><svg/>",
    b"%PDF-1.7",
]


def test_nothing_is_told_without_the_token(asking):
    wrong = [{}, {"X_Crucible_Token": "x"}, {"X_Crucible_Token": ""}, {"Cookie": f"crucible-{asking.viewer.port}=x"}]
    wrong += [{"Cookie": f"crucible-1={asking.viewer.token}"}, {"Authorization": asking.viewer.token}]
    for path in PAGES + NOT_THERE:
        assert asking(path).status != 401
        queries = ["", "token=", "token=x", f"Token={asking.viewer.token}", "token=x&token="]
        for headers, query in [*((each, "") for each in wrong), *(({}, each) for each in queries)]:
            answer = asking(f"{path}{'&' if '?' in path else '?'}{query}", token=False, **headers)
            assert answer.status == 401, (path, headers, query)
            assert b"token" in answer.body and len(answer.body) < 400
            assert "set-cookie" not in answer.headers


def test_the_token_in_the_address_becomes_a_cookie(asking):
    own = asking.viewer.origin.removeprefix("http://")
    for path, place in (
        (f"{DATA}?where=n>1&token={{}}&q=a%26b", f"{DATA}?where=n%3E1&q=a%26b"),
        ("//evil.example/%0d%0aX:y?token={}", "/evil.example/%0D%0AX%3Ay"),
    ):
        token = asking.viewer.url.partition("?token=")[2]
        first = asking(path.format(token), token=False)
        assert first.status == 303 and "set-cookie" not in first.headers
        base, _, rest = first.headers["location"].partition(own)
        assert base == "http://" and rest.startswith(place) and token not in rest
        answer = asking(rest, token=False, Host=own)
        assert answer.status == 303 and answer.headers["location"] == place
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie and "max-age" not in cookie.lower() and "expires" not in cookie.lower()
        cookie = cookie.split(";")[0]
        assert asking(DATA, token=False, Cookie=cookie, Host=own).status == 200
        assert asking(DATA, token=False, Cookie=cookie).status == 401, "every port receives the cookies of 127.0.0.1"
        for used in (path.format(token), rest):
            assert asking(used, token=False, Host=own).status == 401


def test_no_other_name_is_answered_to(asking):
    port = asking.viewer.port
    own = ["127.0.0.1", "LocalHost", "[::1]"]
    foreign = [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example#127.0.0.1",
        "127.0.0.2",
        "0.0.0.0",
        "127.1",
        "0x7f.1",
    ]
    # A tunnel has another port.
    assert {asking(DATA, Host=f"{name}{end}").status for name in own for end in (f":{port}", ":9000", "")} == {200}
    foreign = [
        *foreign,
        *(f"{name}:{port}" for name in foreign),
        "",
        f":{port}",
        f"evil@127.0.0.1:{port}",
    ]
    for path, name in itertools.product(PAGES, foreign):
        answer = asking(path, Host=name)
        assert answer.status in (400, 403) and b"rows" not in answer.body, (path, name)


def test_pages_of_others_are_not_answered_to(asking):
    port = asking.viewer.port
    for origin in (
        "http://evil.example",
        f"http://evil.example:{port}",
        "null",
        f"http://127.0.0.1:{port + 1}",
        "",
        f"https://127.0.0.1:{port}",
    ):
        assert asking(DATA, Origin=origin).status == 403, origin
    assert asking(DATA, Origin=f"http://127.0.0.1:{port}").status == 200
    for site, goal in itertools.product(("cross-site", "same-site"), ("empty", "script", "image", "iframe", "embed")):
        assert asking(DATA, Sec_Fetch_Site=site, Sec_Fetch_Dest=goal).status == 403, (site, goal)
    assert asking("/data/0", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="document").status == 200
    assert asking("/data/0", token=False, Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="document").status == 401


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
def test_it_only_reads(asking, method):
    assert {asking(path, method=method, Content_Length="0").status for path in PAGES} == {405}


def test_every_answer_says_what_a_browser_may_do_with_it(asking):
    token = asking.viewer.url.partition("?token=")[2]
    answers = [asking(path) for path in PAGES + NOT_THERE] + [asking("/", method="POST"), asking("/", token=False)]
    answers += [asking("/", Host="evil.example"), asking(f"/?token={token}", token=False), asking("/", method="HEAD")]
    assert {answer.status for answer in answers} >= {200, 303, 400, 401, 403, 404, 405}
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not [name for name in answer.headers if name.startswith("access-control")]


UPS = ["../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..\\", "..%5c", "%252e%252e%252f", "....//", "..;/", "%c0%ae%c0%ae/"]
UPS += ["..%00/", "%uff0e%uff0e/", ".%2e/", "..%c0%af", "..%u2215", "/..//../", "./../", "%5c..%5c..%5c", "file:///"]
ROOTS = [
    "/assets/",
    "/assets/app/",
    "/assets/report/",
    "/data/0/media/-/train/0/image/",
    "/data/0/media/-/",
    "/data/0/",
    "/",
]


def test_no_way_of_writing_a_path_leads_out(asking, place):
    secret = str(place / "secret.txt")
    goals = ["etc/passwd", secret.lstrip("/"), "crucible_datasets/__init__.py"]
    tried = [f"{root}{up * 9}{goal}" for root, up, goal in itertools.product(ROOTS, UPS, goals)]
    tried += [
        f"{root}{goal}"
        for root in ROOTS
        for goal in (secret, quote(secret, safe=""), "//etc/passwd", "%2fetc%2fpasswd")
    ]
    assert len(tried) >= 200
    for path in tried:
        answer = asking(path)
        assert not any(sign in answer.body for sign in (b"root:", SECRET.encode(), b"_HOMES")), path
        assert answer.status in (400, 404) or answer.body.startswith(b"<!doctype html>"), (path, answer)


def test_media_come_from_cells_and_are_never_pages(asking):
    picture = asking("/data/0/media/-/train/0/image")
    assert (picture.headers["content-type"], picture.body) == ("image/png", PIXEL)
    for row, content in enumerate(PAGES_AS_MEDIA, start=5):
        answer = asking(f"/data/0/media/-/train/{row}/image")
        assert answer.body == content and answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"] == "attachment"
    for path in ("text", "image/path", "image/bytes", "nothing", "", "image/0", "__row__"):
        assert asking(f"/data/0/media/-/train/0/{path}").status in (400, 404), path
    assert asking("/data/0/media/-/train/99/image").status == 404


def test_paths_in_foreign_data_are_not_followed(place, tmp_path):
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "own" / "in.png").write_bytes(PIXEL)
    (tmp_path / "own" / "metadata.jsonl").write_text('{"file_name": "in.png", "n": 1}\n')
    secret = str(place / "secret.txt")
    query = quote(f"select {{'bytes': null::blob, 'path': '{secret}'}} as image from self")
    rows = [{"image": secret}, {"image": f"../{place.name}/secret.txt"}, {"image": f"file://{secret}"}]
    Dataset.from_list(rows).to_json(tmp_path / "other" / "train.jsonl")
    bound = load_dataset(str(tmp_path / "other"), features=Features({"image": Image()}))
    alone = Dataset.from_list([{"image": {"bytes": PIXEL, "path": None}}], features=Features({"image": Image()}))
    with served(str(tmp_path / "own"), bound, alone) as asking:
        for sql in ("", "?sql=select%20*%20from%20self"):
            assert asking(f"/data/0/media/-/train/0/image{sql}").body == PIXEL
            assert asking(f"/data/2/media/-/train/0/image{sql}").body == PIXEL
        answers = [asking(f"/data/1/media/-/train/{row}/image{sql}") for row in range(3)]
        answers += [asking(f"/data/1/media/-/train/{row}/image") for row in range(3)]
        answers += [asking(f"/data/{data}/media/-/train/0/image?sql={query}") for data in range(3)]
        for answer in answers:
            assert answer.status in (400, 404) and SECRET.encode() not in answer.body, answer


def test_a_query_over_foreign_data_keeps_its_bounds(place, tmp_path):
    Dataset.from_list([{"image": str(place / "secret.txt")}]).to_json(tmp_path / "train.jsonl")
    found = load_dataset(str(tmp_path), features=Features({"image": Image()}))["train"].sql("select * from self")
    with pytest.raises(OutOfBoundsError):
        found[0]


QUERIES = [
    "select * from read_csv('{secret}')",
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from '{secret}'",
    "select content from read_text('{folder}/*')",
    "select * from glob('{folder}/*')",
    "select * from self, read_json_auto('{secret}')",
    "select * from parquet_metadata('{secret}')",
    "select (select content from read_text('{secret}')) as x from self",
    "copy self to '{folder}/out.csv'",
    "copy (select 1) to '{folder}/out.parquet'",
    "export database '{folder}/out'",
    "attach '{folder}/out.db' as other",
    "install httpfs",
    "load httpfs",
    "set enable_external_access = true",
    "pragma database_list",
    "create table x as select 1",
    "select 1; copy self to '{folder}/out.csv'",
    "select * from self; attach '{folder}/out.db'",
]


def test_queries_see_the_rows_and_nothing_else(asking, place):
    before = sorted(os.listdir(place))
    for query in QUERIES:
        text = query.format(secret=place / "secret.txt", folder=place)
        for path in (
            f"/data/0.json?sql={quote(text)}",
            f"/data/0/rows.json?where={quote(text)}",
            f"/data/0/rows.json?where={quote(f'n in ({text})')}",
        ):
            answer = asking(path)
            assert answer.status == 400 and SECRET.encode() not in answer.body, (path, answer)
    assert sorted(os.listdir(place)) == before


def test_looking_changes_nothing(asking, place):
    def state():
        return {
            path: (os.stat(path).st_mtime_ns, Path(path).read_bytes())
            for folder, _, files in os.walk(place)
            for path in (os.path.join(folder, name) for name in files)
        }

    before = state()
    for path in [*PAGES, "/data/0.json?where=n>1&sort=-n&seed=2&q=t", "/data/0/download.parquet?where=n>1"]:
        assert asking(path).status == 200, path
    assert state() == before


def test_others_are_let_in_only_on_request():
    rows = Dataset.from_dict({"n": [1]})
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(ArgumentError, match="others could reach it"):
            view(rows, host=host, browser=False)
        ran = crucible("view", "nothing", "--host", host, "--no-browser")
        assert ran.code != 0 and "--allow-remote" in ran.err
    with served(rows, host="0.0.0.0", remote=True) as asking:
        assert asking(DATA).status == 200
        assert asking(DATA, token=False).status == 401
        assert asking(DATA, Host=f"evil.example:{asking.viewer.port}").status == 403
