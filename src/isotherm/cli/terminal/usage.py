"""Errors of the parser of arguments, each in one sentence."""

from typing import Any, Literal, get_args, get_origin

from cyclopts import CoercionError, CycloptsError, MissingArgumentError, UnusedCliTokensError, ValidationError

__all__ = ["usage_sentence"]

EXPECTED: dict[Any, str] = {int: "give a whole number", float: "give a number", bool: "give true or false"}


def usage_sentence(error: CycloptsError) -> str:
    """What is wrong with the arguments, and what to do."""
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"{error.unused_tokens[0]} is one argument too many"
    if isinstance(error, MissingArgumentError) and error.argument:
        return f"{error.keyword} needs a value" if error.keyword else f"{error.argument.name} is missing"
    if isinstance(error, CoercionError) and error.token:
        return f"{error.token.keyword} is {error.token.value}: {_expected(error.target_type)}"
    if isinstance(error, ValidationError) and error.argument:
        token = error.argument.tokens[0]
        return f"{token.keyword} is {token.value}: {error.exception_message}"
    sentences = " ".join(str(error).replace('"', "").split()).replace("?", ".").rstrip(".").split(". ")
    return "; ".join(sentence[:1].lower() + sentence[1:] for sentence in sentences)


def _expected(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"choose from {', '.join(get_args(kind))}"
    return EXPECTED.get(kind, "give another value")
