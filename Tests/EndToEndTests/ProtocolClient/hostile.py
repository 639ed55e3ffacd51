#!/usr/bin/env python3
"""Does what docs/protocol.md, section 11, says a peer must not do, and checks what it says the answer is.

After each misdeed the device must still serve an honest client. Prints `ok NAME` or `FAILED NAME: why` for each; exits with status 1 if
any failed.
"""

import argparse
import os
import socket
import ssl
import struct
import sys
import warnings

import tlv
from session import (
    ESTABLISHED, INVOKE, READ, REPORT, REVISION, SECURE_CHANNEL, STATUS_RESPONSE, WRITE, Credentials, Refused, Session, attribute_path,
    once_free)

INVALID_ACTION = 0x80
cases = []


def case(function):
    cases.append((function.__name__.replace("_", " "), function))
    return function


def equal(found, expected):
    if found != expected:
        raise AssertionError(f"found {found!r}, expected {expected!r}")


class World:
    def __init__(self, arguments):
        self.address, self.node = arguments.address, arguments.node
        self.unpaired = arguments.unpaired
        self.ours, self.others = Credentials(arguments.credentials), Credentials(arguments.other_credentials)

    def session(self):
        return Session(self.address, self.ours, self.node)

    def tcp(self, address=None):
        host, port = (address or self.address).rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=20)

    def still_answers(self):
        session = self.session()
        equal(type(session.read((1, 6, 0))[0].value), bool)
        session.close()

    def pairing(self):
        """A connection to the device that waits to be paired, after its first frame, which is not BUSY."""
        return once_free(self.pairing_now)

    def pairing_now(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["hearth-pase/1"])
        # Only for its frames: no credentials, nobody checked.
        session = Session.__new__(Session)
        session.tls, session.reports, session.next_exchange = context.wrap_socket(self.tcp(self.unpaired)), [], 1
        return session, session.receive_frame()


def alert(world, context, name, expected, address=None):
    """The handshake, or the first read after it, ends with an alert."""
    try:
        with context.wrap_socket(world.tcp(address), server_hostname=name) as connection:
            data = connection.recv(64)
    except ssl.SSLError as error:
        # Some versions of Python name the alert in words only.
        if expected not in str(error).lower().replace("_", " "):
            raise AssertionError(f"found {error}, expected the alert '{expected}'")
        return
    raise AssertionError(f"no alert, but {data!r}")


def client_context(*protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def ends(connection):
    """Reads until the end: 'closed' by a closing message, or 'broken' without one."""
    connection.suppress_ragged_eofs = False
    try:
        while connection.recv(4096):
            pass
        return "closed"
    except (ConnectionResetError, ssl.SSLEOFError):
        return "broken"


# Connecting


@case
def garbage_on_the_port(world):
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)) * 8, b"\x16\x03\x01\xff\xff" + os.urandom(2000), b"\x00" * 64):
        with world.tcp() as connection:
            connection.sendall(garbage)
            # What OpenSSL says of it is its own affair; the connection must end, and soon.
            try:
                while connection.recv(4096):
                    pass
            except ConnectionResetError:
                pass


@case
def a_ClientHello_that_stops_in_the_middle(world):
    with world.tcp() as connection:
        connection.sendall(bytes.fromhex("1603010200010001fc0303"))


def is_open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


@case
def eight_hundred_connections_that_say_nothing(world):
    silent = [world.tcp() for _ in range(800)]
    try:
        session = world.session()
        # The oldest have given way to the newcomer. That the youngest stay is for a test with a clock to say (LimitTests): on a slow
        # machine all of this may take longer than they may be silent.
        equal([is_open(connection) for connection in silent[:500]], [False] * 500)
        session.close()
    finally:
        for connection in silent:
            connection.close()


@case
def TLS_1_2(world):
    context = client_context("hearth/1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    alert(world, context, world.ours.instance_name(world.node), "protocol version")


@case
def no_protocol_name(world):
    alert(world, client_context(), world.ours.instance_name(world.node), "no application protocol")


@case
def an_unknown_protocol_name(world):
    alert(world, client_context("hearth/0", "h2"), world.ours.instance_name(world.node), "no application protocol")


@case
def no_server_name(world):
    alert(world, world.ours.context(), None, "unrecognized name")


@case
def the_name_of_another_node(world):
    alert(world, world.ours.context(), world.ours.instance_name(world.node + 1), "unrecognized name")


@case
def the_name_of_another_fabric(world):
    alert(world, world.others.context(), world.others.instance_name(world.node), "unrecognized name")


@case
def pairing_while_the_window_is_closed(world):
    alert(world, client_context("hearth-pase/1"), None, "access denied")


@case
def no_client_certificate(world):
    alert(world, world.ours.context(certificate=False), world.ours.instance_name(world.node), "certificate required")


@case
def another_fabrics_certificate(world):
    context = world.others.context(verify=False)
    alert(world, context, world.ours.instance_name(world.node), "unknown ca")


# Frames and headers


@case
def an_oversized_frame(world):
    session = world.session()
    session.tls.sendall(struct.pack("<I", 64_001))
    equal(ends(session.tls), "closed")


@case
def a_frame_of_four_gigabytes(world):
    session = world.session()
    session.tls.sendall(b"\xff\xff\xff\xff" + b"x" * 100_000)
    if ends(session.tls) not in ("closed", "broken"):
        raise AssertionError("the connection does not end")


@case
def a_frame_that_stops_in_the_middle(world):
    session = world.session()
    session.tls.sendall(struct.pack("<I", 1000) + b"x" * 10)
    session.tls.close()


@case
def a_message_without_a_whole_header(world):
    for length in range(6):
        session = world.session()
        session.send_frame(b"\x01" * length)
        equal(ends(session.tls), "broken")


@case
def a_header_whose_parts_are_missing(world):
    # Flags that announce a vendor, a counter, extensions; nothing of it is there.
    for flags in (0x11, 0x03, 0x09, 0x1B):
        session = world.session()
        session.send_frame(bytes([flags]) + bytes.fromhex("02 0100 0100"))
        equal(ends(session.tls), "broken")


@case
def a_message_of_an_unknown_protocol(world):
    session = world.session()
    session.send(session.begin(), READ, b"\x15\x18", protocol=0x7777)
    session.send(session.begin(), 0x20, b"\x15\x18", protocol=SECURE_CHANNEL)
    equal(type(session.read((1, 6, 0))[0].value), bool)
    session.close()


@case
def a_message_in_an_exchange_that_does_not_exist(world):
    session = world.session()
    session.send(77, REPORT, tlv.Structure([(0, 1), REVISION]), initiator=False)
    equal(type(session.read((1, 6, 0))[0].value), bool)
    session.close()


@case
def more_requests_than_the_device_wants_at_once(world):
    session = world.session()
    request = tlv.Structure([(0, tlv.Array([attribute_path(1, 6, 0)])), (3, True), REVISION])
    exchanges = [session.begin() for _ in range(200)]
    for exchange in exchanges:
        session.send(exchange, READ, request)
    equal([session.receive_any()[:3] for _ in exchanges], [(False, exchange, REPORT) for exchange in exchanges])
    session.close()


@case
def more_sessions_than_a_fabric_may_have(world):
    sessions = [world.session() for _ in range(70)]
    # Those that were unused longest have been closed, and only those. The first six and perhaps more: other sessions may be open.
    for session in sessions[:6]:
        equal(ends(session.tls), "closed")
    for session in sessions[-40:]:
        equal(type(session.read((1, 6, 0))[0].value), bool)
    for session in sessions[6:]:
        session.close()


@case
def timed_requests_that_nothing_follows(world):
    session = world.session()
    for _ in range(16):
        exchange = session.begin()
        session.timed(exchange, 500)
    # All places are taken; they are free again when the device has waited long enough, and the session's other rules still hold.
    session.tls.close()


# Payloads


def refused(session, opcode, payload):
    """The status with which a message is refused, as the session goes on."""
    exchange = session.begin()
    session.send(exchange, opcode, payload)
    opcode, answer = session.receive(exchange)
    equal(opcode, STATUS_RESPONSE)
    return answer[0]


def read_request(*paths):
    return tlv.encode(tlv.Structure([(0, tlv.Array(paths)), (3, True), REVISION]))


@case
def truncated_TLV(world):
    session = world.session()
    for opcode, whole in [
        (READ, read_request(attribute_path(1, 6, 0))),
        (WRITE, tlv.encode(tlv.Structure([(1, False), (2, tlv.Array([tlv.Structure([(1, attribute_path(1, 8, 0x11)), (2, 5)])]))]))),
        (INVOKE, tlv.encode(tlv.Structure([(0, False), (1, False), (2, tlv.Array([]))]))),
    ]:
        for length in range(len(whole)):
            equal(refused(session, opcode, whole[:length]), INVALID_ACTION)
    session.close()


@case
def TLV_that_is_none(world):
    session = world.session()
    deep = b"\x15" + b"\x35\x00" * 40 + b"\x18" * 41
    for payload in (b"\xff" * 40, b"\x18", b"\x15\x18\x00", b"\x16\x18", b"\x04\x05", deep, b"\x15\x2c\x00\xff",
                    b"\x15\x33\x00\xff\xff\xff\xff\xff\xff\xff\x7f\x18", b"\x15\x2c\x00\x02\xff\xfe\x18"):
        equal(refused(session, READ, payload), INVALID_ACTION)
    session.close()


@case
def messages_with_missing_or_wrong_members(world):
    session = world.session()
    for opcode, value in [
        (READ, tlv.Structure([])),
        (READ, tlv.Structure([(0, 5), (3, True)])),
        (READ, tlv.Structure([(0, tlv.Array([tlv.List([(2, "one")])])), (3, True)])),
        (READ, tlv.Structure([(0, tlv.Array([tlv.List([(2, 70_000)])])), (3, True)])),
        (READ, tlv.Structure([(0, tlv.Array([tlv.List([(0, True), (2, 1)])])), (3, True)])),
        (READ, tlv.Structure([(0, tlv.Array([tlv.List([(4, 0)])])), (3, True)])),
        (WRITE, tlv.Structure([(2, tlv.Array([]))])),
        (WRITE, tlv.Structure([(1, False), (2, tlv.Array([tlv.Structure([(1, attribute_path(1)), (2, 0)])]))])),
        (INVOKE, tlv.Structure([(0, False), (1, False), (2, tlv.Array([]))])),
        (INVOKE, tlv.Structure([(0, False), (1, False), (2, tlv.Array([tlv.Structure([(1, tlv.Structure())])]))])),
    ]:
        equal((opcode, value, refused(session, opcode, tlv.encode(value))), (opcode, value, INVALID_ACTION))
    session.close()


@case
def opcodes_that_begin_nothing(world):
    session = world.session()
    for opcode in (0, STATUS_RESPONSE, 4, REPORT, 7, 9, 11, 200, 255):
        equal((opcode, refused(session, opcode, tlv.encode(tlv.Structure([(0, 0), REVISION])))), (opcode, INVALID_ACTION))
    session.close()


@case
def unknown_endpoints_clusters_attributes_commands(world):
    session = world.session()
    for path, status in [((9, 6, 0), 0x7F), ((1, 0x7FFE, 0), 0xC3), ((1, 0xFFF1FC05, 0), 0xC3), ((1, 6, 0x1234), 0x86)]:
        equal([item.status for item in session.read(path)], [status])
        equal(session.write(path, True), status)
    for path, status in [((9, 6, 0), 0x7F), ((1, 0x7FFE, 0), 0xC3), ((1, 6, 0x77), 0x81)]:
        equal(session.invoke(*path), (status, None))
    equal(session.write((1, 6, 0), True), 0x88)
    session.close()


@case
def values_of_wrong_types(world):
    session = world.session()
    before = [item.value for item in session.read((0, 0x28, 5), (1, 8, 0x11))]
    for path, value, status in [
        ((0, 0x28, 5), 5, 0x8D), ((0, 0x28, 5), None, 0x8D), ((0, 0x28, 5), b"hall", 0x8D), ((0, 0x28, 5), tlv.Array(), 0x8D),
        ((1, 8, 0x11), "128", 0x8D), ((1, 8, 0x11), True, 0x8D), ((1, 8, 0x11), tlv.Structure(), 0x8D),
        ((0, 0x28, 5), "x" * 33, 0x87), ((1, 8, 0x11), 300, 0x87),
    ]:
        equal((path, value, session.write(path, value)), (path, value, status))
    equal([item.value for item in session.read((0, 0x28, 5), (1, 8, 0x11))], before)
    # MoveToLevel with a level that is a text, and with none at all.
    for fields in ([(0, "half"), (1, None), (2, 0), (3, 0)], []):
        equal((fields, session.invoke(1, 8, 0, fields)), (fields, (0x85, None)))
    session.close()


@case
def a_subscription_to_nothing(world):
    session = world.session()
    for action in (lambda: session.subscribe((1, 6, 0x1234)), lambda: session.subscribe((1, 6, 0), minimum=10, maximum=5)):
        try:
            action()
        except Refused as error:
            equal(error.status, INVALID_ACTION)
        else:
            raise AssertionError("not refused")
    session.close()


# Pairing


@case
def a_request_before_the_passcode_is_proven(world):
    session, first = world.pairing()
    equal(first, ESTABLISHED)
    session.send(session.begin(), READ, read_request(attribute_path(1, 6, 0)))
    equal(ends(session.tls), "broken")


@case
def a_point_that_is_not_on_the_curve(world):
    session, first = world.pairing()
    equal(first, ESTABLISHED)
    random = os.urandom(32)
    request = tlv.Structure([(1, random), (2, 0), (3, 0), (4, False)])
    exchange = session.begin()
    session.send(exchange, 0x20, request, protocol=SECURE_CHANNEL)
    message = session.receive_frame()
    equal(message[1], 0x21)
    response = tlv.decode(message[6:])
    equal(response[1], random)
    equal(1000 <= response[4][1] <= 100_000 and 16 <= len(response[4][2]) <= 32, True)
    session.send(exchange, 0x22, tlv.Structure([(1, b"\x04" + b"\x01" * 64)]), protocol=SECURE_CHANNEL)
    message = session.receive_frame()
    equal((message[1], message[6:14].hex()), (0x40, "0100" "00000000" "0200"))
    equal(ends(session.tls), "closed")


@case
def a_wrong_passcode(world):
    session, first = world.pairing()
    equal(first, ESTABLISHED)
    exchange = session.begin()
    session.send(exchange, 0x20, tlv.Structure([(1, os.urandom(32)), (2, 0), (3, 0), (4, False)]), protocol=SECURE_CHANNEL)
    equal(session.receive_frame()[1], 0x21)
    # The base point of P-256 is a point like any other: its proof will not hold.
    base = bytes.fromhex(
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    session.send(exchange, 0x22, tlv.Structure([(1, base)]), protocol=SECURE_CHANNEL)
    equal(session.receive_frame()[1], 0x23)
    session.send(exchange, 0x24, tlv.Structure([(1, b"\x00" * 32)]), protocol=SECURE_CHANNEL)
    message = session.receive_frame()
    equal((message[1], message[6:14].hex()), (0x40, "0100" "00000000" "0200"))
    equal(ends(session.tls), "closed")


@case
def two_that_pair_at_once(world):
    session, first = world.pairing()
    equal(first, ESTABLISHED)
    second, answer = world.pairing_now()
    equal(answer.hex(), "0040" "0000" "0000" "0800" "00000000" "0400" "60ea")
    equal(ends(second.tls), "closed")
    session.close()


@case
def an_unpaired_device_operationally(world):
    alert(world, world.ours.context(), world.ours.instance_name(world.node), "unrecognized name", world.unpaired)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--credentials", required=True)
    parser.add_argument("--other-credentials", required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--node", required=True, type=lambda text: int(text, 0))
    parser.add_argument("--unpaired", required=True)
    world = World(parser.parse_args())
    failures = 0
    for name, misdeed in cases:
        try:
            misdeed(world)
            world.still_answers()
            print(f"ok {name}", flush=True)
        except Exception as error:
            failures += 1
            print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
    print("done")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
