"""Makes chains of client certificates: root.pem; chain.pem, leaf.pem and impostor.pem with their keys.

Usage: chains.py DIRECTORY
The impostor's issuer is a certificate of the same root that is not an authority.
"""

import datetime
import pathlib
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.datetime.now(datetime.timezone.utc)


def make(name, issuer=None, is_authority=False):
    """A certificate and its key. `issuer`: such a pair; None for a root."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([
        x509.NameAttribute(NameOID.USER_ID, "com.example.app"), x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(NOW - datetime.timedelta(1)).not_valid_after(NOW + datetime.timedelta(1))
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True))
    return builder.sign(issuer[1] if issuer else key, hashes.SHA256()), key


def pem(*certificates, key=None):
    text = b"".join(c.public_bytes(serialization.Encoding.PEM) for c in certificates)
    return text if key is None else text + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


directory = pathlib.Path(sys.argv[1])
root = make("Root", is_authority=True)
middle = make("Middle", root, is_authority=True)
leaf, second, other = make("Leaf", middle), make("Second leaf", middle), make("Other", root)
impostor = make("Impostor", other)
for name, text in {
    "root": pem(root[0]), "chain": pem(leaf[0], middle[0], key=leaf[1]), "leaf": pem(second[0], key=second[1]),
    "impostor": pem(impostor[0], other[0], key=impostor[1]),
}.items():
    (directory / (name + ".pem")).write_bytes(text)