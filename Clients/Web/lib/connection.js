import { isForeignRefusal, isSuccess } from './answer-form.js';
import { authorization, transportCode } from './credentials.js';
import { limited } from './clock.js';
import { DiagnosticCode } from './codes.js';
import { FetchPlan } from './fetch-plan.js';
import { retryAfter } from './retry-after.js';
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
 * @property {number} [success] the status of a success, by default 200
 * @property {boolean} [isAuthorized] `false` for an answer that is the same for everybody
 * @property {boolean} [isRetried] `false` for a request that the next wake sends again if this one fails
 */

/**
 * The end of a request: a success of the form that the route has, another status after all tries, no response of the
 * server, a log-in that is needed, or credentials that cannot be read before the first unlock.
 *
 * @typedef {{kind: 'success', body: Uint8Array} | {kind: 'refused', status: number} | {kind: 'failed', code: string}
 *   | {kind: 'loggedOut', code: string} | {kind: 'locked'}} Outcome
 */

/**
 * The end of one try.
 *
 * @typedef {object} Attempt
 * @property {import('./fetch-plan.js').FetchEvent | null} event `null`: the ending is final
 * @property {Outcome} ending
 * @property {boolean} isLost whether the server may have carried out what has no answer
 * @property {import('./credentials.js').ClientCredentials | null} used
 */

/** @type {Outcome} */
const timedOut = Object.freeze({ kind: 'failed', code: DiagnosticCode.timedOut });
/** @type {Outcome} the answer of a proxy or a captive portal. It says nothing of the server */
const notOurs = Object.freeze({ kind: 'failed', code: DiagnosticCode.malformedAnswer });

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
   * Sends a request like {@link send}, and counts the tries whose answer was lost: the server may have carried out each
   * of them.
   *
   * @param {Call} call
   * @param {number} deadline
   * @returns {Promise<{outcome: Outcome, lost: number}>}
   */
  async sendCounting(call, deadline) {
    const plan = new FetchPlan(deadline, this.limits.secondsPerTry);
    /** @type {import('./credentials.js').ClientCredentials | null} */
    let refused = null;
    let lost = 0;
    for (;;) {
      if (plan.timeout(this.clock.uptime) === null) return { outcome: timedOut, lost };
      /** @type {Attempt} */
      const attempt = await this.#attempt(call, refused, plan);
      lost += attempt.isLost ? 1 : 0;
      const step = attempt.event && plan.step(attempt.event, this.clock.uptime);
      const isLast = step?.kind === 'retry' && call.isRetried === false;
      const cannotRefresh = step?.kind === 'refreshCredentials' && call.isAuthorized === false;
      if (!step || step.kind === 'finish' || isLast || cannotRefresh) return { outcome: attempt.ending, lost };
      if (attempt.used) refused = null;
      if (step.kind === 'retry') await this.clock.sleep(step.after);
      else refused = attempt.used;
    }
  }

  /**
   * One try.
   *
   * @param {Call} call
   * @param {import('./credentials.js').ClientCredentials | null} refused
   * @param {FetchPlan} plan
   * @returns {Promise<Attempt>}
   */
  async #attempt(call, refused, plan) {
    let used = null;
    let isLost = false;
    try {
      if (call.isAuthorized !== false) {
        used = await this.#credentials(refused, plan.deadline);
        if (!used) {
          const code = refused ? DiagnosticCode.status(401) : DiagnosticCode.loggedOut;
          return { event: null, ending: { kind: 'loggedOut', code }, isLost, used };
        }
      }
      // A refresh of the credentials may have taken long.
      const timeout = plan.timeout(this.clock.uptime);
      if (timeout === null) return { event: null, ending: timedOut, isLost, used };
      isLost = true;
      const response = await this.#request(call, used, timeout);
      const { status, body } = response;
      isLost = mayHideASuccess(status);
      if (isSuccess(response, call)) return { event: null, ending: { kind: 'success', body }, isLost, used };
      const isOther2xx = status >= 200 && status < 300;
      if (isOther2xx || isForeignRefusal(response, call.isAuthorized !== false)) {
        // The server may have carried out what somebody else has answered with a success.
        return { event: null, ending: notOurs, isLost: isOther2xx, used };
      }
      const wait = retryAfter(response.headers['retry-after'], this.clock.now);
      const event = /** @type {const} */ ({ kind: 'response', status, retryAfter: wait });
      const needsLogIn = status === 401 && call.isAuthorized !== false;
      /** @type {Outcome} */
      const ending = needsLogIn
        ? { kind: 'loggedOut', code: DiagnosticCode.status(401) } : { kind: 'refused', status };
      return { event, ending, isLost, used };
    } catch (error) {
      if (isLocked(error)) return { event: null, ending: { kind: 'locked' }, isLost, used };
      if (error instanceof CredentialsUnavailable) {
        const ending = { kind: /** @type {const} */ ('failed'), code: DiagnosticCode.credentials };
        return { event: { kind: 'noCredentials' }, ending, isLost, used };
      }
      const fault = error instanceof TransportError ? error : new TransportError('unreachable');
      return {
        event: { kind: 'transport', reason: fault.reason }, ending: { kind: 'failed', code: transportCode(fault) },
        isLost, used,
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
 * Whether the server may have carried out a request that has this answer: a proxy's 504 says nothing of the server
 * behind it.
 *
 * @param {number} status
 */
const mayHideASuccess = (status) => status === 408 || status >= 500;
