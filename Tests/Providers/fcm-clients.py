"""Runs Google's and Expo's client libraries against a gateway; prints a JSON object for each scenario.

Usage: fcm-clients.py URL KEY [SCENARIO...]
KEY: a private RSA key in PEM, whose public key the gateway knows as key-1 of sender@demo.iam.gserviceaccount.com.
SCENARIO: a function of this file with the decorator `scenario`; all of them by default.
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
scenarios = {}


def scenario(function):
    """Registers a function, which returns a list of checks, under its name."""
    scenarios[function.__name__] = function
    return function


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
    """The name of the type of the exception that the call raises; None without an exception."""
    try:
        call()
    except Exception as error:  # noqa: BLE001: the type is the result
        return type(error).__name__
    return None


@scenario
def a_rejected_token_is_renewed():
    """The account's token endpoint is the gateway's. The client renews a rejected token and sends its message once."""
    made = app("renewal")
    name = messaging.send(messaging.Message(token="abc", data={"n": "renewal"}), app=made)
    made.credential.get_credential().token = "ya29.c.signalbox-" + "0" * 64
    again = messaging.send(messaging.Message(fid="abc", data={"n": "renewal-again"}), app=made)
    return [name.startswith("projects/demo/messages/"), again.startswith("projects/demo/messages/")]


@scenario
def an_assertion_of_another_key_is_rejected():
    """The account's key is not the one that the gateway knows."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    foreign = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    made = app("assertion", info=account(foreign))
    try:
        messaging.send(messaging.Message(token="abc"), app=made)
    except Exception as error:  # noqa: BLE001
        return ["invalid_grant" in str(error)]
    return [False]


@scenario
def a_dry_run_has_a_fixed_message_id():
    """A dry run makes no event."""
    name = messaging.send(messaging.Message(token="abc", data={"n": "dry-run"}), dry_run=True, app=app("dry-run"))
    return [name == "projects/demo/messages/fake_message_id"]


@scenario
def a_multicast_reports_its_malformed_token():
    """A multicast to 500 tokens, one of which is malformed."""
    tokens = ["token%d" % number for number in range(500)]
    tokens[123] = "not a token"
    message = messaging.MulticastMessage(tokens=tokens, data={"n": "multicast"})
    batch = messaging.send_each_for_multicast(message, app=app("multicast"))
    failed = [index for index, response in enumerate(batch.responses) if not response.success]
    names = {response.message_id for response in batch.responses if response.success}
    return [
        failed == [123], len(names) == 499,
        type(batch.responses[123].exception).__name__ == "InvalidArgumentError",
    ]


@scenario
def both_apis_manage_topics():
    """Topic management, by the new API and by the older one."""
    made = app("topics")
    tokens = ["topic%d" % number for number in range(150)]
    results = [messaging.subscribe_to_topic(tokens, "news", app=made) for _ in range(2)]
    removed = messaging.unsubscribe_from_topic(tokens[:50], "news", app=made)
    older = messaging.subscribe_to_topic_legacy(tokens, "older", app=made)
    gone = messaging.unsubscribe_from_topic_legacy(tokens, "older", app=made)
    return [result.success_count == 150 for result in results] + [
        removed.success_count == 50, older.success_count == 150, gone.success_count == 150,
    ]


@scenario
def pyfcm_sends_and_renews_its_token():
    """The library pyfcm sends, reports an invalid token, and renews its access token."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(ACCOUNT, file)
        file.flush()
        client = pyfcm.FCMNotification(service_account_file=file.name, project_id="demo")
        sent = client.notify(fcm_token="abc", notification_title="Hi", data_payload={"n": "pyfcm"})
        invalid = failure(lambda: client.notify(fcm_token="not a token"))
        # The gateway does not know this access token.
        client.requests_session.headers["Authorization"] = "Bearer ya29.c.signalbox-" + "0" * 64
        again = client.notify(fcm_token="abc", data_payload={"n": "pyfcm-again"})
    return [
        sent["name"].startswith("projects/demo/messages/"), invalid == "InvalidDataError",
        again["name"].startswith("projects/demo/messages/"),
    ]


@scenario
def a_project_of_another_source_is_rejected():
    """The project belongs to another source than the account."""
    made = app("project", {"projectId": "elsewhere"})
    error = failure(lambda: messaging.send(messaging.Message(token="abc"), app=made))
    return [error == "SenderIdMismatchError"]


@scenario
def expo_returns_tickets_and_receipts():
    """Expo's library: a ticket, its receipt, a malformed token, and too many messages."""
    session = requests.Session()
    session.headers.update({"authorization": "Bearer expo-token", "content-type": "application/json"})
    client = PushClient(host=url, session=session)
    ticket = client.publish(PushMessage(to="ExponentPushToken[abc]", title="Hi", data={"n": "expo"}))
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


@scenario
def an_unregistered_token_raises_its_error():
    """The config answers `dead` with UNREGISTERED. A multicast to 500 tokens sends to it, and so does pyfcm."""
    tokens = ["token%d" % number for number in range(500)]
    tokens[321] = "dead"
    message = messaging.MulticastMessage(tokens=tokens, data={"n": "unregistered"})
    batch = messaging.send_each_for_multicast(message, app=app("unregistered"))
    failed = [index for index, response in enumerate(batch.responses) if not response.success]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(ACCOUNT, file)
        file.flush()
        client = pyfcm.FCMNotification(service_account_file=file.name, project_id="demo")
        dead = failure(lambda: client.notify(fcm_token="dead", data_payload={"n": "unregistered"}))
    return [
        failed == [321], type(batch.responses[321].exception).__name__ == "UnregisteredError",
        dead == "FCMNotRegisteredError",
    ]


@scenario
def firebase_repeats_after_503_and_429():
    """The config answers the first two messages to `down` with 503, the first to `busy` with 429 and retry-after: 1."""
    made = app("repeats")
    sent = messaging.send(messaging.Message(token="down", data={"n": "repeats"}), app=made)
    again = messaging.send(messaging.Message(token="busy", data={"n": "repeats-again"}), app=made)
    return [name.startswith("projects/demo/messages/") for name in (sent, again)]


@scenario
def fields_beyond_their_limits_are_rejected():
    """Sizes, keys and lifetimes that the libraries do not check."""
    made = app("limits")
    send = lambda **fields: failure(lambda: messaging.send(messaging.Message(**fields), app=made))  # noqa: E731
    return [
        send(token="abc", data={"k": "x" * 4095}) is None,
        send(token="abc", data={"k": "x" * 4096}) == "InvalidArgumentError",
        send(topic="news", data={"k": "x" * 2047}) is None,
        send(topic="news", data={"k": "x" * 2048}) == "InvalidArgumentError",
        send(token="abc", data={"from": "x"}) == "InvalidArgumentError",
        send(token="abc", android=messaging.AndroidConfig(ttl=2_419_201)) == "InvalidArgumentError",
    ]


@scenario
def requests_without_a_library_are_answered():
    """A chunked body, and a request to a wrong path."""
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
    headers = {"authorization": "key=server-key", "content-type": "application/json"}
    connection.request("POST", "/fcm/send", iter([b'{"to":"abc",', b'"data":{"n":"chunked"}}']), headers)
    response = connection.getresponse()
    sent = json.loads(response.read())
    connection.request("GET", "/v1/projects/demo/unknown", headers=headers)
    missing = connection.getresponse()
    body = json.loads(missing.read())
    return [response.status == 200, sent["success"] == 1, missing.status == 404, body["error"]["status"] == "NOT_FOUND"]


for name, function in scenarios.items():
    if chosen and name not in chosen:
        continue
    try:
        results = function()
        print(json.dumps({"scenario": name, "ok": all(results), "results": results}), flush=True)
    except Exception as error:  # noqa: BLE001: reported; the next scenario runs
        print(json.dumps({"scenario": name, "ok": False, "error": repr(error)[:500]}), flush=True)
