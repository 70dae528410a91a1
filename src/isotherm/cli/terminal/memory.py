"""Little memory: one sentence, also where a library would abort the process, or wait forever for a thread.

NumPy's OpenBLAS and polars reserve address space for each core when they are imported. Where that fails they abort or
hang, so a limit on address space (``ulimit -v``) that is too small for them is refused first. Later, an abort is
turned into the sentence by the kernels.
"""

import errno
import os

__all__ = ["check_address_space", "is_lack_of_memory", "memory_sentence", "reuse_memory"]

GIGA = 1 << 30
ALWAYS, EACH_THREAD = 1.5 * GIGA, 0.25 * GIGA  # measured: 1.5 GB with one thread and 1.7 GB with two were enough
REMEDIES = "use a machine with more, fewer threads (ISOTHERM_THREADS=1), or a smaller --max-memory"
SENTENCE = f"isotherm: there is not enough memory; {REMEDIES}"
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # as in malloc.h
KEPT, REUSED = 1 << 27, 1 << 24  # bytes
IN_IMPORTS = ("cannot allocate memory", "failed to map segment", "cannot map")


def check_address_space() -> None:
    """Refuse a limit below what the libraries need, and keep them to the threads that were asked for."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # Windows
        return
    limit = getrlimit(RLIMIT_AS)[0]
    if limit == RLIM_INFINITY:
        return
    asked = os.environ.get("ISOTHERM_THREADS", "")
    threads = (int(asked) if asked.isdecimal() else 0) or os.cpu_count() or 1
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ.setdefault(name, str(threads))
    needed = ALWAYS + EACH_THREAD * threads
    if limit < needed:
        given = f"a process may take {limit / GIGA:.1f} GB of address space here (ulimit -v)"
        wanted = f"isotherm needs {needed / GIGA:.2f} GB for {threads} thread{'s' * (threads > 1)}"
        remedy = "raise the limit" if threads == 1 else "raise the limit, or use fewer threads (ISOTHERM_THREADS=1)"
        raise MemoryError(f"{given}, but {wanted}; {remedy}")
    _say_on_abort()


def reuse_memory() -> None:
    """Have the GNU C library keep freed memory, up to 128 MB, and use it again for arrays of up to 16 MB.

    Otherwise it gives back each array of a few megabytes, and the system has to clear the pages of the next one.
    """
    from ctypes import CDLL

    try:
        mallopt = CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(TRIM_THRESHOLD, KEPT)
    mallopt(MMAP_THRESHOLD, REUSED)


def is_lack_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, by whatever the system or a library raised for it."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    if isinstance(error, ImportError):
        return any(words in str(error).lower() for words in IN_IMPORTS)
    return isinstance(error, RuntimeError) and "can't start new thread" in str(error)


def memory_sentence(error: BaseException) -> str:
    """The sentence for it: that of `check_address_space`, or the general one."""
    return f"isotherm: {error}" if "ulimit" in str(error) else SENTENCE


def _say_on_abort() -> None:
    """Have the sentence said where a library aborts, as polars does when memory runs out."""
    from isotherm import kernels

    if kernels.native is not None and hasattr(kernels.native, "say_on_abort"):
        kernels.native.say_on_abort(f"{SENTENCE}\n")
