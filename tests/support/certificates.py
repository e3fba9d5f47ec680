"""Certificates for servers of tests, signed by an authority that only these tests know."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs certificates; `path` is what clients are told to trust."""

    def __init__(self, path: Path) -> None:
        self._key, self.path, self._folder = ec.generate_private_key(ec.SECP256R1()), str(path), path.parent
        self._name = _name(path.stem)
        basics = x509.BasicConstraints(ca=True, path_length=0)
        self._own = _unsigned(self._name, self._name, self._key, 1).add_extension(basics, critical=True)
        path.write_bytes(_pem(self._own.sign(self._key, hashes.SHA256())))

    def context(self, address: str = "127.0.0.1", days: int = 1) -> ssl.SSLContext:
        """What a server at an address needs; its certificate ends in so many days."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        unsigned = _unsigned(_name(address), self._name, key, days).add_extension(names, critical=False)
        beside = self._folder / f"{address}{days}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        beside.write_bytes(private + _pem(unsigned.sign(self._key, hashes.SHA256())))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(beside)
        return context


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _unsigned(
    name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + timedelta(days=days))
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
