#!/usr/bin/env python3
"""Sends pushes with the clients that senders use, unchanged except for the host, and prints one JSON line per push:
{"token", "status" or "reason", "id", "timestamp"}.

    apns-clients.py CLIENT HOST PORT CA [--key FILE --team ID --kid ID] [--certificate FILE] [--count N] [--bad N]
        [--restarts]
    apns-clients.py identity DIRECTORY

CLIENT: aioapns, apns2 or kalyke. --count: good device tokens, which begin with --prefix; --bad: malformed ones. All in
one batch.

--restarts: the server stops meanwhile, so pushes that fail in aioapns itself are sent again.
identity: makes key.p8 and key.pem (the public key), and client.pem (a certificate with its key) with the UID of the
topic; prints the fingerprint of the certificate.
"""

import argparse
import asyncio
import datetime
import json
import logging
import os
import pathlib
import ssl
import sys
import uuid

TOPIC = "com.example.app"
ALERT = {"aps": {"alert": {"title": "Goal", "body": "1:0"}, "sound": "default"}}


def tokens(options):
    digits = 64 - len(options.prefix)
    good = [f"{options.prefix}{number:0{digits}x}" for number in range(options.count)]
    return good + [f"zz{number:062x}" for number in range(options.bad)]


def show(token, *, status=None, reason=None, identifier=None, timestamp=None):
    result = {"token": token, "status": status, "reason": reason, "id": identifier, "timestamp": timestamp}
    print(json.dumps({name: value for name, value in result.items() if value is not None}), flush=True)


def tls(options):
    context = ssl.create_default_context(cafile=options.ca)
    if options.certificate:
        context.load_cert_chain(options.certificate)
    return context


def aioapns(options):
    from aioapns import APNs, NotificationRequest, PushType
    from aioapns import connection
    from h2.exceptions import ProtocolError

    for protocol in (connection.APNsProductionClientProtocol, connection.APNsDevelopmentClientProtocol):
        protocol.APNS_SERVER = options.host
    connection.APNsTLSClientProtocol.APNS_PORT = options.port

    async def run():
        identity = {"client_cert": options.certificate} if options.certificate else {
            "key": pathlib.Path(options.key).read_text(), "key_id": options.kid, "team_id": options.team}
        client = APNs(topic=TOPIC, ssl_context=tls(options), max_connections=1,
                      max_connection_attempts=options.attempts, **identity)

        async def push(token):
            request = NotificationRequest(
                device_token=token, message=ALERT, notification_id=str(uuid.uuid4()), time_to_live=600,
                collapse_key="score", push_type=PushType.ALERT, priority=5)
            while True:
                try:
                    answer = await client.send_notification(request)
                    break
                except ProtocolError:
                    # aioapns does not catch what h2 raises between a GOAWAY and the end of the connection.
                    if not options.restarts:
                        raise
                    await asyncio.sleep(0.1)
            show(token, status=answer.status, reason=answer.description, identifier=answer.notification_id,
                 timestamp=answer.timestamp)

        await asyncio.wait_for(asyncio.gather(*(push(token) for token in tokens(options))), options.timeout)

    asyncio.run(run())


def apns2(options):
    from apns2.client import APNsClient, Notification
    from apns2.credentials import TokenCredentials
    from apns2.payload import Payload

    APNsClient.LIVE_SERVER, APNsClient.DEFAULT_PORT = options.host, options.port
    credentials = TokenCredentials(auth_key_path=options.key, auth_key_id=options.kid, team_id=options.team)
    context = tls(options)
    context.set_alpn_protocols(["h2"])
    credentials._Credentials__ssl_context = context
    payload = Payload(alert="Goal", sound="default", badge=1)
    batch = [Notification(token=token, payload=payload) for token in tokens(options)]
    for token, result in APNsClient(credentials).send_notification_batch(batch, topic=TOPIC).items():
        # A 410 is the reason and its timestamp.
        reason, timestamp = result if isinstance(result, tuple) else (result, None)
        is_sent = reason == "Success"
        show(token, status="200" if is_sent else None, reason=None if is_sent else reason, timestamp=timestamp)


def kalyke(options):
    os.environ["SSL_CERT_FILE"] = options.ca
    from kalyke import ApnsClient, ApnsConfig, Payload, PayloadAlert
    from kalyke.exceptions import ApnsProviderException

    class Client(ApnsClient):
        _base_url = f"https://{options.host}:{options.port}"

    async def run():
        client = Client(
            use_sandbox=False, team_id=options.team, auth_key_id=options.kid, auth_key_filepath=options.key)
        payload = Payload(alert=PayloadAlert(title="Goal", body="1:0"), badge=1, sound="default")
        # Every push has a connection and a token of its own.
        for token in tokens(options):
            try:
                show(token, status="200",
                     identifier=await client.send_message(token, payload, ApnsConfig(topic=TOPIC)))
            except ApnsProviderException as error:
                show(token, reason=type(error).__name__)

    asyncio.run(run())


def identity(directory):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    name = x509.Name([
        x509.NameAttribute(NameOID.USER_ID, TOPIC), x509.NameAttribute(NameOID.COMMON_NAME, "Apple Push Services")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1)).sign(key, hashes.SHA256()))
    for file, data in {
        "key.p8": private, "key.pem": public,
        "client.pem": certificate.public_bytes(serialization.Encoding.PEM) + private,
    }.items():
        (directory / file).write_bytes(data)
    print(certificate.fingerprint(hashes.SHA256()).hex())


def main():
    if sys.argv[1:2] == ["identity"]:
        return identity(pathlib.Path(sys.argv[2]))
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=["aioapns", "apns2", "kalyke"])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("ca")
    for name in ("key", "team", "kid", "certificate"):
        parser.add_argument("--" + name)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--bad", type=int, default=0)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--attempts", type=int, default=5)
    parser.add_argument("--restarts", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    {"aioapns": aioapns, "apns2": apns2, "kalyke": kalyke}[options.client](options)


if __name__ == "__main__":
    sys.exit(main())
