"""Prints a line for each step: its name, and its problem if it failed."""

import asyncio


def reason(e):
    while isinstance(e, BaseExceptionGroup):
        e = e.exceptions[0]
    return (str(e) or type(e).__name__).splitlines()[0]


async def step(name, take):
    try:
        await asyncio.wait_for(take(), 60)
        print(f"{name}\tok", flush=True)
    except BaseException as e:
        print(f"{name}\t{reason(e)}", flush=True)
