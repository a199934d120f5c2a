"""Each step that is taken is one line: its name, and what is wrong with it."""

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
