import {
  permanentEntry as permanent,
  suspectEntry as suspect,
  transientEntry as transient,
  type ClassificationTable,
  type TableEntry,
} from "./entry.js";

const UNTRUSTED =
  "The peer's certificate does not lead to a configured authority. A CA file that holds no certificate looks the same";
const BROKEN = "The peer's certificate, or the chain above it, is not valid for this use";
const OUTDATED = "A certificate of the peer's chain is no longer valid";
const EARLY = "A certificate is not valid yet: compare this host's clock with its first day";
const REFUSED = "The server refused the client certificate, or missed one";
const OWN_MATERIAL = "The own certificate or key cannot be used";
const HALF_READY = "The server, or the ingress before it, is not fully configured yet";
const WRONG_NAME = "The peer's certificate names another host";

/**
 * Failures of a TLS handshake. Nothing here is ever answered by verifying less.
 *
 * @public
 */
export const tlsCodes: ClassificationTable = Object.freeze({
  DEPTH_ZERO_SELF_SIGNED_CERT: permanent("tls", UNTRUSTED),
  SELF_SIGNED_CERT_IN_CHAIN: permanent("tls", UNTRUSTED),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: permanent("tls", UNTRUSTED),
  UNABLE_TO_GET_ISSUER_CERT: permanent("tls", UNTRUSTED),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: permanent("tls", UNTRUSTED),
  CERT_UNTRUSTED: permanent("tls", UNTRUSTED),
  CERT_REJECTED: permanent("tls", BROKEN),
  INVALID_CA: permanent("tls", BROKEN),
  CERT_CHAIN_TOO_LONG: permanent("tls", BROKEN),
  PATH_LENGTH_EXCEEDED: permanent("tls", BROKEN),
  INVALID_PURPOSE: permanent("tls", BROKEN),
  CERT_SIGNATURE_FAILURE: permanent("tls", BROKEN),
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: permanent("tls", BROKEN),
  UNABLE_TO_DECRYPT_CRL_SIGNATURE: permanent("tls", BROKEN),
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: permanent("tls", BROKEN),
  ERR_TLS_CERT_ALTNAME_INVALID: permanent("tls", WRONG_NAME),
  ERR_TLS_CERT_ALTNAME_FORMAT: permanent("tls", WRONG_NAME),
  HOSTNAME_MISMATCH: permanent("tls", WRONG_NAME),
  SUBJECT_ISSUER_MISMATCH: permanent("tls", BROKEN),
  AKID_SKID_MISMATCH: permanent("tls", BROKEN),
  AKID_ISSUER_SERIAL_MISMATCH: permanent("tls", BROKEN),
  AUTHORITY_ISSUER_SERIAL_NUMBER_MISMATCH: permanent("tls", BROKEN),
  KEYUSAGE_NO_CERTSIGN: permanent("tls", BROKEN),
  INVALID_NON_CA: permanent("tls", BROKEN),
  INVALID_EXTENSION: permanent("tls", BROKEN),
  UNHANDLED_CRITICAL_EXTENSION: permanent("tls", BROKEN),
  EE_KEY_TOO_SMALL: permanent("tls", BROKEN),
  CA_KEY_TOO_SMALL: permanent("tls", BROKEN),
  CA_MD_TOO_WEAK: permanent("tls", BROKEN),
  ERR_TLS_REQUIRED_SERVER_NAME: permanent("configuration", OWN_MATERIAL),
  CERT_HAS_EXPIRED: permanent("tls", OUTDATED),
  CERT_REVOKED: permanent("tls", OUTDATED),
  CRL_HAS_EXPIRED: permanent("tls", OUTDATED),
  CRL_SIGNATURE_FAILURE: permanent("tls", BROKEN),
  ERROR_IN_CERT_NOT_BEFORE_FIELD: permanent("tls", BROKEN),
  ERROR_IN_CERT_NOT_AFTER_FIELD: permanent("tls", BROKEN),
  ERROR_IN_CRL_LAST_UPDATE_FIELD: permanent("tls", BROKEN),
  ERROR_IN_CRL_NEXT_UPDATE_FIELD: permanent("tls", BROKEN),
  CERT_NOT_YET_VALID: permanent("tls", EARLY),
  CRL_NOT_YET_VALID: permanent("tls", EARLY),
  UNABLE_TO_GET_CRL: suspect("tls", "The list of revoked certificates cannot be had for now"),
  ERR_TLS_HANDSHAKE_TIMEOUT: transient("timeout", "The peer did not finish the handshake in time"),
  ERR_SSL_WRONG_VERSION_NUMBER: permanent("tls", "The port speaks plain text, not TLS"),
  ERR_SSL_HTTP_REQUEST: permanent("tls", "The port speaks plain text, not TLS"),
  ERR_SSL_HTTPS_PROXY_REQUEST: permanent("tls", "The port speaks plain text, not TLS"),
  ERR_SSL_PACKET_LENGTH_TOO_LONG: permanent("tls", "The port speaks plain text, not TLS"),
  ERR_SSL_UNSUPPORTED_PROTOCOL: permanent("tls", "Both sides share no version of TLS"),
  ERR_SSL_EE_KEY_TOO_SMALL: permanent("tls", BROKEN),
  ERR_SSL_CA_KEY_TOO_SMALL: permanent("tls", BROKEN),
  ERR_SSL_CA_MD_TOO_WEAK: permanent("tls", BROKEN),
  ERR_SSL_DH_KEY_TOO_SMALL: permanent("tls", BROKEN),
});

/** The version that OpenSSL puts before an alert. Since 3.5 it writes `SSL/TLS` where it wrote `SSLV3`. */
const ANY_ALERT = /^ERR_SSL_(?:SSLV3|SSL\/TLS|TLSV1|TLSV13|TLS|TLSV1_\d)_(?:ALERT_)?(?<alert>[A-Z_]+)$/;

/**
 * Alerts that the server sends, by the part of the code that is the same in every TLS version.
 *
 * @public
 */
export const tlsAlerts: ClassificationTable = Object.freeze({
  CERTIFICATE_REQUIRED: permanent("tls", REFUSED),
  BAD_CERTIFICATE: permanent("tls", REFUSED),
  UNSUPPORTED_CERTIFICATE: permanent("tls", REFUSED),
  UNKNOWN_CA: permanent("tls", REFUSED),
  CERTIFICATE_EXPIRED: permanent("tls", REFUSED),
  CERTIFICATE_REVOKED: permanent("tls", REFUSED),
  CERTIFICATE_UNKNOWN: permanent("tls", REFUSED),
  NO_CERTIFICATE: permanent("tls", REFUSED),
  ACCESS_DENIED: permanent("tls", REFUSED),
  DECRYPT_ERROR: permanent("tls", REFUSED),
  HANDSHAKE_FAILURE: permanent("tls", `${REFUSED}; or both sides share no cipher`),
  PROTOCOL_VERSION: permanent("tls", "Both sides share no version of TLS"),
  INSUFFICIENT_SECURITY: permanent("tls", "Both sides share no cipher"),
  INTERNAL_ERROR: suspect("tls", HALF_READY),
  UNRECOGNIZED_NAME: suspect("tls", `${HALF_READY}: it does not know the host name`),
  NO_APPLICATION_PROTOCOL: suspect("tls", `${HALF_READY}: it does not offer the application protocol`),
  UNSUPPORTED_PROTOCOL: permanent("tls", "Both sides share no version of TLS"),
});

/** The row of a code that OpenSSL or Node made for a TLS failure, or `undefined` when it is none. */
export function tlsEntry(code: string): TableEntry | undefined {
  if (Object.hasOwn(tlsCodes, code)) return tlsCodes[code];
  const alert = ANY_ALERT.exec(code)?.groups?.["alert"];
  if (alert !== undefined && Object.hasOwn(tlsAlerts, alert)) return tlsAlerts[alert];
  if (code.startsWith("ERR_OSSL_") || code.startsWith("ERR_TLS_INVALID_")) return ownMaterial;
  if (code === "ERR_SSL_NO_PROTOCOLS_AVAILABLE" || code === "ERR_TLS_PROTOCOL_VERSION_CONFLICT")
    return ownMaterial;
  if (code.startsWith("ERR_SSL_")) return unknownTls;
  return undefined;
}

const ownMaterial = permanent("configuration", OWN_MATERIAL);
const unknownTls = suspect("tls", "The handshake failed for a reason that no table names");
