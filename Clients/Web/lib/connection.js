import { authorization, transportCode } from './credentials.js';
import { limited } from './clock.js';
import { DiagnosticCode } from './codes.js';
import { FetchPlan } from './fetch-plan.js';
import { isLocked } from './store.js';
import { TransportError } from './transport.js';

/**
 * A request, without the server and the credentials.
 *
 * @typedef {object} Call
 * @property {string} [method]
 * @property {string} path the path below the server's URL. Its characters need no percent coding
 * @property {[string, string][]} [query] the values need no percent coding
 * @property {unknown} [json]
 * @property {boolean} [isAuthorized] `false` for what the server tells everybody
 */

/**
 * The end of a request: a 2xx, another status after all tries, no response, a log-in that is needed, or credentials
 * that cannot be read before the first unlock.
 *
 * @typedef {{kind: 'success', body: Uint8Array} | {kind: 'refused', status: number} | {kind: 'failed', code: string}
 *   | {kind: 'loggedOut', code: string} | {kind: 'locked'}} Outcome
 */

/** The credentials are not known now. */
class CredentialsUnavailable extends Error {}

/** Sends requests to the retrieval service by the fetch plan. */
export class RetrievalConnection {
  /**
   * @param {{baseURL: string, limits: import('./configuration.js').ClientLimits,
   *   credentials: import('./credentials.js').CredentialsProvider, transport: import('./transport.js').Transport,
   *   clock: import('./clock.js').ClientClock}} parts
   */
  constructor({ baseURL, limits, credentials, transport, clock }) {
    this.baseURL = baseURL;
    this.limits = limits;
    this.credentials = credentials;
    this.transport = transport;
    this.clock = clock;
  }

  /**
   * Sends a request until it succeeds or the plan gives up.
   *
   * @param {Call} call
   * @param {number} deadline the clock's uptime at which it ends
   * @returns {Promise<Outcome>}
   */
  async send(call, deadline) { return (await this.sendCounting(call, deadline)).outcome; }

  /**
   * Sends a request like {@link send}, and counts the tries: the server may have carried out each of them.
   *
   * @param {Call} call
   * @param {number} deadline
   * @returns {Promise<{outcome: Outcome, tries: number}>}
   */
  async sendCounting(call, deadline) {
    const plan = new FetchPlan(deadline, this.limits.secondsPerTry);
    /** @type {import('./credentials.js').ClientCredentials | null} */
    let refused = null;
    let tries = 0;
    for (;;) {
      const timeout = plan.timeout(this.clock.uptime);
      if (timeout === null) return { outcome: { kind: 'failed', code: DiagnosticCode.timedOut }, tries };
      const attempt = await this.#attempt(call, refused, timeout, deadline);
      tries += attempt.wasSent ? 1 : 0;
      if (attempt.event === null) return { outcome: attempt.ending, tries };
      const step = plan.step(attempt.event, this.clock.uptime);
      if (step.kind === 'finish') return { outcome: attempt.ending, tries };
      if (step.kind === 'retry') {
        await this.clock.sleep(step.after);
      } else if (call.isAuthorized === false) {
        return { outcome: attempt.ending, tries };
      } else {
        refused = attempt.used;
      }
    }
  }

  /**
   * One try.
   *
   * @param {Call} call
   * @param {import('./credentials.js').ClientCredentials | null} refused
   * @param {number} timeout
   * @param {number} deadline
   * @returns {Promise<{event: import('./fetch-plan.js').FetchEvent | null, ending: Outcome, wasSent: boolean,
   *   used: import('./credentials.js').ClientCredentials | null}>} no event: the ending is final
   */
  async #attempt(call, refused, timeout, deadline) {
    let used = null;
    let wasSent = false;
    try {
      if (call.isAuthorized !== false) {
        used = await this.#credentials(refused, deadline);
        if (!used) {
          const code = refused ? DiagnosticCode.status(401) : DiagnosticCode.loggedOut;
          return { event: null, ending: { kind: 'loggedOut', code }, wasSent, used };
        }
      }
      wasSent = true;
      const response = await this.#request(call, used, timeout);
      const { status, body } = response;
      if (status >= 200 && status < 300) return { event: null, ending: { kind: 'success', body }, wasSent, used };
      const event = /** @type {const} */ ({ kind: 'response', status, retryAfter: retryAfter(response) });
      const needsLogIn = status === 401 && call.isAuthorized !== false;
      /** @type {Outcome} */
      const ending = needsLogIn
        ? { kind: 'loggedOut', code: DiagnosticCode.status(401) } : { kind: 'refused', status };
      return { event, ending, wasSent, used };
    } catch (error) {
      if (isLocked(error)) return { event: null, ending: { kind: 'locked' }, wasSent, used };
      if (error instanceof CredentialsUnavailable) {
        const ending = { kind: /** @type {const} */ ('failed'), code: DiagnosticCode.credentials };
        return { event: { kind: 'noCredentials' }, ending, wasSent, used };
      }
      const fault = error instanceof TransportError ? error : new TransportError('unreachable');
      return {
        event: { kind: 'transport', reason: fault.reason }, ending: { kind: 'failed', code: transportCode(fault) },
        wasSent, used,
      };
    }
  }

  /**
   * The credentials, or new ones after a refusal.
   *
   * @param {import('./credentials.js').ClientCredentials | null} refused
   * @param {number} deadline
   */
  async #credentials(refused, deadline) {
    try {
      return await limited(deadline, this.clock, () => (
        refused ? this.credentials.refresh(refused) : this.credentials.credentials()));
    } catch (error) {
      if (isLocked(error)) throw error;
      throw new CredentialsUnavailable();
    }
  }

  /**
   * @param {Call} call
   * @param {import('./credentials.js').ClientCredentials | null} credentials
   * @param {number} timeout
   */
  #request({ method = 'GET', path, query = [], json }, credentials, timeout) {
    /** @type {Record<string, string>} */
    const headers = { Accept: 'application/json' };
    if (credentials) headers.Authorization = authorization(credentials);
    if (json !== undefined) headers['Content-Type'] = 'application/json';
    const parameters = query.map(([name, value]) => `${name}=${value}`).join('&');
    const request = {
      method, url: `${this.baseURL}/${path}${parameters && `?${parameters}`}`, headers,
      body: json === undefined ? null : JSON.stringify(json),
    };
    const maxBytes = this.limits.maxAnswerBytes;
    return limited(this.clock.uptime + timeout, this.clock, async (signal) => {
      const response = await this.transport.send(request, { timeout, maxBytes, signal });
      if (response.body.length > maxBytes) throw new TransportError('tooLarge');
      return response;
    });
  }
}

/**
 * The seconds of `Retry-After`; `null` for a date, whose meaning depends on the clock.
 *
 * @param {import('./transport.js').TransportResponse} response
 * @returns {number | null}
 */
function retryAfter({ headers }) {
  const text = headers['retry-after'];
  return text !== undefined && /^[0-9]{1,10}$/.test(text) && Number(text) < 2 ** 32 ? Number(text) : null;
}
