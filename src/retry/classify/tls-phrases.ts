import { tlsEntry } from "./tls-codes.js";

/**
 * TLS failures as texts. A gRPC client reports every one of them as UNAVAILABLE with the reason in words, and under
 * TLS 1.2 Node gives a refused certificate no code but EPROTO. Each phrase is OpenSSL's or Node's own wording, and
 * leads to the code that the same failure has elsewhere. The first phrase that occurs decides.
 *
 * @public
 */
export const tlsPhrases: readonly (readonly [phrase: RegExp, code: string])[] = Object.freeze([
  [/self[- ]signed certificate in (?:the )?certificate chain/i, "SELF_SIGNED_CERT_IN_CHAIN"],
  [/self[- ]signed certificate/i, "DEPTH_ZERO_SELF_SIGNED_CERT"],
  [/unable to verify the first certificate/i, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  [/unable to get local issuer certificate/i, "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
  [/unable to get issuer certificate/i, "UNABLE_TO_GET_ISSUER_CERT"],
  [/unable to get certificate CRL/i, "UNABLE_TO_GET_CRL"],
  [/CRL has expired/i, "CRL_HAS_EXPIRED"],
  [/CRL is not yet valid/i, "CRL_NOT_YET_VALID"],
  [/CRL signature failure/i, "CRL_SIGNATURE_FAILURE"],
  [/certificate not trusted/i, "CERT_UNTRUSTED"],
  [/certificate rejected/i, "CERT_REJECTED"],
  [/invalid CA certificate/i, "INVALID_CA"],
  [/certificate chain too long/i, "CERT_CHAIN_TOO_LONG"],
  [/path length constraint exceeded/i, "PATH_LENGTH_EXCEEDED"],
  [/(?:unsupported|unsuitable) certificate purpose/i, "INVALID_PURPOSE"],
  [/certificate signature failure/i, "CERT_SIGNATURE_FAILURE"],
  [/unable to decrypt certificate's signature/i, "UNABLE_TO_DECRYPT_CERT_SIGNATURE"],
  [/unable to decode issuer public key/i, "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY"],
  [/format error in certificate's notBefore field/i, "ERROR_IN_CERT_NOT_BEFORE_FIELD"],
  [/format error in certificate's notAfter field/i, "ERROR_IN_CERT_NOT_AFTER_FIELD"],
  [/alert (?:number )?certificate revoked/i, "ERR_SSL_TLSV1_ALERT_CERTIFICATE_REVOKED"],
  [/alert certificate expired/i, "ERR_SSL_TLSV1_ALERT_CERTIFICATE_EXPIRED"],
  [/certificate has expired/i, "CERT_HAS_EXPIRED"],
  [/certificate is not yet valid/i, "CERT_NOT_YET_VALID"],
  [/certificate revoked/i, "CERT_REVOKED"],
  [/does not match certificate's altnames|altnames|hostname mismatch/i, "ERR_TLS_CERT_ALTNAME_INVALID"],
  [/wrong version number/i, "ERR_SSL_WRONG_VERSION_NUMBER"],
  [/packet length too long/i, "ERR_SSL_PACKET_LENGTH_TOO_LONG"],
  [/SSL routines.*http request/i, "ERR_SSL_HTTP_REQUEST"],
  [/certificate required/i, "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"],
  [/alert handshake failure/i, "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE"],
  [/alert protocol version|unsupported protocol/i, "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION"],
  [/alert insufficient security/i, "ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY"],
  [/alert unknown ca/i, "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"],
  [/alert bad certificate/i, "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE"],
  [/alert unsupported certificate/i, "ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE"],
  [/alert certificate unknown/i, "ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN"],
  [/alert access denied/i, "ERR_SSL_TLSV1_ALERT_ACCESS_DENIED"],
  [/alert decrypt error/i, "ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR"],
  [/alert internal error/i, "ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR"],
  [/(?:alert|tlsv1) unrecognized name|unrecognized_name/i, "ERR_SSL_TLSV1_UNRECOGNIZED_NAME"],
  [/no application protocol/i, "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL"],
  [/key values mismatch/i, "ERR_OSSL_X509_KEY_VALUES_MISMATCH"],
  [/(?:EE|end entity) (?:certificate )?key too (?:weak|small)/i, "EE_KEY_TOO_SMALL"],
  [/CA (?:certificate )?key too (?:weak|small)/i, "CA_KEY_TOO_SMALL"],
  [/CA (?:md|signature digest algorithm) too weak/i, "CA_MD_TOO_WEAK"],
  // What runtimes on Rust's TLS say.
  [/invalid peer certificate: *(?:certificate )?expired/i, "CERT_HAS_EXPIRED"],
  [/invalid peer certificate: *(?:certificate )?not ?valid ?yet/i, "CERT_NOT_YET_VALID"],
  [/invalid peer certificate: *(?:certificate )?not ?valid ?for ?name/i, "ERR_TLS_CERT_ALTNAME_INVALID"],
  [/invalid peer certificate/i, "CERT_UNTRUSTED"],
  [/PEM routines|no start line|bad decrypt/i, "ERR_OSSL_PEM"],
]);

/** A word that is written like a code. OpenSSL has one part with a slash in it. */
const CODE_LIKE = /\b[A-Z][A-Z0-9]*(?:_(?:SSL\/TLS|[A-Z0-9]+))+\b/g;

/** Longest text that is searched: a page of HTML in a status detail is not worth more. */
const SEARCHED_LENGTH = 4096;

/** The TLS code that a text speaks of, or `undefined`. */
export function tlsCodeIn(text: string): string | undefined {
  const start = text.slice(0, SEARCHED_LENGTH);
  const named = start.match(CODE_LIKE)?.find((word) => tlsEntry(word) !== undefined);
  return named ?? tlsPhrases.find(([phrase]) => phrase.test(start))?.[1];
}
