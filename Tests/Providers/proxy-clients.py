"""Sends one push with a client that nothing was changed in: only HTTPS_PROXY and a CA variable lead it to the gateway.
Prints a JSON object with the results.

Usage: proxy-clients.py CLIENT KEY
CLIENT: kalyke, firebase, pyfcm or expo. KEY: the private key of the sender, in PEM.
"""

import asyncio
import json
import pathlib
import sys
import tempfile
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
TOKEN = "0123456789abcdef" * 4


def account(key):
    """The file of a service account as Google hands it out."""
    return {
        "type": "service_account", "project_id": "demo", "private_key_id": "key-1",
        "private_key": pathlib.Path(key).read_text(), "client_email": "sender@demo.iam.gserviceaccount.com",
        "client_id": "1", "token_uri": "https://oauth2.googleapis.com/token",
    }


def kalyke(key):
    from kalyke import ApnsClient, ApnsConfig, Payload, PayloadAlert

    async def send(use_sandbox):
        client = ApnsClient(
            use_sandbox=use_sandbox, team_id="TEAM000001", auth_key_id="KEY0000001", auth_key_filepath=key)
        payload = Payload(alert=PayloadAlert(title="Goal", body="1:0"), badge=1, sound="default")
        return await client.send_message(TOKEN, payload, ApnsConfig(topic="com.example.app"))

    return [len(asyncio.run(send(use_sandbox))) == 36 for use_sandbox in (False, True)]


def firebase(key):
    import firebase_admin
    from firebase_admin import credentials, messaging

    app = firebase_admin.initialize_app(credentials.Certificate(account(key)))
    sent = messaging.send(messaging.Message(token="abc", data={"n": "1"}), app=app)
    batch = messaging.send_each([messaging.Message(token="abc", data={"n": str(n)}) for n in range(20)], app=app)
    topic = messaging.subscribe_to_topic(["one", "two"], "news", app=app)
    older = messaging.subscribe_to_topic_legacy(["one", "two"], "older", app=app)
    return [
        sent.startswith("projects/demo/messages/"), batch.success_count == 20, topic.success_count == 2,
        older.success_count == 2,
    ]


def pyfcm(key):
    import pyfcm

    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(account(key), file)
        file.flush()
        client = pyfcm.FCMNotification(service_account_file=file.name, project_id="demo")
        sent = client.notify(fcm_token="abc", notification_title="Hi")
    return [sent["name"].startswith("projects/demo/messages/")]


def expo(_):
    import requests
    from exponent_server_sdk import PushClient, PushMessage

    session = requests.Session()
    session.headers.update({"authorization": "Bearer expo-token", "content-type": "application/json"})
    client = PushClient(session=session)
    ticket = client.publish(PushMessage(to="ExponentPushToken[abc]", title="Hi"))
    receipts = client.check_receipts_multiple([ticket])
    return [ticket.is_success(), [receipt.is_success() for receipt in receipts] == [True]]


name, key = sys.argv[1:]
print(json.dumps({"results": globals()[name](key)}))
