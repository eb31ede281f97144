"""Runs Google's and Expo's client libraries against a gateway; prints a JSON object for each result.

Usage: fcm-clients.py URL KEY [SCENARIO...]
KEY is a private RSA key in PEM, whose public key the gateway knows as key-1 of sender@demo.iam.gserviceaccount.com.
Scenarios have the numbers of the reference of provider endpoints.
"""

import http.client
import json
import sys
import tempfile
import urllib.parse
import warnings

import firebase_admin
import pyfcm
import pyfcm.baseapi
import requests
from exponent_server_sdk import DeviceNotRegisteredError, PushClient, PushMessage, PushServerError
from firebase_admin import credentials, messaging

# Tokens are deprecated in favour of installation ids; senders still use them.
warnings.simplefilter("ignore", DeprecationWarning)
url, key_file = sys.argv[1], sys.argv[2]
chosen = sys.argv[3:]


def account(key, name="sender@demo.iam.gserviceaccount.com"):
    """The file of a service account, whose token endpoint is the gateway's."""
    return {
        "type": "service_account", "project_id": "demo", "private_key_id": "key-1", "private_key": key,
        "client_email": name, "client_id": "1", "token_uri": url + "/token",
    }


with open(key_file) as file:
    ACCOUNT = account(file.read())

messaging._MessagingService.FCM_URL = url + "/v1/projects/{0}/messages:send"
messaging._MessagingService.IID_URL = url
pyfcm.baseapi.BaseAPI.FCM_END_POINT_BASE = url + "/v1/projects"


def app(name, options=None, info=ACCOUNT):
    made = firebase_admin.initialize_app(credentials.Certificate(info), options, name=name)
    messaging._get_messaging_service(made)._fcm_topic_url = url + "/v1/projects/demo/registrations"
    return made


def failure(call):
    """The name of the exception's type; None without an exception."""
    try:
        call()
    except Exception as error:  # noqa: BLE001: the type is the result
        return type(error).__name__
    return None


def scenario34():
    """The account's token endpoint is ours; a token that is not valid is renewed, and the message is sent once."""
    made = app("34")
    name = messaging.send(messaging.Message(token="abc", data={"n": "34"}), app=made)
    made.credential.get_credential().token = "ya29.c.signalbox-" + "0" * 64
    again = messaging.send(messaging.Message(fid="abc", data={"n": "34b"}), app=made)
    return [name.startswith("projects/demo/messages/"), again.startswith("projects/demo/messages/")]


def scenario35():
    """An assertion by another key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    foreign = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    made = app("35", info=account(foreign))
    try:
        messaging.send(messaging.Message(token="abc"), app=made)
    except Exception as error:  # noqa: BLE001
        return ["invalid_grant" in str(error)]
    return [False]


def scenario36():
    """A dry run."""
    name = messaging.send(messaging.Message(token="abc", data={"n": "36"}), dry_run=True, app=app("36"))
    return [name == "projects/demo/messages/fake_message_id"]


def scenario37():
    """A multicast to 500 tokens, one of which is malformed."""
    tokens = ["token%d" % number for number in range(500)]
    tokens[123] = "not a token"
    message = messaging.MulticastMessage(tokens=tokens, data={"n": "37"})
    batch = messaging.send_each_for_multicast(message, app=app("37"))
    failed = [index for index, response in enumerate(batch.responses) if not response.success]
    names = {response.message_id for response in batch.responses if response.success}
    return [
        failed == [123], len(names) == 499,
        type(batch.responses[123].exception).__name__ == "InvalidArgumentError",
    ]


def scenario41():
    """Topic management, by the new API and by the older one."""
    made = app("41")
    tokens = ["topic%d" % number for number in range(150)]
    results = [messaging.subscribe_to_topic(tokens, "news", app=made) for _ in range(2)]
    removed = messaging.unsubscribe_from_topic(tokens[:50], "news", app=made)
    older = messaging.subscribe_to_topic_legacy(tokens, "older", app=made)
    gone = messaging.unsubscribe_from_topic_legacy(tokens, "older", app=made)
    return [result.success_count == 150 for result in results] + [
        removed.success_count == 50, older.success_count == 150, gone.success_count == 150,
    ]


def scenario42():
    """pyfcm."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(ACCOUNT, file)
        file.flush()
        client = pyfcm.FCMNotification(service_account_file=file.name, project_id="demo")
        sent = client.notify(fcm_token="abc", notification_title="Hi", data_payload={"n": "42"})
        invalid = failure(lambda: client.notify(fcm_token="not a token"))
        # A token that the server no longer accepts is renewed.
        client.requests_session.headers["Authorization"] = "Bearer ya29.c.signalbox-" + "0" * 64
        again = client.notify(fcm_token="abc", data_payload={"n": "42b"})
    return [
        sent["name"].startswith("projects/demo/messages/"), invalid == "InvalidDataError",
        again["name"].startswith("projects/demo/messages/"),
    ]


def scenario45():
    """A project of another source."""
    made = app("45", {"projectId": "elsewhere"})
    error = failure(lambda: messaging.send(messaging.Message(token="abc"), app=made))
    return [error == "SenderIdMismatchError"]


def scenario46():
    """Expo: tickets, receipts, and too many messages."""
    session = requests.Session()
    session.headers.update({"authorization": "Bearer expo-token", "content-type": "application/json"})
    client = PushClient(host=url, session=session)
    ticket = client.publish(PushMessage(to="ExponentPushToken[abc]", title="Hi", data={"n": "46"}))
    receipts = client.check_receipts_multiple([ticket])
    bad = client.publish(PushMessage(to="ExponentPushToken-malformed", body="x"))
    try:
        bad.validate_response()
        is_unregistered = False
    except DeviceNotRegisteredError:
        is_unregistered = True
    client.max_message_count = 101
    many = [PushMessage(to="ExponentPushToken[abc]", body="x")] * 101
    return [
        ticket.is_success(), [receipt.is_success() for receipt in receipts] == [True], is_unregistered,
        failure(lambda: client.publish_multiple(many)) == PushServerError.__name__,
    ]


def scenario137():
    """The config answers `dead` with UNREGISTERED: a multicast to 500 tokens, and pyfcm."""
    tokens = ["token%d" % number for number in range(500)]
    tokens[321] = "dead"
    batch = messaging.send_each_for_multicast(messaging.MulticastMessage(tokens=tokens, data={"n": "37"}), app=app("137"))
    failed = [index for index, response in enumerate(batch.responses) if not response.success]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(ACCOUNT, file)
        file.flush()
        client = pyfcm.FCMNotification(service_account_file=file.name, project_id="demo")
        dead = failure(lambda: client.notify(fcm_token="dead", data_payload={"n": "42"}))
    return [
        failed == [321], type(batch.responses[321].exception).__name__ == "UnregisteredError",
        dead == "FCMNotRegisteredError",
    ]


def scenario138():
    """The config answers the first two messages to `down` with 503, the first to `busy` with 429 and retry-after: 1."""
    made = app("138")
    sent = messaging.send(messaging.Message(token="down", data={"n": "38"}), app=made)
    again = messaging.send(messaging.Message(token="busy", data={"n": "38b"}), app=made)
    return [name.startswith("projects/demo/messages/") for name in (sent, again)]


def scenario40():
    """Sizes on the wire, which the libraries do not check."""
    made = app("40")
    send = lambda **fields: failure(lambda: messaging.send(messaging.Message(**fields), app=made))  # noqa: E731
    return [
        send(token="abc", data={"k": "x" * 4095}) is None,
        send(token="abc", data={"k": "x" * 4096}) == "InvalidArgumentError",
        send(topic="news", data={"k": "x" * 2047}) is None,
        send(topic="news", data={"k": "x" * 2048}) == "InvalidArgumentError",
        send(token="abc", data={"from": "x"}) == "InvalidArgumentError",
        send(token="abc", android=messaging.AndroidConfig(ttl=2_419_201)) == "InvalidArgumentError",
    ]


def scenario44():
    """Without a library: a chunked body, and a request to a wrong path."""
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
    headers = {"authorization": "key=server-key", "content-type": "application/json"}
    connection.request("POST", "/fcm/send", iter([b'{"to":"abc",', b'"data":{"n":"44"}}']), headers)
    response = connection.getresponse()
    sent = json.loads(response.read())
    connection.request("GET", "/v1/projects/demo/unknown", headers=headers)
    missing = connection.getresponse()
    body = json.loads(missing.read())
    return [response.status == 200, sent["success"] == 1, missing.status == 404, body["error"]["status"] == "NOT_FOUND"]


for name, scenario in list(globals().items()):
    if not name.startswith("scenario") or (chosen and name.removeprefix("scenario") not in chosen):
        continue
    try:
        results = scenario()
        print(json.dumps({"scenario": name, "ok": all(results), "results": results}), flush=True)
    except Exception as error:  # noqa: BLE001: reported, and the next scenario runs
        print(json.dumps({"scenario": name, "ok": False, "error": repr(error)[:500]}), flush=True)
