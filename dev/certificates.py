"""Certificates for the sandbox's servers: one authority per folder, servers for loopback names only."""

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from dev.paths import write_private

YEARS = datetime.timedelta(days=3650)
LOOPBACK = ("localhost", "127.0.0.1")


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


def _load(path: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def _certify(
    name: str,
    issuer: str,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    extensions: Sequence[tuple[x509.ExtensionType, bool]],
) -> str:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + YEARS)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def _usage(authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def ensure_authority(folder: Path, name: str = "dbaas sandbox") -> Path:
    """Make a certificate authority, unless the folder holds one.

    Args:
        folder: takes ``ca.crt`` and ``ca.key``.
        name: its common name.

    Returns:
        The authority's certificate.
    """
    certificate = folder / "ca.crt"
    if not certificate.exists():
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(folder / "ca.key", _pem(key))
        write_private(
            certificate,
            _certify(
                name,
                name,
                key,
                key,
                [(x509.BasicConstraints(ca=True, path_length=0), True), (_usage(authority=True), True)],
            ),
        )
    return certificate


def ensure_server(
    folder: Path, name: str, hosts: Sequence[str] = LOOPBACK, authority: str = "dbaas sandbox"
) -> tuple[Path, Path]:
    """Make a server's certificate signed by the folder's authority, unless there is one.

    Args:
        folder: holds the authority and takes ``NAME.crt`` and ``NAME.key``.
        name: file and common name.
        hosts: host names and addresses that it is valid for.
        authority: common name of the authority.

    Returns:
        Certificate and key.
    """
    certificate, key_file = folder / f"{name}.crt", folder / f"{name}.key"
    if not certificate.exists():
        ensure_authority(folder, authority)
        names: list[x509.GeneralName] = []
        for host in hosts:
            try:
                names.append(x509.IPAddress(ipaddress.ip_address(host)))
            except ValueError:
                names.append(x509.DNSName(host))
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(key_file, _pem(key))
        write_private(
            certificate,
            _certify(
                name,
                authority,
                key,
                _load(folder / "ca.key"),
                [
                    (x509.BasicConstraints(ca=False, path_length=None), True),
                    (_usage(authority=False), True),
                    (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
                    (x509.SubjectAlternativeName(names), False),
                ],
            ),
        )
    return certificate, key_file


def ensure_signing_key(path: Path) -> Path:
    """Make an RSA key for signing service account tokens, unless there is one.

    Args:
        path: the key's file.

    Returns:
        The file.
    """
    if not path.exists():
        write_private(path, _pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)))
    return path
