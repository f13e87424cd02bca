/**
 * The end of a try: a response (`retryAfter` in seconds), an error of the transport, or `noCredentials` when they
 * cannot be read or refreshed now.
 *
 * @typedef {{kind: 'response', status: number, retryAfter: number | null}
 *   | {kind: 'transport', reason: 'unreachable' | 'timedOut' | 'untrusted' | 'tooLarge'}
 *   | {kind: 'noCredentials'}} FetchEvent
 */

/**
 * @typedef {{kind: 'retry', after: number} | {kind: 'refreshCredentials'} | {kind: 'finish'}} FetchStep
 */

/** The delays fit four quick tries into the total time. */
const delays = [1, 2, 3, 5];
/** The shortest time for a try, in seconds. A shorter one only costs battery. */
const shortestTry = 0.5;

/**
 * Decides after each try of a request whether to try again. It waits for nothing itself.
 *
 * A request is repeated after errors that can heal: no connection, a time-out, 408, 429 and 5xx. After 401 the
 * credentials are refreshed once. Everything else is final.
 */
export class FetchPlan {
  /**
   * @param {number} deadline the clock's uptime at which everything ends
   * @param {number} secondsPerTry
   */
  constructor(deadline, secondsPerTry) {
    this.deadline = deadline;
    this.secondsPerTry = secondsPerTry;
    this.retries = 0;
    this.hasRefreshed = false;
  }

  /**
   * The time-out of a try that begins now; `null` if there is no time for one.
   *
   * @param {number} uptime
   * @returns {number | null}
   */
  timeout(uptime) {
    const left = this.#left(uptime);
    return left >= shortestTry ? Math.min(left, this.secondsPerTry) : null;
  }

  /**
   * @param {FetchEvent} event
   * @param {number} uptime
   * @returns {FetchStep}
   */
  step(event, uptime) {
    if (event.kind === 'noCredentials') return this.#retry(null, uptime);
    if (event.kind === 'transport') {
      const canHeal = event.reason === 'unreachable' || event.reason === 'timedOut';
      return canHeal ? this.#retry(null, uptime) : { kind: 'finish' };
    }
    const { status, retryAfter } = event;
    if (status === 401 && !this.hasRefreshed) {
      this.hasRefreshed = true;
      return { kind: 'refreshCredentials' };
    }
    const canHeal = status === 408 || status === 429 || (status >= 500 && status <= 599);
    return canHeal ? this.#retry(retryAfter, uptime) : { kind: 'finish' };
  }

  /**
   * @param {number | null} wanted
   * @param {number} uptime
   * @returns {FetchStep}
   */
  #retry(wanted, uptime) {
    const delay = Math.max(delays[Math.min(this.retries, delays.length - 1)], wanted ?? 0);
    if (delay + shortestTry > this.#left(uptime)) return { kind: 'finish' };
    this.retries += 1;
    return { kind: 'retry', after: delay };
  }

  /**
   * The time until the deadline, in whole milliseconds: sums of seconds are not exact.
   *
   * @param {number} uptime
   */
  #left(uptime) { return Math.round((this.deadline - uptime) * 1000) / 1000; }
}
