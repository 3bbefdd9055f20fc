#!/usr/bin/env python3
"""Another judge of cron expressions, outside CI: compares the slots that `switchboard cron next` prints
for random expressions with those of croniter (`pip install croniter`, 6.1 or newer).

    tests/schedules/judges.py target/release/switchboard [--cases 500] [--seed N] [--zone Europe/Berlin]

croniter joins the day fields by OR even where one is `*/2`, so it is told how to join them. Where the
clock changes within the slots it follows rules of its own; such cases are counted and left out.
"""

import argparse
import datetime
import random
import subprocess
import sys
import tempfile
import zoneinfo

import croniter

FIELDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)]
COUNT = 5


def field(rng, low, high):
    """Without `2-2` and without a star behind another item: croniter takes both for any value."""
    def item():
        kind = rng.randrange(3)
        first, last = sorted(rng.sample(range(low, high + 1), 2))
        if kind == 0:
            return f"{first}-{last}"
        if kind == 1:
            return f"{first}-{last}/{rng.randint(1, 7)}"
        return str(first)

    chance = rng.random()
    if chance < 0.4:
        return "*"
    if chance < 0.55:
        return f"*/{rng.randint(2, 7)}"
    return ",".join(item() for _ in range(rng.choice([1, 1, 1, 2, 3])))


def ours(program, expression, zone, start):
    with tempfile.TemporaryDirectory() as home:
        command = [program, "--home", home, "cron", "next", expression, "--timezone", zone]
        command += ["--from", start.isoformat(), "--count", str(COUNT)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=20)
    return run.stdout.split() if run.returncode == 0 else None


def theirs(expression, start):
    fields = expression.split()
    joined_by_or = not (fields[2].startswith("*") or fields[4].startswith("*"))
    try:
        judge = croniter.croniter(expression, start, day_or=joined_by_or)
        return [judge.get_next(datetime.datetime).isoformat() for _ in range(COUNT)]
    except croniter.CroniterBadDateError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--zone", default="UTC")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    rng, zone = random.Random(options.seed), zoneinfo.ZoneInfo(options.zone)
    differ = changes = 0
    for _ in range(options.cases):
        expression = " ".join(field(rng, low, high) for low, high in FIELDS)
        start = datetime.datetime.fromtimestamp(rng.randint(946684800, 2082758400), zone)
        judged, found = theirs(expression, start), ours(options.program, expression, options.zone, start)
        if judged is None or found is None:
            # croniter gives up after 50 years, we after 400.
            differ += judged is not None
            continue
        if len({slot[19:] for slot in [start.isoformat(), *judged, *found]}) > 1:
            changes += 1
        elif judged != found:
            differ += 1
            print(f"{expression!r} in {options.zone} after {start.isoformat()}:\n  ours   {found}\n  theirs {judged}")
    print(f"{options.cases} cases, {changes} over a clock change left out, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
