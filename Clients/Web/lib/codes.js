/**
 * Why the user sees the generic text: a short code for support, such as `SP-401`. It says nothing of the secret.
 */
export const DiagnosticCode = Object.freeze({
  /**
   * The server answered with this HTTP status.
   *
   * @param {number} status
   * @returns {string}
   */
  status: (status) => `SP-${status}`,
  /** Nobody is logged in, so nothing was asked. */
  loggedOut: 'SP-LOGIN',
  /** The credentials could not be read or refreshed now. */
  credentials: 'SP-CREDENTIALS',
  /** The time was up. */
  timedOut: 'SP-TIMEOUT',
  /** No connection to the server. In a browser also an untrusted certificate, and a refusal by CORS or the CSP. */
  unreachable: 'SP-OFFLINE',
  /** The server's certificate is not trusted. `fetch` does not say so; a transport of another kind may. */
  untrusted: 'SP-TLS',
  /** The answer is longer than `limits.maxAnswerBytes`. */
  tooLarge: 'SP-SIZE',
  /** The answer is not the JSON that it should be. */
  malformedAnswer: 'SP-JSON',
  /** The answer is for another ID. */
  wrongID: 'SP-ID',
  /** The push has no ID that can be used. */
  malformedPush: 'SP-PUSH',
  /** The push has no valid signature. */
  badSignature: 'SP-SIGNATURE',
  /** The push was signed more than 28 days ago, or more than a day ahead of this device's clock. */
  tooOld: 'SP-AGE',
  /** The store cannot be read before the device is unlocked. `IndexedDBStore` has no such state. */
  locked: 'SP-LOCKED',
  /** The browser refused to show the secret, for example because the permission is missing. */
  notPresented: 'SP-SHOW',
  /** The notification is encrypted, and not for this device. */
  noKey: 'SP-KEY',
  /** The notification is encrypted, and cannot be decrypted. */
  undecryptable: 'SP-DECRYPT',
  /** The notification was opened before under another ID, or its time is too long ago or ahead. */
  replayed: 'SP-REPLAY',
  /** The notification is of none of the senders that the app takes it from. */
  unknownSender: 'SP-SENDER',
  /** The notification is not encrypted, and the app takes no other. */
  notEncrypted: 'SP-PLAIN',
  /** The notification has expired. */
  expired: 'SP-EXPIRED',
});

const noMoreRequests = new Set([
  DiagnosticCode.loggedOut, DiagnosticCode.status(401), DiagnosticCode.locked, DiagnosticCode.credentials,
  DiagnosticCode.timedOut, DiagnosticCode.unreachable, DiagnosticCode.untrusted,
]);

/**
 * Whether it makes sense to ask the server for more after a step that ended with this code.
 *
 * @param {string | null} code
 * @returns {boolean}
 */
export const allowsCatchUp = (code) => code === null || !noMoreRequests.has(code);

/**
 * Whether this status says that the server does not give the notification to this user.
 *
 * @param {number} status
 * @returns {boolean}
 */
export const isGoneStatus = (status) => [403, 404, 410].includes(status);

/**
 * Whether the user has to log in.
 *
 * @param {string | null} code
 * @returns {boolean}
 */
export const asksForLogIn = (code) => code === DiagnosticCode.loggedOut || code === DiagnosticCode.status(401);

/** Why a call of the app failed. */
export class SecurePushFailure extends Error {
  /**
   * @param {string} code a {@link DiagnosticCode}
   * @param {string | null} [installationID]
   */
  constructor(code, installationID = null) {
    super(installationID === null ? `The request to the retrieval service failed (${code}).`
      : `The device is registered, but its key for end-to-end encryption is not (${code}).`);
    this.name = 'SecurePushFailure';
    /** @type {string} */
    this.code = code;
    /**
     * The device is registered under this ID, and receives what is not encrypted; only the server may not have its key.
     * `null` for every other failure.
     */
    this.installationID = installationID;
  }
}
