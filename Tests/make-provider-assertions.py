"""Makes Tests/SignalboxProvidersTests/Fixtures/assertions.json: assertions of a service account, signed by openssl.

The keys are for these tests only, and their private halves are not kept.
"""

import base64
import json
import pathlib
import subprocess
import tempfile

NOW = 1795210140
SHORT_LIVED = (
    "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
    "Check your iat and exp values in the JWT claim."
)
NOT_SIGNED = "Invalid JWT Signature."
ALGORITHM = "Invalid JWT: Only RS256 is supported."
FIXTURE = pathlib.Path(__file__).parent / "SignalboxProvidersTests/Fixtures/assertions.json"


def openssl(*arguments, text=b""):
    return subprocess.run(["openssl", *arguments], input=text, check=True, capture_output=True).stdout


def encode(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def assertion(folder, key="first", header=(), claims=(), without=(), signature=None):
    head = {"alg": "RS256", "typ": "JWT", "kid": "key-1", **dict(header)}
    body = {
        "iss": "sender@demo.iam.gserviceaccount.com",
        "scope": "https://www.googleapis.com/auth/firebase.messaging",
        "aud": "https://oauth2.googleapis.com/token", "iat": NOW, "exp": NOW + 3600, **dict(claims),
    }
    for name in without:
        head.pop(name, None)
        body.pop(name, None)
    signed = encode(json.dumps(head).encode()) + "." + encode(json.dumps(body).encode())
    if signature is None:
        signature = openssl("dgst", "-sha256", "-sign", f"{folder}/{key}.pem", text=signed.encode())
    return signed + "." + encode(signature)


def cases(folder):
    """Names, assertions, and the error of each."""
    make = lambda **changes: assertion(folder, **changes)  # noqa: E731
    yield "good", make(), None
    yield "fractions of seconds", make(claims={"iat": NOW + 0.5, "exp": NOW + 3599.5}), None
    yield "audience of older libraries", make(claims={"aud": "https://www.googleapis.com/oauth2/v4/token"}), None
    yield "audience is the endpoint itself", make(claims={"aud": "http://127.0.0.1:8080/token"}), None
    yield "clock four minutes ahead", make(claims={"iat": NOW + 240, "exp": NOW + 3840}), None
    yield "foreign key", make(key="foreign"), NOT_SIGNED
    yield "unknown account", make(claims={"iss": "other@demo.iam.gserviceaccount.com"}), NOT_SIGNED
    yield "unknown key id", make(header={"kid": "key-2"}), NOT_SIGNED
    yield "no key id", make(without=["kid"]), None
    yield "no key id, foreign key", make(key="foreign", without=["kid"]), NOT_SIGNED
    yield "no key id, unknown account", make(
        claims={"iss": "other@demo.iam.gserviceaccount.com"}, without=["kid"]), NOT_SIGNED
    yield "empty signature", make(signature=b""), NOT_SIGNED
    yield "algorithm none", make(header={"alg": "none"}, signature=b""), ALGORITHM
    yield "algorithm HS256", make(header={"alg": "HS256"}), ALGORITHM
    yield "past exp", make(claims={"iat": NOW - 7200, "exp": NOW - 3600}), SHORT_LIVED
    yield "clock six minutes ahead", make(claims={"iat": NOW + 360, "exp": NOW + 3960}), SHORT_LIVED
    yield "two hours long", make(claims={"exp": NOW + 7200}), SHORT_LIVED
    yield "exp before iat", make(claims={"iat": NOW + 100, "exp": NOW + 50}), SHORT_LIVED
    yield "no exp", make(without=["exp"]), SHORT_LIVED
    yield "no iat", make(without=["iat"]), SHORT_LIVED
    yield "no issuer", make(without=["iss"]), "Invalid JWT: Failed to read the claims."
    yield "other audience", make(claims={"aud": "https://example.com/token"}), "Invalid JWT: Failed audience check."
    yield "two parts", "a.b", "Bad Request"
    yield "not base64", "!.!.!", "Bad Request"
    yield "empty", "", "Bad Request"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, bits in (("first", "2048"), ("foreign", "2048"), ("small", "1024")):
            openssl("genrsa", "-out", f"{folder}/{name}.pem", bits)
        openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", f"{folder}/ec.pem")
        names = ("first", "foreign", "small", "ec")
        keys = {name: openssl("pkey", "-in", f"{folder}/{name}.pem", "-pubout").decode() for name in names}
        keys["certificate"] = openssl(
            "req", "-x509", "-key", f"{folder}/first.pem", "-subj", "/CN=sender", "-days", "36500").decode()
        content = {
            "now": NOW, "keys": keys,
            "assertions": [{"name": name, "text": text, "error": error} for name, text, error in cases(folder)],
        }
    FIXTURE.write_text(json.dumps(content, indent=2) + "\n")


main()
