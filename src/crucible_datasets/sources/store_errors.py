"""Exceptions of storage clients → our errors, which name the URL and contain no secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from crucible_datasets.exceptions import (
    AccessDeniedError,
    DataFilesNotFoundError,
    DatasetsError,
    DownloadError,
    MissingPackageError,
    UploadError,
)
from crucible_datasets.sources.base import Options, scheme_of

_ADDRESS = re.compile(r"\w+://[^;@]*$")
_SIGNATURE = re.compile(r"(\w+://[^\s'\"?]+)\?[^\s'\"]+")  # a query may be a signature that grants access
_ELSEWHERE = re.compile(r" ?For more information check: \S+")  # a link that explains the HTTP status
_SHORTEST_SECRET = 6
_LONGEST_REASON = 300  # some stores respond with a page of XML
_CREATED = {"hf": " Create it first, as with HfApi().create_repo('org/name', repo_type='dataset')."}
_DENIED = {"401", "403"}
_DENIED_IN_WORDS = re.compile(r"client error \((401|403) |^Forbidden: ")  # hf_xet and gcsfs state no number
# Of botocore and google-auth; adlfs says it in words. Nothing was sent, since there was nothing to send.
_WITHOUT_KEYS = {"NoCredentialsError", "PartialCredentialsError", "ProfileNotFound", "DefaultCredentialsError"}
_WITHOUT_KEYS_IN_WORDS = re.compile("Must provide either a connection_string or account_name with credentials")
KINDS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az", "abfss": "az", "adl": "az"}
_PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs"}
_KEYS = {
    "s3": "Set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or pass storage_options with key and secret",
    "gs": "Set GOOGLE_APPLICATION_CREDENTIALS, run `gcloud auth application-default login`, or pass storage_options "
    "with token",
    "hf": "Log in with `hf auth login`, set HF_TOKEN, or pass token (of files: storage_options with token)",
    "az": "Set AZURE_STORAGE_CONNECTION_STRING, or pass storage_options with account_name and account_key",
}


@contextmanager
def store_errors(url: str, options: Options, writing: bool = False) -> Iterator[None]:
    """A block in which exceptions of a storage client become our errors."""
    try:
        yield
    except DatasetsError:
        raise
    except FileNotFoundError as error:
        raise DataFilesNotFoundError(url, _absence(url, writing)) from error
    except NotImplementedError as error:
        raise (UploadError if writing else DownloadError)(
            url, "this storage does not support the operation."
        ) from error
    except ImportError as error:
        if (extra := KINDS.get(scheme_of(url))) is None:
            raise
        raise MissingPackageError(str(error.name or _PACKAGES[extra]), extra) from error
    except Exception as error:  # each client has its own errors, few of them an OSError
        if any(_states(one, {"404"}) for one in _chain(error)):
            raise DataFilesNotFoundError(url, _absence(url, writing)) from error
        denied = next((one for one in _chain(error) if _is_denied(one)), None)
        reason = f"{type(denied or error).__name__}: {_reason(denied or error, options)}"
        if denied is not None:
            raise AccessDeniedError(url, f"{reason}. {_what_to_do(url)}") from error
        raise (UploadError if writing else DownloadError)(url, reason) from error


def _absence(url: str, writing: bool) -> str:
    if not writing:
        return "it does not exist."
    return f"the repository, bucket or folder to write to does not exist.{_CREATED.get(scheme_of(url), '')}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those it came from: adlfs hides a refusal behind a RuntimeError."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # clients that raise an error again may make a circle
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_denied(error: BaseException) -> bool:
    """Whether access was denied, with or without credentials."""
    if type(error).__name__ in _WITHOUT_KEYS or _WITHOUT_KEYS_IN_WORDS.search(str(error)):
        return True
    is_said = isinstance(error, OSError) and bool(_DENIED_IN_WORDS.search(str(error)))
    return isinstance(error, PermissionError) or is_said or _states(error, _DENIED)


def _states(error: BaseException, statuses: set[str]) -> bool:
    """Whether an error of a client comes from an answer with one of these HTTP statuses."""
    stated = (getattr(error, name, None) for name in ("status_code", "status", "code"))
    answered = getattr(getattr(error, "response", None), "status_code", None)
    return any(str(code) in statuses for code in (*stated, answered))


def _reason(error: BaseException, options: Options) -> str:
    reason = " ".join(str(error).split()).partition("Content: <?xml")[0]
    reason = _SIGNATURE.sub(r"\1?…", _ELSEWHERE.sub("", reason))
    for secret in _texts(options):
        reason = reason.replace(secret, "…")
    return reason[:_LONGEST_REASON].rstrip(". ")


def _what_to_do(url: str) -> str:
    kind = scheme_of(url)
    keys = _KEYS.get(KINDS.get(kind, kind), "Pass credentials as storage_options")
    return f"{keys}, and check that they grant access."


def _texts(options: Any) -> Iterator[str]:
    """The options that may be secrets: all strings except URLs."""
    if isinstance(options, Mapping):
        for value in options.values():
            yield from _texts(value)
    elif isinstance(options, str) and len(options) >= _SHORTEST_SECRET and not _ADDRESS.match(options):
        yield options
