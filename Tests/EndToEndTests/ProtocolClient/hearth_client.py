#!/usr/bin/env python3
"""A client of Hearth's protocol, written from docs/protocol.md alone and in standard-library Python.

Talks to a dimmable light: reads, invokes, writes, subscribes, provokes refusals, resumes. Prints a line for each check and exits with
status 1 at the first that does not hold.
"""

import argparse
import sys

import tlv
from session import Credentials, Refused, Session

ON_OFF, LEVEL, BASIC, DESCRIPTOR = 0x0006, 0x0008, 0x0028, 0x001D
SUCCESS, UNSUPPORTED_ENDPOINT, UNSUPPORTED_ATTRIBUTE, CONSTRAINT_ERROR, UNSUPPORTED_CLUSTER, TIMED_REQUEST_MISMATCH = (
    0x00, 0x7F, 0x86, 0x87, 0xC3, 0xC9)


def check(what, found, expected):
    if found != expected:
        print(f"FAILED {what}: found {found!r}, expected {expected!r}")
        sys.exit(1)
    print(f"ok {what}")


def refusal(action):
    try:
        action()
    except Refused as error:
        return error.status
    return "no refusal"


def value(session, endpoint, cluster, attribute):
    items = session.read((endpoint, cluster, attribute))
    check(f"one answer to {endpoint}/{cluster:#x}/{attribute:#x}", len(items), 1)
    check("its path", items[0].path, (endpoint, cluster, attribute))
    check("its status", items[0].status, None)
    return items[0].value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--credentials", required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--node", required=True, type=lambda text: int(text, 0))
    arguments = parser.parse_args()
    credentials = Credentials(arguments.credentials)
    session = Session(arguments.address, credentials, arguments.node)
    print("ok session established")

    before = value(session, 1, ON_OFF, 0)
    check("OnOff is a boolean", type(before), bool)
    check("Toggle", session.invoke(1, ON_OFF, 2), (SUCCESS, None))
    check("OnOff after Toggle", value(session, 1, ON_OFF, 0), not before)
    check("Off", session.invoke(1, ON_OFF, 0), (SUCCESS, None))

    check("write NodeLabel", session.write((0, BASIC, 5), "hall"), SUCCESS)
    check("NodeLabel", value(session, 0, BASIC, 5), "hall")
    check("a label of 33 bytes", session.write((0, BASIC, 5), "x" * 33), CONSTRAINT_ERROR)
    check("write OnLevel", session.write((1, LEVEL, 0x11), 128), SUCCESS)
    check("OnLevel", value(session, 1, LEVEL, 0x11), 128)
    check("write OnLevel, timed", session.write((1, LEVEL, 0x11), None, timed=5_000), SUCCESS)
    check("OnLevel is null", value(session, 1, LEVEL, 0x11), None)
    check("a response command", session.invoke(0, 0x0030, 0, [(0, 60), (1, 7)]), (None, (1, tlv.Structure([(0, 0), (1, "")]))))
    check("Breadcrumb", value(session, 0, 0x0030, 0), 7)
    check("the fail-safe is disarmed", session.invoke(0, 0x0030, 0, [(0, 0), (1, 0)])[1][1][0], 0)

    for path, status in [((1, ON_OFF, 0x1234), UNSUPPORTED_ATTRIBUTE), ((1, 0x7FFE, 0), UNSUPPORTED_CLUSTER),
                         ((9, ON_OFF, 0), UNSUPPORTED_ENDPOINT)]:
        check(f"read {path}", [item.status for item in session.read(path)], [status])
    check("a timed flag without a timed request", refusal(lambda: session.invoke(1, ON_OFF, 2, claims_timed=True)),
          TIMED_REQUEST_MISMATCH)

    everything = session.read(())
    endpoints = sorted({item.path[0] for item in everything})
    check("a wildcard read's endpoints", endpoints, value(session, 0, DESCRIPTOR, 3) and [0, 1])
    check("a wildcard read has no statuses", [item for item in everything if item.status is not None], [])

    subscription, maximum, primed = session.subscribe((1, ON_OFF, 0), minimum=0, maximum=60)
    check("the priming report", [(item.path, item.value) for item in primed], [((1, ON_OFF, 0), False)])
    check("the maximum interval", maximum, 60)
    check("On", session.invoke(1, ON_OFF, 1), (SUCCESS, None))
    number, items = session.next_report()
    check("a report's subscription", number, subscription)
    check("a report", [(item.path, item.value) for item in items], [((1, ON_OFF, 0), True)])

    ticket, context = session.tls.session, session.context
    session.close()
    check("the device gave a session ticket", ticket is not None and ticket.has_ticket, True)
    resumed = Session(arguments.address, credentials, arguments.node, context=context, resume=ticket)
    check("the session is resumed", resumed.tls.session_reused, True)
    check("OnOff over the resumed session", value(resumed, 1, ON_OFF, 0), True)
    resumed.close()
    print("done")


if __name__ == "__main__":
    main()
