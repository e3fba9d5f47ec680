"""The files of a sample as values: parsed JSON, stripped text, integers, arrays, undecoded media; the rest as bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, NamedTuple

from crucible_datasets.exceptions import DatasetsError, FileFormatError
from crucible_datasets.formats.webdataset import decoders
from crucible_datasets.formats.webdataset.decoders import Decode
from crucible_datasets.formats.webdataset.kinds import INTEGERS, TEXTS, last_part, media_of
from crucible_datasets.formats.webdataset.samples import KEY, URL, RawSample, in_the_place_of
from crucible_datasets.records import dataclass

Sample = dict[str, Any]
_TRIMMED = TEXTS | {"caption"}


@dataclass
class Report:
    """Counts of reading: samples yielded, members skipped by reason, invalid JSON."""

    samples: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    invalid_json: int = 0


@dataclass(frozen=True)
class MediaFile:
    """An image, audio, video or mesh file: its bytes and its name; decoded on request."""

    bytes: bytes
    path: str
    feature: Any = field(repr=False)

    def decode(self) -> Any:
        """The decoded media, as the feature decodes it."""
        return self.feature.decode_example({"bytes": self.bytes, "path": self.path})


class _Field(NamedTuple):
    """How the files of one extension are decoded."""

    name: str
    decode: Decode | None  # None: raw bytes
    media: Any = None
    is_users: bool = False


class Contents(dict[str, _Field]):
    """Decodes the files of samples; a dict that caches the decoder of each extension."""

    def __init__(
        self, decode: bool, own: Mapping[str, Callable[[bytes], Any]] | None, allow_pickle: bool, report: Report
    ) -> None:
        super().__init__()
        self._decode, self._allow_pickle, self._report = decode, allow_pickle, report
        self._own = {name.lower().lstrip("."): function for name, function in (own or {}).items()}
        self._json = decoders.json_decoder()

    def __missing__(self, extension: str) -> _Field:
        name, last = extension.lower(), last_part(extension)
        own = self._own.get(name) or self._own.get(last)
        if own is not None:
            found = _Field(name, own, None, True)
        elif not self._decode:
            found = _Field(name, None)
        else:
            found = _Field(name, self._decoder(name), media_of(extension))
        if len(self) > 1000:  # the extensions come from an untrusted archive
            self.clear()
        self[extension] = found
        return found

    def _decoder(self, name: str) -> Decode | None:
        rest, _, last = name.rpartition(".")
        if last == "gz":
            inner = self._decoder(rest)
            return decoders.gunzipped if inner is None else lambda content: inner(decoders.gunzipped(content))
        if last in ("json", "jsn"):
            return self._json_or_text
        if last in _TRIMMED:
            return decoders.trimmed
        known: dict[str, Decode] = {
            **decoders.PACKED,
            "jsonl": self._lines_or_text,
            "msgpack": decoders.msgpack,
            **dict.fromkeys(INTEGERS, int),
            **(dict.fromkeys(decoders.PICKLES, decoders.pickled) if self._allow_pickle else {}),
        }
        return known.get(last)

    def sample(self, raw: RawSample, url: str) -> Sample:
        """The values of a sample, without the files that were not requested."""
        key = raw.key
        sample: Sample = {KEY: key, URL: url}
        for extension, content in raw.files.items():
            name, decode, media, _ = self[extension]
            if content is None:
                continue
            if media is not None:
                sample[name] = MediaFile(content, f"{key}.{extension}", media)
            elif decode is None:
                sample[name] = content
            else:
                try:
                    sample[name] = decode(content)
                except Exception as error:
                    self._explain(error, raw, extension, url)
                    raise
        if len(sample) - 2 < len(raw.files):
            self._require_all(raw, url)
        return sample

    def _require_all(self, raw: RawSample, url: str) -> None:
        """Raise if two files of a sample get the same field name, or one gets the name of a metadata field."""
        taken = {KEY, URL}
        for extension in [extension for extension, content in raw.files.items() if content is not None]:
            name, member = self[extension].name, f"{raw.key}.{extension}"
            if name in taken:
                raise in_the_place_of(name, member, url, raw.begin)
            taken.add(name)

    def _explain(self, error: Exception, raw: RawSample, extension: str, url: str) -> None:
        """Add the name of the member to an error; errors of users' functions keep their type."""
        member = f"{raw.key}.{extension}"
        if self[extension].is_users or isinstance(error, DatasetsError):
            error.add_note(f"In member {member!r} of {url}.")
            return
        reason = f"member {member!r} is not what its extension says: {error}"
        raise FileFormatError(url, reason, None, raw.begin) from error

    def _json_or_text(self, content: bytes) -> Any:
        try:
            return self._json(content)
        except ValueError:
            self._report.invalid_json += 1
            return content.decode("utf-8", "replace")

    def _lines_or_text(self, content: bytes) -> Any:
        try:
            return decoders.json_lines(content)
        except ValueError:
            self._report.invalid_json += 1
            return content.decode("utf-8", "replace")
