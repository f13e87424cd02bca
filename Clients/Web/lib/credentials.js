import { endsSession, hasOwnForm, isOwnRefusal, isOwnUnauthorized } from './answer-form.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { BoundedStore } from './bounded.js';
import { limited, SystemClientClock } from './clock.js';
import { checkedURL } from './configuration.js';
import { areSame } from './store.js';
import { TransportError } from './transport.js';

/**
 * Credentials for the retrieval service: a JSON Web Token, or a user name and a password.
 *
 * @typedef {{kind: 'bearer', token: string} | {kind: 'basic', userName: string, password: string}} ClientCredentials
 */

/**
 * Gives the client the user's credentials. {@link TokenCredentialsProvider} is the usual one; an app with a session
 * of its own writes one.
 *
 * @typedef {object} CredentialsProvider
 * @property {() => Promise<string | null>} userName the user to whom the device belongs; `null` when nobody is logged
 *   in. The name stays while the credentials are expired: the signature of a push is made for it. It rejects when that
 *   is not known now
 * @property {() => Promise<ClientCredentials | null>} credentials the credentials to use now; `null` if the user has
 *   to log in. It rejects when that is not known now; the client then shows the generic text instead of the prompt
 * @property {(refused: ClientCredentials) => Promise<ClientCredentials | null>} refresh new credentials after the
 *   server refused these (401); `null` if the user has to log in. One exchange serves all who ask at the same time
 */

/**
 * The value of the header `Authorization`.
 *
 * @param {ClientCredentials} credentials
 * @returns {string}
 */
export function authorization(credentials) {
  if (credentials.kind === 'bearer') return `Bearer ${credentials.token}`;
  const bytes = new TextEncoder().encode(`${credentials.userName}:${credentials.password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/**
 * Credentials that never change, for tools and tests.
 *
 * @implements {CredentialsProvider}
 */
export class FixedCredentialsProvider {
  /**
   * @param {string} userName
   * @param {ClientCredentials | null} credentials `null` for a device that nobody is logged in to
   */
  constructor(userName, credentials) {
    this.name = userName;
    this.value = credentials;
  }

  async userName() { return this.name; }
  async credentials() { return this.value; }
  async refresh() { return null; }
}

/** Longer than an exchange, whose time-out is 8 s. */
const leaseSeconds = 10;
/** Half a minute before its end a token counts as expired. */
const leewaySeconds = 30;

/**
 * Credentials from `POST /api/token`: a token for the user's password, renewed with its refresh token where the server
 * gives one (`AUTH_REFRESH_TTL`).
 *
 * They are kept in the store, which the page and the worker share. Only one of them refreshes at a time, because a
 * refresh token that is used twice ends the session (RFC 9700, section 4.14).
 *
 * @implements {CredentialsProvider}
 */
export class TokenCredentialsProvider {
  /**
   * @param {{retrievalURL: string, store: import('./store.js').ClientStore,
   *   transport: import('./transport.js').Transport, clock?: import('./clock.js').ClientClock,
   *   events?: import('./events.js').ClientEvents, allowsInsecure?: boolean}} parts `retrievalURL` and `allowsInsecure` as
   *   in the configuration. `events` tells the
   *   app's other windows of log-ins and log-outs, and of the session's end
   */
  constructor({
    retrievalURL, store, transport, clock = new SystemClientClock(), events = undefined, allowsInsecure = false,
  }) {
    this.service = new TokenService(checkedURL(retrievalURL, allowsInsecure), transport, clock);
    this.store = new BoundedStore(store, clock);
    this.clock = clock;
    this.events = events;
    this.process = globalThis.crypto.randomUUID();
    /** @type {Promise<ClientCredentials | null> | null} */
    this.refreshing = null;
  }

  /**
   * Logs a user in with a password, which is exchanged for a token and never stored.
   *
   * @param {string} userName
   * @param {string} password
   * @throws {SecurePushFailure} `SP-401` for a wrong password; `SP-404` if the server issues no tokens
   */
  async logIn(userName, password) {
    await this.#save(await this.service.logIn(userName, password));
  }

  /**
   * Logs a user in with a token of an identity provider.
   *
   * @param {string} userName
   * @param {string} token
   * @param {number | null} [expiresAt] in seconds since 1970, if it is known
   */
  async logInWithToken(userName, token, expiresAt = null) {
    await this.#save({ userName, accessToken: token, expiresAt, refreshToken: null });
  }

  /**
   * Forgets the user, and ends the session at the server if it can be reached. An app with a client calls the client's
   * `logOut`, which does this too. After an `unregister` of which the server does not know yet, the credentials are kept
   * for that one request.
   */
  async logOut() {
    const ended = await this.store.updateAll((values) => {
      const { credentials } = values;
      values.credentials = null;
      const departure = values.departures.find(
        ({ userName, credentials: kept }) => !kept && userName === credentials?.userName);
      if (departure) departure.credentials = credentials;
      return departure ? null : credentials;
    });
    this.events?.send({ kind: 'session' });
    if (ended?.refreshToken) await this.service.end(ended.refreshToken);
  }

  /** @param {import('./store.js').StoredCredentials | null} credentials */
  async #save(credentials) {
    await this.store.saveCredentials(credentials);
    this.events?.send({ kind: 'session' });
  }

  async userName() { return (await this.store.credentials())?.userName ?? null; }

  /** @returns {Promise<ClientCredentials | null>} */
  async credentials() {
    const stored = await this.store.credentials();
    if (!stored) return null;
    if (stored.password) {
      const { userName, accessToken, expiresAt, refreshToken } = stored;
      await this.store.replaceCredentials(stored, { userName, accessToken, expiresAt, refreshToken });
    }
    if (isUsable(stored, this.clock)) return current(stored);
    return stored.refreshToken ? this.#refresh(current(stored)) : null;
  }

  /**
   * @param {ClientCredentials} refused
   * @returns {Promise<ClientCredentials | null>}
   */
  refresh(refused) { return this.#refresh(refused); }

  /**
   * One exchange for all who wait.
   *
   * @param {ClientCredentials | null} refused
   */
  #refresh(refused) {
    this.refreshing ??= this.#exchange(refused).finally(() => { this.refreshing = null; });
    return this.refreshing;
  }

  /**
   * Exchanges the refresh token, unless the other process has done so.
   *
   * @param {ClientCredentials | null} refused
   */
  async #exchange(refused) {
    await this.#takeLease();
    try {
      return await this.#exchangeWithLease(refused);
    } finally {
      // If the store refuses, the lease expires.
      await this.store.update((state) => {
        if (state.refreshLease?.process === this.process) state.refreshLease = null;
      }).catch(() => {});
    }
  }

  /**
   * @param {ClientCredentials | null} refused
   * @returns {Promise<ClientCredentials | null>}
   */
  async #exchangeWithLease(refused) {
    const stored = await this.store.credentials();
    if (!stored) return null;
    const known = current(stored);
    if (known && !isSame(known, refused) && isUsable(stored, this.clock)) return known;
    const renewed = stored.refreshToken ? await this.service.refresh(stored.refreshToken, stored.userName) : null;
    // The server refuses the stored credentials for good. The name stays for the prompt.
    const next = renewed ?? { userName: stored.userName, accessToken: null, expiresAt: null, refreshToken: null };
    if (!await this.store.replaceCredentials(stored, next)) {
      // The user has logged out, or another one has logged in. The next try finds the new credentials.
      const isKept = renewed && await replaceDeparted(this.store, stored, renewed).catch(() => false);
      if (renewed?.refreshToken && !isKept) await this.service.end(renewed.refreshToken);
      throw new SecurePushFailure(DiagnosticCode.credentials);
    }
    if (!renewed && known) this.events?.send({ kind: 'session' });
    return renewed && current(renewed);
  }

  /**
   * Waits until no other process refreshes. A process that takes too long has died; the time of day says nothing of it.
   */
  async #takeLease() {
    let watched = '';
    let since = this.clock.uptime;
    for (;;) {
      const { now, uptime } = this.clock;
      const isExpired = uptime - since >= leaseSeconds;
      const other = await this.store.update((state) => {
        const lease = state.refreshLease;
        const name = lease ? `${lease.process} ${lease.takenAt}` : '';
        if (lease && lease.process !== this.process && !(isExpired && name === watched)) return name;
        state.refreshLease = { process: this.process, takenAt: now };
        return null;
      });
      if (other === null) return;
      if (other !== watched) [watched, since] = [other, uptime];
      await this.clock.sleep(0.25);
    }
  }
}

/**
 * @param {import('./store.js').StoredCredentials} stored
 * @param {import('./clock.js').ClientClock} clock
 */
function isUsable(stored, clock) {
  if (!current(stored)) return false;
  return stored.expiresAt === null || !stored.refreshToken || clock.now < stored.expiresAt - leewaySeconds;
}

/**
 * @param {import('./store.js').StoredCredentials} stored
 * @returns {ClientCredentials | null}
 */
const current = ({ accessToken }) => (accessToken ? { kind: 'bearer', token: accessToken } : null);

/**
 * Notes the credentials that have taken the place of those of a departure.
 *
 * @param {import('./store.js').ClientStore | BoundedStore} store
 * @param {import('./store.js').StoredCredentials} expected
 * @param {import('./store.js').StoredCredentials} credentials
 * @returns {Promise<boolean>} whether there is such a departure
 */
const replaceDeparted = (store, expected, credentials) => store.updateAll(({ departures }) => {
  const departure = departures.find(({ credentials: kept }) => areSame(kept, expected));
  if (departure) departure.credentials = credentials;
  return departure !== undefined;
});

/**
 * The credentials of a user who has logged out, for the requests that end the registration and the session.
 *
 * @implements {CredentialsProvider}
 */
export class DepartedCredentials {
  /**
   * @param {{retrievalURL: string, credentials: import('./store.js').StoredCredentials}} departure
   * @param {BoundedStore} store
   * @param {import('./transport.js').Transport} transport
   * @param {import('./clock.js').ClientClock} clock
   */
  constructor({ retrievalURL, credentials }, store, transport, clock) {
    this.service = new TokenService(retrievalURL, transport, clock);
    this.stored = credentials;
    this.store = store;
    this.clock = clock;
  }

  async userName() { return this.stored.userName; }

  async credentials() { return isUsable(this.stored, this.clock) ? current(this.stored) : this.refresh(); }

  /** @returns {Promise<ClientCredentials | null>} */
  async refresh() {
    const { stored } = this;
    const renewed = stored.refreshToken ? await this.service.refresh(stored.refreshToken, stored.userName) : null;
    if (!renewed) return null;
    await replaceDeparted(this.store, stored, renewed);
    this.stored = renewed;
    return current(renewed);
  }

  /**
   * Ends the session.
   *
   * @returns {Promise<boolean>} whether it has ended, or cannot be ended
   */
  async end() { return !this.stored.refreshToken || this.service.end(this.stored.refreshToken); }
}

/**
 * @param {ClientCredentials} one
 * @param {ClientCredentials | null} other
 */
const isSame = (one, other) => other !== null && authorization(one) === authorization(other);

const tokenTimeout = 8;
const maxTokenBytes = 64 * 1024;
/** A hundred years, in seconds. */
const maxLifetime = 100 * 366 * 86_400;

/** `POST /api/token` and `DELETE /api/token` of the retrieval service. */
class TokenService {
  /**
   * @param {string} retrievalURL
   * @param {import('./transport.js').Transport} transport
   * @param {import('./clock.js').ClientClock} clock
   */
  constructor(retrievalURL, transport, clock) {
    this.url = `${retrievalURL.replace(/\/+$/, '')}/api/token`;
    this.transport = transport;
    this.clock = clock;
  }

  /**
   * Gets tokens for a password.
   *
   * @param {string} userName
   * @param {string} password
   * @returns {Promise<import('./store.js').StoredCredentials>}
   * @throws {SecurePushFailure}
   */
  async logIn(userName, password) {
    const response = await this.#send('POST', { Authorization: authorization({ kind: 'basic', userName, password }) });
    // A 404 of a proxy does not say that the server issues no tokens.
    if (response.status === 404 && !isOwnRefusal(response)) throw new SecurePushFailure(DiagnosticCode.malformedAnswer);
    return this.#read(response, userName);
  }

  /**
   * Exchanges a refresh token.
   *
   * @param {string} token
   * @param {string} userName
   * @returns {Promise<import('./store.js').StoredCredentials | null>} `null` if it cannot be used any more
   * @throws {SecurePushFailure} when it is not known, for example without a connection
   */
  async refresh(token, userName) {
    const response = await this.#send('POST', {}, { grant_type: 'refresh_token', refresh_token: token });
    return endsSession(response) ? null : this.#read(response, userName);
  }

  /**
   * Ends a session.
   *
   * @param {string} token
   * @returns {Promise<boolean>} whether the service has answered. Without it the token expires
   */
  async end(token) {
    try {
      const response = await this.#send('DELETE', {}, { grant_type: 'refresh_token', refresh_token: token });
      return response.status === 204 || (response.status < 500 && isOwnRefusal(response));
    } catch {
      return false;
    }
  }

  /**
   * @param {import('./transport.js').TransportResponse} response
   * @param {string} userName
   * @returns {import('./store.js').StoredCredentials}
   * @throws {SecurePushFailure} for every other answer
   */
  #read(response, userName) {
    const { status } = response;
    // A 401 of a proxy does not say that the password is wrong.
    const isOwn = status === 200 ? hasOwnForm(response) : status !== 401 || isOwnUnauthorized(response);
    if (!isOwn) throw new SecurePushFailure(DiagnosticCode.malformedAnswer);
    if (status !== 200) throw new SecurePushFailure(DiagnosticCode.status(status));
    let answer;
    try { answer = JSON.parse(new TextDecoder().decode(response.body)); } catch { answer = null; }
    const { access_token: accessToken, expires_in: lifetime = null, refresh_token: refreshToken = null } = answer ?? {};
    const isLifetime = lifetime === null
      || (typeof lifetime === 'number' && lifetime >= 1 && lifetime <= maxLifetime);
    const isRefreshToken = refreshToken === null || typeof refreshToken === 'string';
    if (typeof accessToken !== 'string' || accessToken === '' || !isLifetime || !isRefreshToken) {
      throw new SecurePushFailure(DiagnosticCode.malformedAnswer);
    }
    return {
      userName, accessToken, refreshToken,
      expiresAt: lifetime === null ? null : this.clock.now + lifetime,
    };
  }

  /**
   * @param {string} method
   * @param {Record<string, string>} headers
   * @param {object} [body]
   * @returns {Promise<import('./transport.js').TransportResponse>}
   */
  async #send(method, headers, body) {
    const request = {
      method, url: this.url, body: body ? JSON.stringify(body) : null,
      headers: { Accept: 'application/json', ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    };
    try {
      return await limited(this.clock.uptime + tokenTimeout, this.clock, (signal) => (
        this.transport.send(request, { timeout: tokenTimeout, maxBytes: maxTokenBytes, signal })));
    } catch (error) {
      if (error instanceof TransportError) throw new SecurePushFailure(transportCode(error));
      throw error;
    }
  }
}

/**
 * @param {TransportError} error
 * @returns {string}
 */
export const transportCode = (error) => DiagnosticCode[error.reason];
