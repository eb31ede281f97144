"""The package and the archive in a bare Debian: installed, started, given a payload, and seen to deliver it.

A bare Debian has the essential packages and those that the control file names. It needs root for chroot and for the
mount of /proc, from which a Swift program reads its arguments. Without these rights, the archive is tested on this
machine only, and the tests in the bare Debian are skipped with the reason.
"""

import base64
import contextlib
import hashlib
import hmac
import http.client
import http.server
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading
import unittest

import packages
from packages import ROOT, archive, one, package, run

SECRET = "whsec_" + base64.b64encode(b"twenty-four bytes of key").decode()
PAYLOAD = (ROOT / "Examples/payloads/braze-ios.json").read_bytes()
# Each command has mounts of its own, so nothing stays mounted.
ENTER = "mount --make-rprivate / && mount --bind /proc \"$0/proc\" && exec chroot \"$@\""
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class Receiver(http.server.ThreadingHTTPServer):
    """Accepts webhooks, and keeps their heads and bodies."""

    def __init__(self):
        self.received = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                self.server.received.put((self.headers, body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def request(port, method, path, body=None, **headers):
    """The status and the body of an answer; None while nothing listens."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=600)) as connection:
        try:
            connection.request(method, path, body, headers)
        except ConnectionRefusedError:
            return None
        answer = connection.getresponse()
        return answer.status, answer.read()


def is_signed(headers, body):
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return expected in headers["webhook-signature"].split()


class Delivery(unittest.TestCase):
    """The test of every installation. `config` is the installed one with a destination."""

    def setUp(self):
        self.receiver, self.providers = Receiver(), free_port()
        self.addCleanup(self.receiver.server_close)
        self.addCleanup(self.receiver.shutdown)

    def config(self, installed):
        config = json.loads(installed.read_text())
        config["egress"] = {"allow": ["127.0.0.0/8"]}
        url = f"http://127.0.0.1:{self.receiver.server_port}/"
        config["destinations"]["crm"] = {"url": url, "secret": "env:CRM_SECRET"}
        config["routes"] = [{"name": "everything", "match": {}, "to": ["crm"]}]
        config.setdefault("gateway", {})["listen"] = {"apns": f"127.0.0.1:{self.providers}"}
        return json.dumps(config)

    def deliver(self, command, environment, folder=None):
        """Starts the gateway with the command, sends a payload, waits for the webhook, and stops the gateway."""
        port, token = free_port(), environment.get("SIGNALBOX_TOKEN")
        gateway = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={"PATH": PATH, "CRM_SECRET": SECRET, "SIGNALBOX_LISTEN": f"127.0.0.1:{port}", **environment},
            cwd=folder)
        lines = []
        try:
            while " listening on " not in (line := gateway.stdout.readline()):
                self.assertTrue(line, f"the gateway does not start:\n{''.join(lines)}")
                lines.append(line)
            # Later lines are read too, because a full pipe would stop the gateway.
            threading.Thread(target=gateway.stdout.read, daemon=True).start()
            # As the health check of the image, which has no shell.
            health = run(archive() / "bin/signalbox", "health", "--timeout", "60s",
                         env={"SIGNALBOX_LISTEN": f"0.0.0.0:{port}"})
            self.assertEqual(health, "ready\n")
            if token:
                self.assertEqual(request(port, "POST", "/v1/notifications", PAYLOAD)[0], 401)
                self.assertEqual(request(port, "GET", "/v1/events")[0], 401)
            head = {"authorization": f"Bearer {token}"} if token else {}
            status, body = request(port, "POST", "/v1/notifications", PAYLOAD, **head)
            self.assertEqual((status, json.loads(body)["destinations"]), (202, ["crm"]))
            headers, event = self.receiver.received.get(timeout=600)
            self.assertTrue(is_signed(headers, event))
            self.assertEqual(json.loads(event)["data"]["vendor"], "braze")
            # The user of the service accepts connections there too. Without tokens, the push is accepted.
            push = request(self.providers, "POST", f"/3/device/{'0a' * 32}", PAYLOAD, **{"apns-topic": "com.example"})
            self.assertEqual(push[0], 403 if token else 200, push)
            gateway.send_signal(signal.SIGTERM)
            self.assertEqual(gateway.wait(600), 0)
        finally:
            gateway.kill()
            gateway.wait()


class Unpacked(Delivery):
    def test_the_archive_delivers_from_its_folder(self):
        # The shortest names that a user can choose.
        folder = packages.path("unpacked")
        folder.mkdir()
        (folder / "c").write_text(self.config(archive() / "routes.json"))
        self.deliver([archive() / "bin/signalbox", "serve", "--config", "c", "--data-dir", "d"], {}, folder)
        self.assertEqual(stat.S_IMODE((folder / "d").stat().st_mode), 0o700)


def may_enter():
    """Whether this process may mount and change its root."""
    tried = subprocess.run(["unshare", "--mount", "sh", "-c", "mount --make-rprivate / && chroot / true"],
                           capture_output=True, check=False)
    return os.geteuid() == 0 and tried.returncode == 0


@unittest.skipUnless(may_enter(), "chroot and mounts need root; only the archive on this machine is tested")
class BareDebian(Delivery):
    @classmethod
    def setUpClass(cls):
        cls.root = packages.path("debian")
        control = (package() / "DEBIAN/control").read_text()
        entries = re.search(r"^Depends: (.+)$", control, re.MULTILINE)[1].split(", ")
        depends = [entry.split()[0] for entry in entries]
        release = pathlib.Path("/etc/os-release").read_text()
        suite = re.search(r"^VERSION_CODENAME=(\w+)", release, re.MULTILINE)[1]
        # A crash of the machine would only end the test.
        run("mmdebstrap", "--quiet", "--mode=root", "--variant=essential", "--dpkgopt=force-unsafe-io",
            f"--include={','.join(depends)}", suite, cls.root)
        shutil.copy(one("*.deb"), cls.root / "signalbox.deb")

    def entering(self, *words):
        """The command line that runs the words of chroot in the bare Debian, as the same process."""
        return ["unshare", "--mount", "sh", "-c", ENTER, self.root, *words]

    def inside(self, *command):
        return run(*self.entering(self.root, *command),
                   env={"PATH": PATH, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"})

    def variables(self):
        """The environment that the unit gives to the service."""
        unit = (self.root / "usr/lib/systemd/system/signalbox.service").read_text()
        words = re.search(r"^Environment=(.+)$", unit, re.MULTILINE)[1].split()
        lines = (self.root / "etc/signalbox/environment").read_text().splitlines()
        return dict(entry.split("=", 1) for entry in [*words, *lines] if entry and not entry.startswith("#"))

    def test_1_the_package_installs_closed(self):
        self.inside("dpkg", "--install", "/signalbox.deb")
        environment, data = self.root / "etc/signalbox/environment", self.root / "var/lib/signalbox"
        user = int(self.inside("id", "-u", "signalbox"))
        self.assertEqual(stat.S_IMODE(environment.stat().st_mode), 0o640)
        self.assertEqual((environment.stat().st_uid, data.stat().st_uid), (0, user))
        self.assertEqual(stat.S_IMODE(data.stat().st_mode), 0o700)
        tokens = [self.variables()[name] for name in ("SIGNALBOX_TOKEN", "SIGNALBOX_ADMIN_TOKEN")]
        self.assertEqual([len(token) for token in tokens], [48, 48])
        self.assertNotEqual(*tokens)
        self.assertNotIn("SIGNALBOX_LISTEN", self.variables())
        self.assertTrue((self.root / "etc/systemd/system/multi-user.target.wants/signalbox.service").is_symlink())
        version = self.inside("dpkg-query", "--show", "--showformat", "${Version}\n", "signalbox")
        self.assertEqual(self.inside("signalbox", "--version"), version)

    def test_2_the_installed_gateway_delivers(self):
        installed = self.root / "etc/signalbox/routes.json"
        installed.write_text(self.config(installed))
        command = self.entering("--userspec=signalbox:signalbox", self.root, "/usr/bin/signalbox", "serve")
        self.deliver(command, self.variables())

    def test_3_an_upgrade_keeps_tokens_config_and_queue(self):
        tokens, config = self.variables(), (self.root / "etc/signalbox/routes.json").read_text()
        self.inside("dpkg", "--install", "/signalbox.deb")
        self.assertEqual(self.variables(), tokens)
        self.assertEqual((self.root / "etc/signalbox/routes.json").read_text(), config)
        self.assertTrue((self.root / "var/lib/signalbox/queue.db").exists())

    def test_4_a_purge_keeps_the_queue_only(self):
        self.inside("dpkg", "--purge", "signalbox")
        self.assertFalse((self.root / "etc/signalbox").exists())
        self.assertFalse((self.root / "usr/bin/signalbox").exists())
        self.assertTrue((self.root / "var/lib/signalbox/queue.db").exists())

    def test_5_the_archive_delivers(self):
        shutil.copytree(archive(), self.root / "opt/signalbox", symlinks=True)
        config = self.root / "opt/routes.json"
        config.write_text(self.config(self.root / "opt/signalbox/routes.json"))
        shutil.rmtree(self.root / "var/lib/signalbox")
        self.deliver(
            self.entering("--userspec=65532:65532", self.root, "/opt/signalbox/bin/signalbox", "serve", "--config",
                          "/opt/routes.json", "--data-dir", "/tmp/signalbox"), {})
