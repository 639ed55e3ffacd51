#!/usr/bin/env python3
"""A whole controller from docs/protocol.md: makes a fabric, commissions a device into it, controls it, and takes it out again.

Keys, certificates and signatures are made by the plain arithmetic of pase.py (which is neither fast nor safe against an observer: do not
use it for anything but a test).
"""

import argparse
import base64
import hashlib
import json
import pathlib
import secrets
import time

import tlv
from pase import G, N_ORDER, add, check, connect, decode, encode, hkdf, multiply
from session import Credentials, Session

GENERAL_COMMISSIONING, OPERATIONAL_CREDENTIALS = 0x30, 0x3E
MATTER = "1.3.6.1.4.1.37244.1."
EPOCH_2000 = 946684800


# Keys and signatures


class Key:
    def __init__(self):
        self.scalar = secrets.randbelow(N_ORDER - 1) + 1
        self.public = encode(multiply(G, self.scalar))

    def sign(self, message):
        """r and s, 64 bytes."""
        digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
        k = secrets.randbelow(N_ORDER - 1) + 1
        r = multiply(G, k)[0] % N_ORDER
        s = pow(k, -1, N_ORDER) * (digest + r * self.scalar) % N_ORDER
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def is_signed(public, message, signature):
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    digest, inverse = int.from_bytes(hashlib.sha256(message).digest(), "big"), pow(s, -1, N_ORDER)
    point = add(multiply(G, digest * inverse % N_ORDER), multiply(decode(public), r * inverse % N_ORDER))
    return point[0] % N_ORDER == r


def public_key_in(der):
    """Of a certificate or a signing request: the 65 bytes behind the only bit string of their length."""
    place = der.index(b"\x03\x42\x00\x04")
    return der[place + 3:place + 68]


# Certificates, section 6


def element(tag, *parts):
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes(2 if len(content) > 0xFF else 1, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def sequence(*parts):
    return element(0x30, *parts)


def oid(text):
    numbers = [int(part) for part in text.split(".")]
    out = bytes([numbers[0] * 40 + numbers[1]])
    for number in numbers[2:]:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.append(number & 0x7F | 0x80)
        out += bytes(reversed(digits))
    return element(0x06, out)


def name(attributes):
    """Of (tag in TLV, value): in X.509 and in TLV."""
    arcs = {17: "1", 19: "3", 20: "4", 21: "5"}
    der = sequence(*(
        element(0x31, sequence(oid(MATTER + arcs[tag]), element(0x0C, f"{value:016X}".encode()))) for tag, value in attributes))
    return der, tlv.List(attributes)


def moment(seconds):
    if seconds == 0:
        return element(0x18, b"99991231235959Z")
    return element(0x17, time.strftime("%y%m%d%H%M%SZ", time.gmtime(seconds + EPOCH_2000)).encode())


def integer(data):
    return element(0x02, data.lstrip(b"\0") if data[0] < 0x80 and not data.startswith(b"\0") else b"\0" + data.lstrip(b"\0"))


def certificate(subject, issuer, public, issuer_public, signer, is_authority):
    """The certificate in X.509 and in Matter's compact form."""
    serial = bytes([0x40 | secrets.randbits(5)]) + secrets.token_bytes(7)
    start = int(time.time()) - EPOCH_2000 - 86400
    own_id, issuer_id = hashlib.sha1(public).digest(), hashlib.sha1(issuer_public).digest()

    def extension(number, content, critical=False):
        return sequence(oid(number), element(0x01, b"\xff") if critical else b"", element(0x04, content))

    extensions = [
        extension("2.5.29.19", sequence(element(0x01, b"\xff")) if is_authority else sequence(), True),
        extension("2.5.29.15", element(0x03, b"\x01\x06" if is_authority else b"\x07\x80"), True),
    ]
    compact = [(1, tlv.Structure([(1, is_authority)])), (2, 0x60 if is_authority else 0x01)]
    if not is_authority:
        purposes = sequence(oid("1.3.6.1.5.5.7.3.2"), oid("1.3.6.1.5.5.7.3.1"))
        extensions.append(extension("2.5.29.37", purposes, True))
        compact.append((3, tlv.Array([2, 1])))
    extensions += [
        extension("2.5.29.14", element(0x04, own_id)), extension("2.5.29.35", sequence(element(0x80, issuer_id)))]
    compact += [(4, own_id), (5, issuer_id)]

    algorithm = sequence(oid("1.2.840.10045.4.3.2"))
    key = sequence(sequence(oid("1.2.840.10045.2.1"), oid("1.2.840.10045.3.1.7")), element(0x03, b"\0" + public))
    to_be_signed = sequence(
        element(0xA0, integer(b"\x02")), integer(serial), algorithm, issuer[0], sequence(moment(start), moment(0)), subject[0], key,
        element(0xA3, sequence(*extensions)))
    signature = signer.sign(to_be_signed)
    der = sequence(
        to_be_signed, algorithm, element(0x03, b"\0" + sequence(integer(signature[:32]), integer(signature[32:]))))
    return der, tlv.encode(tlv.Structure([
        (1, serial), (2, 1), (3, issuer[1]), (4, start), (5, 0), (6, subject[1]), (7, 1), (8, 1), (9, public), (10, tlv.List(compact)),
        (11, signature)]))


def pem(kind, der):
    return f"-----BEGIN {kind}-----\n{base64.encodebytes(der).decode()}-----END {kind}-----\n"


class Fabric:
    def __init__(self):
        self.id, self.key = secrets.randbits(63) + 1, Key()
        self.name = name([(20, 1)])
        self.root = certificate(self.name, self.name, self.key.public, self.key.public, self.key, True)

    @property
    def compressed_id(self):
        return int.from_bytes(hkdf(self.key.public[1:], b"CompressedFabric", 8, salt=self.id.to_bytes(8, "big")), "big")

    def issue(self, node, public):
        return certificate(name([(17, node), (21, self.id)]), self.name, public, self.key.public, self.key, False)

    def credentials(self, folder, node):
        """The files that `hearth credentials export` writes, for a controller of this fabric."""
        folder.mkdir(mode=0o700)
        key = Key()
        private = sequence(
            integer(b"\x01"), element(0x04, key.scalar.to_bytes(32, "big")), element(0xA0, oid("1.2.840.10045.3.1.7")),
            element(0xA1, element(0x03, b"\0" + key.public)))
        (folder / "key.pem").write_text(pem("EC PRIVATE KEY", private))
        (folder / "controller.pem").write_text(pem("CERTIFICATE", self.issue(node, key.public)[0]))
        (folder / "root.pem").write_text(pem("CERTIFICATE", self.root[0]))
        (folder / "identity.json").write_text(
            json.dumps({"nodeId": node, "fabricId": self.id, "compressedFabricId": self.compressed_id}))
        return Credentials(folder)


# Commissioning, section 8


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--passcode", required=True, type=int)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    controller, device = 112233, 445566
    fabric = Fabric()
    credentials = fabric.credentials(arguments.folder, controller)

    pairing = connect(arguments.address)
    check("the passcode", pairing.prove(arguments.passcode), ((0, 0, 0), True))
    challenge = pairing.export(b"EXPORTER-hearth-attestation", 16)

    def command(what, cluster, number, fields):
        status, response = pairing.invoke(0, cluster, number, fields)
        check(what, status, None)
        return response

    check("ArmFailSafe", command("an answer", GENERAL_COMMISSIONING, 0, [(0, 120), (1, 1)])[0], 0)
    attestation = command("the device's certificate", OPERATIONAL_CREDENTIALS, 2, [(0, 1)])[0]
    attested = public_key_in(attestation)
    nonce = secrets.token_bytes(32)
    response = command("AttestationRequest", OPERATIONAL_CREDENTIALS, 0, [(0, nonce)])
    check("the attestation's signature", is_signed(attested, response[0] + challenge, response[1]), True)
    check("the attestation's nonce", tlv.decode(response[0])[2], nonce)
    check("a signature for another session", is_signed(attested, response[0] + bytes(16), response[1]), False)
    nonce = secrets.token_bytes(32)
    response = command("CSRRequest", OPERATIONAL_CREDENTIALS, 4, [(0, nonce)])
    check("the request's signature", is_signed(attested, response[0] + challenge, response[1]), True)
    check("the request's nonce", tlv.decode(response[0])[2], nonce)
    public = public_key_in(tlv.decode(response[0])[1])
    root = [(0, fabric.root[1])]
    check("AddTrustedRootCertificate", pairing.invoke(0, OPERATIONAL_CREDENTIALS, 0x0B, root), (0, None))
    response = command("AddNOC", OPERATIONAL_CREDENTIALS, 6, [
        (0, fabric.issue(device, public)[1]), (2, secrets.token_bytes(16)), (3, controller), (4, 0xFFF1)])
    check("AddNOC's status", response[0], 0)

    session = Session(arguments.address, credentials, device)
    status, response = session.invoke(0, GENERAL_COMMISSIONING, 4)
    check("CommissioningComplete", (status, response[0], response[1][0]), (None, 5, 0))
    before = session.read((1, 6, 0))[0].value
    check("Toggle", session.invoke(1, 6, 2), (0, None))
    check("OnOff", session.read((1, 6, 0))[0].value, not before)
    acl = session.read((0, 0x1F, 0))[0].value
    check("the administrator's entry", [(entry[1], list(entry[3])) for entry in acl], [(5, [controller])])
    index = session.read((0, OPERATIONAL_CREDENTIALS, 5))[0].value
    status, response = session.invoke(0, OPERATIONAL_CREDENTIALS, 0x0A, [(0, index)])
    check("RemoveFabric", (status, response[0], response[1][0]), (None, 8, 0))
    try:
        session.receive_frame()
        check("the session after RemoveFabric", "open", "ended")
    except EOFError:
        check("the session after RemoveFabric", "ended", "ended")
    pairing.close()
    print("done")


if __name__ == "__main__":
    main()
