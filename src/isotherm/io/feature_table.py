"""Tables of attributes to numbers: `FeatureTable` reads each column as a number, a date, a category or a text.

`raw_column` turns a column of any container into numbers, texts or vectors, with NaN or None where a value is missing.
Texts that are all numbers or dates become such. Then an `Encoder` turns the column into one or more columns of numbers,
of which the squares add up to about 1 on average, so that every column of the table has about the same weight.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from isotherm.arrays import Doubles
from isotherm.choices import DecimalSign
from isotherm.errors import Option, ParameterError, first_few
from isotherm.io.columns import ANSWERS, is_index_name, is_numbering_name, named
from isotherm.io.errors import shorten
from isotherm.io.number_styles import NumberStyle, find_style, unclear_number
from isotherm.seeds.encoding import is_missing_word, is_none
from isotherm.tables import aligned, counted, shown

Values: TypeAlias = NDArray[Any]  # (n,) floats with NaN, or texts with None; (n, p) floats

FEW_VALUES = 40  # a category with more values is hashed, or read as texts
RARE = 0.002  # share of the rows up to which the values of a category share a column
MANY_ROWS = 100  # rows from which values can be rare
HASHED = 256  # columns of a hashed category
MOST_WORDS = 5_000  # columns of a text
DISTINCT = 0.95  # share of distinct values from which a column may be an identifier
NUMBERED = 20  # rows from which consecutive integers are a numbering
REPEATED = 0.5  # share of different words up to which distinct texts are no identifiers
SQUASHED = 3.0  # bound of numbers, in robust standard deviations
NORMAL = 1.349  # distance between the quartiles of a normal distribution, in standard deviations
MOST_SHOWN = 8
TIME = r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?)?(?:Z| ?[+-]\d\d:?\d\d)?"
YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})" + TIME)
YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})" + TIME)
EPOCH = datetime(1970, 1, 1)
DAY = 86_400.0  # seconds
WORDS = re.compile(r"\w\w+")


class FeatureColumn(NamedTuple):
    """How a column of a table was read.

    Attributes
    ----------
    name : str
        Its name, or its number from 1 in a table without names.
    kind : str
        number, date, category, text or vector; empty if it was left out.
    detail : str
        More about it, or why it was left out.
    width : int
        How many numbers it became.
    """

    name: str
    kind: str
    detail: str = ""
    width: int = 0

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.kind, self.detail))) if self.kind else f"left out: {self.detail}"


class FeatureTable(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Reads a table of attributes into numbers, and remembers how each column was read.

    Numbers and dates are centred at their median and divided by a robust standard deviation, and outliers are drawn in.
    A missing value becomes the median, and a further column says that it was missing. Categories and truth values
    become a column for each value, of which rare ones share one; with many values they are hashed. Texts become the
    weights of their words (TF-IDF). A table of complete numbers alone is not changed. The numbers are in the
    order of the names of the columns, so that the order of columns does not matter.

    Columns that cannot tell anything are left out: identifiers, columns with one value only, and those named label,
    class or target, which may hold the answer.

    Parameters
    ----------
    columns : list of str, optional
        The columns to use, also those that would be left out; by default all that may tell something.
    ignore : list of str
        Columns to leave out.
    text : str, optional
        A column to be read as texts, whatever it holds; the only one that is used, unless ``columns`` names others.
    decimal : {".", ","}, optional
        The decimal sign of numbers that are written as text; by default found, where it is clear.
    thousands : bool
        Whether commas set off thousands, as in 1,033.17.

    Attributes
    ----------
    columns_ : list of FeatureColumn
        Every column of the table, and how it was read.

    Examples
    --------
    >>> import isotherm as iso
    >>> people = {"country": ["FR", "US", "FR"], "age": [48, None, 30], "planet": ["Earth", "Earth", "Earth"]}
    >>> table = iso.FeatureTable().fit(people)
    >>> print(table)
    column   read as
    country  category, 2 values
    age      number, 1 missing
    planet   left out: one value only
    >>> table.get_feature_names_out().tolist()
    ['age', 'age is missing', 'country=FR', 'country=US']
    >>> table.transform({"country": ["US"], "age": [39]}).toarray().tolist()
    [[0.0, 0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        *,
        text: str | None = None,
        decimal: DecimalSign | None = None,
        thousands: bool = False,
    ) -> None:
        self.columns = columns
        self.ignore = ignore
        self.text = text
        self.decimal = decimal
        self.thousands = thousands

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out how each column is to be read.

        Parameters
        ----------
        X : DataFrame of pandas or polars, dict of columns, or array
            The table.
        y
            Not used.
        """
        self._learn(columns_of(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The same as `fit` and then `transform`, but the table is read once."""
        return self._joined(self._learn(columns_of(X)))

    def transform(self, X: Any) -> Any:
        """The numbers (n, d) of a table with these columns: a sparse matrix, or an array if all are complete numbers.

        A value that was not there before, such as another country, counts as a rare one.
        """
        check_is_fitted(self, "encoders_")
        given = columns_of(X)
        for name in self.encoders_.keys() - given.keys():
            raise ParameterError("the table has no column {column}, which it had before: add it", column=shorten(name))
        return self._joined({name: self._reread(name, given[name]) for name in self.encoders_})

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """(d,) the names of the numbers, such as country=FR."""
        check_is_fitted(self, "encoders_")
        names = (encoder.names(name) for name, encoder in self.encoders_.items())
        return np.array([each for some in names for each in some], dtype=object)

    @property
    def places(self) -> dict[str, slice]:
        """Where the numbers of each column are, by its name."""
        widths = {name: len(encoder.names(name)) for name, encoder in self.encoders_.items()}
        ends = np.cumsum(list(widths.values())).tolist()
        return {name: slice(end - widths[name], end) for name, end in zip(widths, ends, strict=True)}

    def __str__(self) -> str:
        if not hasattr(self, "columns_"):
            return repr(self)
        rows = [[shown(column.name), str(column)] for column in self.columns_]
        return aligned([["column", "read as"], *rows], left=(0, 1))

    def _learn(self, given: Mapping[str, Any]) -> dict[str, "Raw"]:
        self._check(given)
        wanted, reasons, read = self._wanted(), dict[str, str](), dict[str, Raw]()
        for name, values in given.items():
            if wanted is not None and name not in wanted:
                reasons[name] = "not asked for"
            elif name in self.ignore:
                reasons[name] = "ignored"
            else:
                read[name] = self._read(name, values)
        self._check_styles(read)
        for name, raw in read.items():
            reason = _one_value(raw) if wanted is not None else _useless(name, raw)
            reasons |= {name: reason} if reason else {}
        self.read_ = {name: raw._replace(values=None) for name, raw in read.items()}
        encoders = {
            name: TextEncoder(raw.values) if name == self.text else encoder_of(raw)
            for name, raw in read.items()
            if name not in reasons
        }
        plain = all(encoder.plain for encoder in encoders.values())  # such a table is not changed
        self.encoders_: dict[str, Encoder] = encoders if plain else dict(sorted(encoders.items()))
        self._check_any(reasons)
        used = {
            name: FeatureColumn(name, each.kind, each.detail, len(each.names(name)))
            for name, each in self.encoders_.items()
        }
        self.columns_ = [used.get(name) or FeatureColumn(name, "", reasons[name]) for name in given]
        return {name: read[name] for name in self.encoders_}

    def _check(self, given: Mapping[str, Any]) -> None:
        if self.decimal not in (None, ".", ","):
            raise ParameterError("{given}, but it must be '.' or ','", given=Option("decimal", self.decimal))
        picks = {"feature_columns": self.columns, "ignore_columns": self.ignore, "text": [self.text]}
        for option, names in picks.items():
            for name in names or ():
                if name is not None and name not in given:
                    there = first_few(list(given), text=shorten)
                    message = "the table has no column named {column} for {option}: there are {there}"
                    raise ParameterError(message, column=shorten(name), option=Option(option), there=there)

    def _check_any(self, reasons: Mapping[str, str]) -> None:
        if not self.encoders_:
            found = (f"{shorten(name)}: {why}" for name, why in list(reasons.items())[:MOST_SHOWN])
            listed = "; ".join(found) or "there is none besides ids"
            message = "no column of the table can be used ({listed}): name some with {columns}"
            raise ParameterError(message, listed=listed, columns=Option("feature_columns"))

    def _wanted(self) -> list[str] | None:
        """The columns to use; None for all that may tell something."""
        if self.text is None:
            return None if self.columns is None else list(self.columns)
        return [*(self.columns or ()), self.text]

    def _read(self, name: str, values: Any) -> "Raw":
        raw = raw_column(name, values)
        if name == self.text:
            return raw.as_texts(name)
        return raw.typed(name, self.decimal, self.thousands)

    def _reread(self, name: str, values: Any) -> "Raw":
        """A column of other rows, in the kind that it had."""
        before, raw = self.read_[name], raw_column(name, values)
        if before.kind == TEXT:
            return raw.as_texts(name)
        if raw.kind == TEXT:
            raw = raw.parsed(name, before)
        if raw.kind != before.kind:
            message = "the column {column} holds a {now} now, and held a {kind} before: give it in the same form"
            raise ParameterError(message, column=shorten(name), now=raw.kind, kind=before.kind)
        return raw

    def _check_styles(self, read: Mapping[str, "Raw"]) -> None:
        """Ask how 1.284 is meant, if other columns have decimal commas."""
        styles = {name: raw.style for name, raw in read.items() if raw.style is not None}
        comma = next((name for name, style in styles.items() if style.decimal == ","), None)
        unclear = next(((name, style.unclear) for name, style in styles.items() if style.unclear), None)
        if self.decimal is None and comma is not None and unclear is not None:
            raise unclear_number(unclear[1], unclear[0], f", since {shorten(comma)} has decimal commas")

    def _joined(self, read: Mapping[str, "Raw"]) -> Any:
        if all(encoder.plain for encoder in self.encoders_.values()):
            return np.column_stack([read[name].values for name in self.encoders_])
        return csr_array(hstack([encoder.encode(read[name].values) for name, encoder in self.encoders_.items()]))


def columns_of(table: Any) -> dict[str, Any]:
    """The columns of a table, by their names as text; by their numbers from 1 if it has none."""
    if isinstance(table, Mapping):
        return {str(name): values for name, values in table.items()}
    if hasattr(table, "columns"):  # pandas and polars
        names = list(table.columns)
        if len({str(name) for name in names}) < len(names):
            raise ParameterError("the table has two columns of the same name: rename one of them")
        return {str(name): table[name] for name in names}
    rows = np.asarray(table)
    if rows.ndim != 2:
        raise ParameterError("a table must have two dimensions, not the shape {shape}", shape=rows.shape)
    return {str(place + 1): rows[:, place] for place in range(rows.shape[1])}


NUMBER, DATE, TEXT, VECTOR = "number", "date", "text", "vector"


class Raw(NamedTuple):
    """A column as it was read."""

    kind: str  # number, date, text or vector
    values: Any  # (n,) floats with NaN, or texts with None; (n, p) floats
    style: NumberStyle | None = None  # how its numbers were written, if they were texts
    day_first: bool = True  # whether dates such as 1/2/2020 begin with the day

    @property
    def known(self) -> Values:
        """The values that are not missing."""
        if self.kind == TEXT:
            return _given(self.values)
        return self.values[~np.isnan(self.values)] if self.kind != VECTOR else self.values

    def as_texts(self, name: str) -> "Raw":
        """The same as texts."""
        if self.kind == TEXT:
            return self
        if self.kind == VECTOR:
            raise ParameterError(
                "the column {column} holds lists, not texts: choose another column", column=shorten(name)
            )
        texts = [None if value != value else f"{value:g}" for value in self.values.tolist()]
        return Raw(TEXT, _objects(texts))

    def typed(self, name: str, decimal: str | None, thousands: bool) -> "Raw":
        """Numbers or dates, if all known texts are such; else the same."""
        if self.kind != TEXT or not len(self.known):
            return self
        distinct = set(self.known.tolist())
        try:
            style = find_style(distinct, decimal=decimal, thousands=thousands)
        except ParameterError as error:
            raise unclear_number(error.facts["text"], name) from None
        if style is not None:
            return self.parsed(name, Raw(NUMBER, None, style))
        first = _day_first(distinct)
        return self if first is None else self.parsed(name, Raw(DATE, None, day_first=first))

    def parsed(self, name: str, like: "Raw") -> "Raw":
        """Texts as numbers or dates that are written as in another column."""
        found = {None: np.nan}
        for text in set(self.known.tolist()):
            try:
                if like.kind == DATE:
                    found[text] = _days(text, like.day_first)
                else:
                    found[text] = (like.style or NumberStyle()).number(text)
            except ValueError:
                message = "the column {column} has {text}, which is no {kind}: correct it, or leave it empty"
                facts = {"column": shorten(name), "text": shorten(text), "kind": like.kind}
                raise ParameterError(message, **facts) from None
        return like._replace(values=np.array([found[text] for text in self.values.tolist()], dtype=np.float64))


def as_array(values: Any) -> NDArray[Any]:
    """The values of a column, in any container; objects if it is no array."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    return array if isinstance(array, np.ndarray) else _objects(list(array))


def raw_column(name: str, values: Any) -> Raw:
    """A column of any container; truth values become texts, and empty or missing ones None or NaN."""
    array = as_array(values)
    if array.ndim == 2:
        return Raw(VECTOR, _finite(name, array.astype(np.float64)))
    if array.dtype.kind in "iuf":
        return Raw(NUMBER, _finite(name, array.astype(np.float64)))
    if array.dtype.kind == "M":
        return Raw(DATE, _from_times(array))
    if array.dtype.kind == "m":
        return Raw(NUMBER, _from_times(array))
    return _from_objects(name, array.tolist())


def _without_zone(item: Any) -> date | None:
    """A date or a time; that of a time zone becomes the one in Greenwich, which NumPy can store."""
    if is_none(item):
        return None
    zoned = isinstance(item, datetime) and item.tzinfo is not None
    return item.astimezone(UTC).replace(tzinfo=None) if zoned else item


def _from_objects(name: str, items: list[Any]) -> Raw:
    known = [item for item in items if not is_none(item)]
    if known and all(isinstance(item, Real | Decimal) and not isinstance(item, bool | np.bool_) for item in known):
        return Raw(NUMBER, _finite(name, np.array([np.nan if is_none(item) else float(item) for item in items])))
    if known and all(isinstance(item, date) for item in known):  # a datetime is a date too
        return Raw(DATE, _from_times(np.array([_without_zone(item) for item in items], "datetime64[us]")))
    if known and all(isinstance(item, Sequence | np.ndarray) and not isinstance(item, str) for item in known):
        return Raw(VECTOR, _finite(name, _vectors(name, items)))
    return Raw(TEXT, _objects([_text(item) for item in items]))


def _text(item: Any) -> str | None:
    text = None if is_none(item) else str(item).strip()
    return None if text is None or text.lower() == "none" or is_missing_word(text) else text


def _vectors(name: str, items: list[Any]) -> Doubles:
    lengths = {0 if is_none(item) else len(item) for item in items}
    if len(lengths) > 1:
        row = next(place for place, item in enumerate(items, 1) if is_none(item) or len(item) != len(items[0]))
        message = (
            "the list in row {row} of the column {column} is missing or has another length than the first: correct it"
        )
        raise ParameterError(message, row=row, column=shorten(name))
    return np.array([list(item) for item in items], dtype=np.float64)


def _from_times(times: Values) -> Doubles:
    """Days, NaN where there is none."""
    micro = times.astype(f"{times.dtype.kind}8[us]")
    return np.where(np.isnat(micro), np.nan, micro.astype(np.int64) / (1e6 * DAY))


def _finite(name: str, values: Doubles) -> Doubles:
    bad = np.isinf(values)
    if values.ndim == 2:
        bad |= np.isnan(values)
    if bad.any():
        row, kind = int(np.argwhere(bad)[0][0]) + 1, "infinite" if values.ndim == 1 else "missing or infinite"
        message = "the column {column} has a value in row {row} that is {kind}: correct it, or leave it empty"
        raise ParameterError(message, column=shorten(name), row=row, kind=kind)
    return values


def _given(texts: Values) -> Values:
    """The texts that are not missing."""
    return texts[np.array([text is not None for text in texts.tolist()], dtype=bool)]


def _objects(items: Sequence[Any]) -> Values:
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found


def _day_first(texts: Iterable[str]) -> bool | None:
    """Whether dates begin with the day, or the year; None if these are no dates."""
    matches = [YEAR_FIRST.fullmatch(text) or YEAR_LAST.fullmatch(text) for text in texts]
    if not all(matches):
        return None
    late = [match for match in matches if match and match.re is YEAR_LAST]
    first = not any(int(match[2]) > 12 for match in late)
    try:
        for text in texts:
            _days(text, first)
    except ValueError:
        return None
    return first


def _days(text: str, day_first: bool) -> float:
    """Days since 1970; raises ValueError if the text is no date."""
    match = YEAR_FIRST.fullmatch(text) or YEAR_LAST.fullmatch(text)
    if match is None:
        raise ValueError(text)
    one, two, three, hour, minute, second = (int(part or 0) for part in match.groups())
    year, month, day = (one, two, three) if match.re is YEAR_FIRST else (three, two, one)
    if match.re is YEAR_LAST and not day_first:
        month, day = day, month
    return (datetime(year, month, day, hour, minute, second) - EPOCH).total_seconds() / DAY


def _one_value(raw: Raw) -> str:
    """Why a column tells nothing: it has no value, or the same everywhere; empty if it may tell something."""
    if raw.kind == VECTOR:
        return ""
    known = raw.known
    if not len(known):
        return "no values"
    return "one value only" if len(known) == len(raw.values) and (known == known[0]).all() else ""


def _useless(name: str, raw: Raw) -> str:
    """Why a column is left out unless somebody asks for it."""
    if named([name], ANSWERS, ()) is not None:
        return "may hold the answer, by its name"
    return _one_value(raw) or ("identifier" if raw.kind != VECTOR and _identifies(name, raw) else "")


def _identifies(name: str, raw: Raw) -> bool:
    """Whether (nearly) all values differ and none can be compared: codes, names, numbers of rows."""
    known = raw.known
    distinct = len(set(known.tolist()))
    if raw.kind == DATE or distinct < max(2, DISTINCT * len(known)):
        return False
    if raw.kind == NUMBER:
        whole = distinct == len(known) and bool((known % 1 == 0).all())
        consecutive = len(known) >= NUMBERED and known.max() - known.min() == len(known) - 1
        return whole and bool(consecutive or is_index_name(name) or is_numbering_name(name))
    words = [word for text in known.tolist() for word in WORDS.findall(text.lower())]
    return distinct > FEW_VALUES and len(set(words)) > REPEATED * len(words)


class Encoder(ABC):
    """Turns the values of a column into numbers; made from the values that it is fitted on."""

    kind: str
    detail = ""
    plain = False  # whether the values are complete numbers

    @abstractmethod
    def encode(self, values: Values) -> csr_array:
        """(n, d) the numbers."""

    @abstractmethod
    def names(self, column: str) -> list[str]:
        """(d,) their names, given the name of the column."""


def _missing(count: int) -> str:
    return f"{count:,} missing" if count else ""


def encoder_of(raw: Raw) -> Encoder:
    """The encoder that suits the values of a column."""
    if raw.kind == VECTOR:
        return VectorEncoder(raw.values)
    if raw.kind != TEXT:
        return NumberEncoder(raw.values, raw.kind)
    known = raw.known.tolist()
    if len(set(known)) <= FEW_VALUES:
        return CategoryEncoder(raw.values)
    several_words = sum(len(WORDS.findall(text)) > 1 for text in known) > len(known) / 2
    return TextEncoder(raw.values) if several_words else HashEncoder(raw.values)


class NumberEncoder(Encoder):
    """A number or a date in robust standard deviations from the median, drawn in at 3, and whether it is missing."""

    def __init__(self, values: Doubles, kind: str) -> None:
        missing = int(np.isnan(values).sum())
        self.kind, self.missing, self.plain = kind, missing > 0, not missing and kind == NUMBER
        self.detail = _missing(missing)
        low, self.center, high = np.nanquantile(values, [0.25, 0.5, 0.75]).tolist()
        self.scale = (high - low) / NORMAL or float(np.nanstd(values)) or 1.0

    def encode(self, values: Doubles) -> csr_array:
        """(n, 1) the number, or (n, 2) with whether it is missing."""
        known = np.nan_to_num((values - self.center) / self.scale)
        columns = [known / np.sqrt(1 + (known / SQUASHED) ** 2)]
        return csr_array(np.column_stack([*columns, *[np.isnan(values)] * self.missing]), dtype=np.float64)

    def names(self, column: str) -> list[str]:
        """The column itself, and whether it is missing."""
        return [column, *[f"{column} is missing"] * self.missing]


class CategoryEncoder(Encoder):
    """A column for each value, one for all rare ones, and one for missing ones."""

    kind = "category"

    def __init__(self, values: Values) -> None:
        from sklearn.preprocessing import OneHotEncoder

        known = _given(values)
        missing = len(values) - len(known)
        least = max(2, int(np.ceil(RARE * len(values)))) if len(values) >= MANY_ROWS else 1
        counts = np.unique(known.astype(str), return_counts=True)[1]
        rare = int((counts < least).sum())
        self.one_hot = OneHotEncoder(
            min_frequency=least if rare > 1 else None, handle_unknown="infrequent_if_exist", dtype=np.float64
        ).fit(_column(values))
        values_and_rare = f"{len(counts)} values" + (f" ({rare} rare)" if rare > 1 else "")
        self.detail = ", ".join(filter(None, (values_and_rare, _missing(missing))))

    def encode(self, values: Values) -> csr_array:
        """(n, d) ones at the values."""
        return csr_array(self.one_hot.transform(_column(values)))

    def names(self, column: str) -> list[str]:
        """Such as country=FR."""
        found = self.one_hot.get_feature_names_out([""])
        return [f"{column}{name.replace('_', '=', 1).replace('infrequent_sklearn', '(rare)')}" for name in found]


def _column(values: Values) -> Values:
    """(n, 1) texts, with an empty text where one is missing."""
    return _objects([value or "" for value in values.tolist()])[:, None]


class HashEncoder(Encoder):
    """A category with many values: each has one of a fixed number of columns."""

    kind = "category"

    def __init__(self, values: Values) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer

        known = _given(values)
        self.hashing = HashingVectorizer(n_features=HASHED, analyzer=_whole, norm=None, alternate_sign=False)
        hashed = f"{len(set(known.tolist())):,} values, hashed to {HASHED}"
        self.detail = ", ".join(filter(None, (hashed, _missing(len(values) - len(known)))))

    def encode(self, values: Values) -> csr_array:
        """(n, d) a one at the hash of each value."""
        return csr_array(self.hashing.transform(values.tolist()))

    def names(self, column: str) -> list[str]:
        """The numbers of the hashes."""
        return [f"{column}#{place}" for place in range(HASHED)]


def _whole(text: str | None) -> list[str]:
    return [] if text is None else [text]


class TextEncoder(Encoder):
    """The weights of words, in rows of length 1."""

    kind = "text"

    def __init__(self, values: Values) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = _column(values)[:, 0].tolist()
        self.words = TfidfVectorizer(sublinear_tf=True, min_df=2 if len(texts) > 100 else 1, max_features=MOST_WORDS)
        try:
            self.words.fit(texts)
        except ValueError:
            raise ParameterError(
                "a column of texts has no words: choose another column with {text}", text=Option("text")
            ) from None
        self.detail = counted(len(self.words.vocabulary_), "word")

    def encode(self, values: Values) -> csr_array:
        """(n, d) the weights."""
        return csr_array(self.words.transform(_column(values)[:, 0].tolist()))

    def names(self, column: str) -> list[str]:
        """Such as description: garage."""
        return [f"{column}: {word}" for word in self.words.get_feature_names_out()]


class VectorEncoder(Encoder):
    """A list of numbers in each row, such as an embedding, whose squares add up to 1 on average."""

    kind = "vector"
    plain = True

    def __init__(self, values: Doubles) -> None:
        self.mean = values.mean(axis=0)
        self.length = float(np.sqrt(((values - self.mean) ** 2).sum(axis=1).mean())) or 1.0
        self.detail = counted(values.shape[1], "number")

    def encode(self, values: Doubles) -> csr_array:
        """(n, p) the vectors."""
        return csr_array((values - self.mean) / self.length)

    def names(self, column: str) -> list[str]:
        """The column with numbers from 1."""
        return [f"{column}[{place + 1}]" for place in range(len(self.mean))]
