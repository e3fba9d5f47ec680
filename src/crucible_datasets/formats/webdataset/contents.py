"""The files of a sample as values: JSON parsed, text trimmed, integers, arrays, media that wait; the rest as bytes."""

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
    """What was met while reading: samples given, members passed over by reason, JSON that is none."""

    samples: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    invalid_json: int = 0


@dataclass(frozen=True)
class MediaFile:
    """A picture, a sound, a film or a mesh: its bytes, its name, and what it is once it is looked at."""

    bytes: bytes
    path: str
    feature: Any = field(repr=False)

    def decode(self) -> Any:
        """What the feature makes of it: a picture, an array of samples."""
        return self.feature.decode_example({"bytes": self.bytes, "path": self.path})


class _Field(NamedTuple):
    """How the files of one extension are shown."""

    name: str
    decode: Decode | None  # None: bytes as they are
    media: Any = None
    is_users: bool = False


class Contents(dict[str, _Field]):
    """Turns the files of samples into values; each extension is looked up once."""

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
        if len(self) > 1000:  # names of an archive, however many there are
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
        """The values of a sample; of files that were not wanted there are none."""
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
        """Raise if a file of a sample takes the place of another, or of what all samples have."""
        taken = {KEY, URL}
        for extension in [extension for extension, content in raw.files.items() if content is not None]:
            name, member = self[extension].name, f"{raw.key}.{extension}"
            if name in taken:
                raise in_the_place_of(name, member, url, raw.begin)
            taken.add(name)

    def _explain(self, error: Exception, raw: RawSample, extension: str, url: str) -> None:
        """Say which member an error is about: that of a user's function stays what it is."""
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
