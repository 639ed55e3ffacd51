#!/usr/bin/env python3
"""Proves a passcode to a device as docs/protocol.md, section 7, describes it: SPAKE2+ in plain Python, bound to the TLS session.

The ssl module cannot export keying material, so that the TLS session is made by the same OpenSSL through ctypes. Checks that the right
passcode is accepted, that the session may then read, and that a proof for another TLS session, or with another passcode, is not.
"""

import argparse
import ctypes
import hashlib
import hmac
import os
import secrets
import socket
import struct
import sys

import tlv
from session import ESTABLISHED, INVOKE, INVOKED, READ, REPORT, REVISION, attribute_path, once_free

# P-256: y² = x³ - 3x + b
P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
N_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
     0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def decompress(text):
    data = bytes.fromhex(text)
    x = int.from_bytes(data[1:], "big")
    y = pow(x**3 - 3 * x + B, (P + 1) // 4, P)
    return x, y if y % 2 == data[0] % 2 else P - y


# RFC 9383, 4.
M = decompress("02886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f")
N = decompress("03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49")


def add(p, q):
    if p is None or q is None:
        return p or q
    if p[0] == q[0]:
        if (p[1] + q[1]) % P == 0:
            return None
        slope = (3 * p[0] ** 2 - 3) * pow(2 * p[1], -1, P)
    else:
        slope = (q[1] - p[1]) * pow(q[0] - p[0], -1, P)
    x = (slope * slope - p[0] - q[0]) % P
    return x, (slope * (p[0] - x) - p[1]) % P


def multiply(p, k):
    result = None
    for bit in bin(k)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, p)
    return result


def negative(p):
    return p[0], P - p[1]


def encode(p):
    return b"\x04" + p[0].to_bytes(32, "big") + p[1].to_bytes(32, "big")


def decode(data):
    x, y = int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")
    if data[0] != 4 or (y * y - x**3 + 3 * x - B) % P:
        raise ValueError("not a point of P-256")
    return x, y


def hkdf(key, info, count, salt=bytes(32)):
    prk = hmac.digest(salt, key, "sha256")
    out, block = b"", b""
    for number in range(1, -(-count // 32) + 1):
        block = hmac.digest(prk, block + info + bytes([number]), "sha256")
        out += block
    return out[:count]


def proof(passcode, request, response, exporter, parameters, x, pA, pB):
    """(cA, cB)"""
    w0, w1 = secrets_of(passcode, parameters)
    Y = add(decode(pB), negative(multiply(N, w0)))
    Z, V = multiply(Y, x), multiply(Y, w1)
    context = hashlib.sha256(b"Hearth PAKE v1 Pairing over TLS" + request + response + exporter).digest()
    parts = [context, b"", b"", encode(M), encode(N), pA, pB, encode(Z), encode(V), w0.to_bytes(32, "big")]
    digest = hashlib.sha256(b"".join(struct.pack("<Q", len(part)) + part for part in parts)).digest()
    confirmation = hkdf(digest[:16], b"ConfirmationKeys", 32)
    return hmac.digest(confirmation[:16], pB, "sha256"), hmac.digest(confirmation[16:], pA, "sha256")


def secrets_of(passcode, parameters):
    ws = hashlib.pbkdf2_hmac("sha256", struct.pack("<I", passcode), parameters[2], parameters[1], 80)
    return int.from_bytes(ws[:40], "big") % N_ORDER, int.from_bytes(ws[40:], "big") % N_ORDER


class Pairing:
    """A connection with ALPN hearth-pase/1."""

    library = None

    def __init__(self, address):
        if Pairing.library is None:
            Pairing.library = ctypes.CDLL("libssl.so.3")
            for name in ("TLS_client_method", "SSL_CTX_new", "SSL_new"):
                getattr(Pairing.library, name).restype = ctypes.c_void_p
        ssl = Pairing.library
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.socket.settimeout(None)
        self.ssl = ctypes.c_void_p(ssl.SSL_new(ctypes.c_void_p(ssl.SSL_CTX_new(ctypes.c_void_p(ssl.TLS_client_method())))))
        names = b"\x0dhearth-pase/1"
        ssl.SSL_set_alpn_protos(self.ssl, names, len(names))
        ssl.SSL_set_fd(self.ssl, self.socket.fileno())
        if ssl.SSL_connect(self.ssl) != 1:
            raise AssertionError("the TLS handshake failed")
        self.first = self.receive()
        if self.first != ESTABLISHED:
            return
        self.exporter = self.export(b"EXPORTER-hearth-pairing", 32)

    def export(self, label, count):
        """Keying material of this TLS session (RFC 8446, 7.5)."""
        out, size = ctypes.create_string_buffer(count), ctypes.c_size_t
        if Pairing.library.SSL_export_keying_material(
                self.ssl, out, size(count), label, size(len(label)), None, size(0), 0) != 1:
            raise AssertionError("no exporter")
        return out.raw

    def send(self, opcode, payload, exchange=1, protocol=0):
        message = struct.pack("<BBHH", 1, opcode, exchange, protocol) + payload
        frame = struct.pack("<I", len(message)) + message
        if Pairing.library.SSL_write(self.ssl, frame, len(frame)) != len(frame):
            raise AssertionError("not sent")

    def receive(self):
        def exactly(count):
            data = b""
            while len(data) < count:
                buffer = ctypes.create_string_buffer(count - len(data))
                got = Pairing.library.SSL_read(self.ssl, buffer, count - len(data))
                if got <= 0:
                    raise EOFError("the device closed the connection")
                data += buffer.raw[:got]
            return data

        return exactly(struct.unpack("<I", exactly(4))[0])

    def prove(self, passcode, exporter=None):
        """The device's verdict: the general and protocol code of its status report. Whether its own proof held, too."""
        request = tlv.encode(tlv.Structure([(1, os.urandom(32)), (2, 0), (3, 0), (4, False)]))
        self.send(0x20, request)
        message = self.receive()
        if message[1] != 0x21:
            raise AssertionError(f"opcode {message[1]:#x} instead of PBKDFParamResponse")
        response = message[6:]
        parameters = dict(tlv.decode(response)[4])
        w0, _ = secrets_of(passcode, parameters)
        x = secrets.randbelow(N_ORDER - 1) + 1
        pA = encode(add(multiply(G, x), multiply(M, w0)))
        self.send(0x22, tlv.encode(tlv.Structure([(1, pA)])))
        message = self.receive()
        if message[1] != 0x23:
            raise AssertionError(f"opcode {message[1]:#x} instead of Pake2")
        pake2 = tlv.decode(message[6:])
        cA, cB = proof(passcode, request, response, exporter or self.exporter, parameters, x, pA, pake2[1])
        self.send(0x24, tlv.encode(tlv.Structure([(1, cA)])))
        message = self.receive()
        if message[1] != 0x40:
            raise AssertionError(f"opcode {message[1]:#x} instead of a status report")
        return struct.unpack_from("<HIH", message, 6), cB == pake2[2]

    def invoke(self, endpoint, cluster, command, fields):
        """Over the session once the passcode is proven: (status, None), or (None, the fields of the response)."""
        self.exchange = getattr(self, "exchange", 1) + 1
        path = tlv.List([(0, endpoint), (1, cluster), (2, command)])
        data = tlv.Structure([(0, path), (1, tlv.Structure(fields))])
        request = tlv.Structure([(0, False), (1, False), (2, tlv.Array([data])), REVISION])
        self.send(INVOKE, tlv.encode(request), exchange=self.exchange, protocol=1)
        message = self.receive()
        if message[1] != INVOKED:
            raise AssertionError(f"opcode {message[1]:#x} instead of an InvokeResponse: {message[6:].hex()}")
        answer = tlv.decode(message[6:])[1][0]
        if (status := answer.get(1)) is not None:
            return status[1][0], None
        return None, answer[0][1]

    def close(self):
        Pairing.library.SSL_shutdown(self.ssl)
        self.socket.close()


def connect(address):
    def attempt():
        pairing = Pairing(address)
        return pairing, pairing.first

    pairing, first = once_free(attempt)
    if first != ESTABLISHED:
        raise AssertionError(f"the first frame is {first.hex()}")
    return pairing


def check(what, found, expected):
    if found != expected:
        print(f"FAILED {what}: found {found!r}, expected {expected!r}")
        sys.exit(1)
    print(f"ok {what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--passcode", required=True, type=int)
    arguments = parser.parse_args()
    success, refusal = (0, 0, 0), (1, 0, 2)

    session = connect(arguments.address)
    check("another passcode", session.prove(arguments.passcode ^ 1), (refusal, False))
    session.close()
    session = connect(arguments.address)
    check("a proof for another TLS session", session.prove(arguments.passcode, exporter=bytes(32)), (refusal, False))
    session.close()
    session = connect(arguments.address)
    check("the right passcode", session.prove(arguments.passcode), (success, True))
    request = tlv.Structure([(0, tlv.Array([attribute_path(0, 0x30, 1)])), (3, True), REVISION])
    session.send(READ, tlv.encode(request), exchange=2, protocol=1)
    message = session.receive()
    check("a read over the pairing session", message[1], REPORT)
    info = tlv.decode(message[6:])[1][0][1][2]
    check("BasicCommissioningInfo", (info[0], info[1]), (60, 900))
    session.close()
    print("done")


if __name__ == "__main__":
    main()
