#!/usr/bin/env python3
"""Writes Tests/SignalboxProvidersTests/Fixtures/tokens.json: provider tokens for APNs, as clients make them and as
attackers might. The keys are new in every run; only their public halves are kept.

The clock of the tests stands at NOW. Needs the openssl command.
"""

import base64
import json
import pathlib
import subprocess
import tempfile

NOW = 1_795_210_140
OUTPUT = pathlib.Path(__file__).parent / "SignalboxProvidersTests/Fixtures/tokens.json"


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def standard(data: bytes) -> str:
    """As a2 and apns-http2 encode the parts."""
    return base64.b64encode(data).decode()


class Key:
    def __init__(self, directory: pathlib.Path, name: str):
        self.file = directory / (name + ".pem")
        run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(self.file))
        self.public = run("ec", "-in", str(self.file), "-pubout").decode()

    def der(self, message: bytes, digest="sha256") -> bytes:
        return run("dgst", "-" + digest, "-sign", str(self.file), data=message)

    def raw(self, message: bytes, digest="sha256", width=32) -> bytes:
        """The two numbers of the signature, of `width` bytes each."""
        der = self.der(message, digest)
        first = 4 + der[3]
        return b"".join(number[-32:].rjust(width, b"\0") for number in (der[4:first], der[first + 2 :]))


def run(*arguments: str, data: bytes = b"") -> bytes:
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


def token(
    key: Key, *, team="TEAM000001", kid="KEY0000001", issued=NOW - 60, algorithm="ES256", sign=None, encode=base64url
) -> str:
    header = {"alg": algorithm, "kid": kid}
    claims = {"iss": team, "iat": issued}
    parts = [{name: value for name, value in part.items() if value is not None} for part in (header, claims)]
    text = ".".join(encode(json.dumps(part).encode()) for part in parts)
    return text + "." + encode((sign or key.raw)(text.encode()))


def make() -> dict:
    with tempfile.TemporaryDirectory() as name:
        first, second, third, foreign = (Key(pathlib.Path(name), f"key{number}") for number in range(4))
        return {
            "now": NOW,
            "keys": {"first": first.public, "second": second.public, "third": third.public},
            "tokens": {
                "valid": token(first),
                "float": token(first, issued=NOW - 60.5),
                "string": token(first, issued=str(NOW - 60)),
                "59 minutes": token(first, issued=NOW - 59 * 60),
                "61 minutes": token(first, issued=NOW - 61 * 60),
                "4 minutes ahead": token(first, issued=NOW + 4 * 60),
                "6 minutes ahead": token(first, issued=NOW + 6 * 60),
                "second": token(first, issued=NOW - 50),
                "third": token(first, issued=NOW - 40),
                "other key": token(second, kid="KEY0000002"),
                "other team": token(third, team="TEAM000002", kid="KEY0000003"),
                "none": token(first, algorithm="none", sign=lambda _: b""),
                "none, signed": token(first, algorithm="none"),
                "HS256": token(first, algorithm="HS256", sign=lambda text: text[:32]),
                "DER": token(first, sign=first.der),
                "standard Base64": token(first, sign=first.der, encode=standard),
                "ES512": token(first, algorithm="ES512", sign=lambda text: first.raw(text, "sha512", 66)),
                "ES512, SHA-256": token(first, algorithm="ES512", sign=lambda text: first.raw(text, width=66)),
                "ES512, short": token(first, algorithm="ES512", sign=lambda text: first.raw(text, "sha512")),
                "short": token(first, sign=lambda text: first.raw(text)[1:]),
                "foreign": token(foreign),
                "foreign, DER": token(foreign, sign=foreign.der),
                "expired, foreign": token(foreign, issued=NOW - 61 * 60),
                "unknown key": token(foreign, kid="KEY0000009"),
                "unknown team": token(first, team="TEAM000009"),
                "no kid": token(first, kid=None),
                "no iss": token(first, team=None),
                "no iat": token(first, issued=None),
                "iat true": token(first, issued=True),
                "iat text": token(first, issued="yesterday"),
            },
        }


if __name__ == "__main__":
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(make(), indent=2) + "\n")
