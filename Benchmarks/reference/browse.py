#!/usr/bin/env python3
"""A browser that is not ours (PyPI zeroconf): resolves services, and counts the probes that it overhears.

    browse.py COUNT [ADDRESS]

Prints `browsing` once it listens on the interface with ADDRESS (127.0.0.1). When it knows port, text and an address of COUNT
services, it prints `resolved TIME PROBES`: when that was (CLOCK_MONOTONIC, seconds), and how many probes of the service that had
the fewest were seen before (RFC 6762 demands three). Gives up after a minute with `missing NUMBER`.
"""
import asyncio
import socket
import struct
import sys
import time
from collections import Counter

from zeroconf import DNSIncoming, IPVersion, ServiceStateChange
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

TYPES = ["_matter-tlsc._tcp.local.", "_matter-tls._tcp.local."]
LIMIT = 60


def listen(address, seen):
    """Overhears probes: queries that bring along what they want to claim."""
    ears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ears.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    ears.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    ears.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    ears.bind(("224.0.0.251", 5353))
    ears.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                    struct.pack("4s4s", socket.inet_aton("224.0.0.251"), socket.inet_aton(address)))
    ears.setblocking(False)

    def heard():
        # Kept for later: parsing now would slow the browser down.
        while True:
            try:
                seen.append(ears.recv(9000))
            except BlockingIOError:
                return

    asyncio.get_running_loop().add_reader(ears, heard)
    return ears


def probes(packets, names):
    count = Counter()
    for packet in packets:
        _, flags, questions, _, authorities, _ = struct.unpack_from("!6H", packet)
        if flags & 0x8000 or not authorities:
            continue
        for name in {question.name.lower() for question in DNSIncoming(packet).questions}:
            count[name] += 1
    return min((count[name.lower()] for name in names), default=0)


async def main():
    wanted = int(sys.argv[1])
    address = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
    packets, waiting, resolved = [], set(), set()
    ears = listen(address, packets)
    browser_socket = AsyncZeroconf(interfaces=[address], ip_version=IPVersion.V4Only)
    cache = browser_socket.zeroconf

    def change(zeroconf, service_type, name, state_change):
        if state_change is ServiceStateChange.Removed:
            resolved.discard((service_type, name))
        else:
            waiting.add((service_type, name))

    browser = AsyncServiceBrowser(cache, TYPES, handlers=[change])
    print("browsing", flush=True)
    begin = time.monotonic()
    asked = {}
    while len(resolved) < wanted and time.monotonic() - begin < LIMIT:
        await asyncio.sleep(0.005)
        for service_type, name in list(waiting):
            info = AsyncServiceInfo(service_type, name)
            if info.load_from_cache(cache) and info.port and info.parsed_addresses() and info.text:
                waiting.discard((service_type, name))
                resolved.add((service_type, name))
            elif time.monotonic() - asked.get(name, begin) > 0.5:
                # It has not come by itself: ask.
                asked[name] = time.monotonic()
                asyncio.ensure_future(info.async_request(cache, 400))
    end = time.monotonic()
    if len(resolved) < wanted:
        print("missing", wanted - len(resolved), flush=True)
    else:
        print("resolved", end, probes(packets, [name for _, name in resolved]), flush=True)
    asyncio.get_running_loop().remove_reader(ears)
    await browser.async_cancel()
    await browser_socket.async_close()


asyncio.run(main())
