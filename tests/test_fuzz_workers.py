"""The processes of `make fuzz`: crashes, hangs and wrong answers are counted, and a busy machine is not a hang."""

import os
import time

from tools.fuzz.workers import Job, Pool


def spin() -> None:
    while True:
        pass


def wait() -> None:
    time.sleep(1.5)


def wrong() -> str:
    return "wrong"


def end() -> None:
    os._exit(3)


def test_only_time_of_a_processor_is_limited() -> None:
    pool = Pool(workers=1, limit=0.3)
    jobs: list[Job] = [(time.sleep, (0,)), *((each, ()) for each in (wait, wrong, spin, end))]
    try:
        tally = pool.run(iter(jobs))
    finally:
        pool.close()
    assert tally.cases == 5
    assert [name.split(".")[-1] for name in tally.hangs] == ["spin()"]
    assert [name.split(".")[-1] for name in tally.wrong] == ["wrong(): wrong"]
    assert [name.split(".")[-1] for name in tally.crashes] == ["end(): exit status 3"]
