import { TransportError } from './transport.js';

/**
 * The time, for the fetch plan and the memory of shown IDs. Tests inject a simulated one.
 *
 * @typedef {object} ClientClock
 * @property {number} now the time of day in seconds since 1970. It can jump, so only ages of days are measured with it
 * @property {number} uptime seconds since some moment in the past. It never goes backwards; deadlines are measured
 *   with it
 * @property {(seconds: number, signal?: AbortSignal) => Promise<void>} sleep waits; rejects when the signal aborts
 * @property {(uptime: number, signal?: AbortSignal) => Promise<void>} waitUntil waits for a deadline that stops
 *   something else. A simulated clock lets time pass in `sleep`, where somebody has nothing to do, and only waits here
 */

/**
 * The clock of the browser.
 *
 * @implements {ClientClock}
 */
export class SystemClientClock {
  get now() { return Date.now() / 1000; }
  get uptime() { return performance.now() / 1000; }

  /**
   * @param {number} seconds
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  sleep(seconds, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, Math.min(Math.max(seconds, 0), 86_400) * 1000);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /**
   * @param {number} uptime
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  waitUntil(uptime, signal) { return this.sleep(uptime - this.uptime, signal); }
}

/**
 * Ends work that goes on after it was given up: something else may have been done since.
 *
 * @param {number} deadline the clock's uptime
 * @param {ClientClock} clock
 * @throws {TransportError} `timedOut` after the deadline
 */
export function throwIfOver(deadline, clock) {
  if (clock.uptime >= deadline) throw new TransportError('timedOut');
}

/**
 * Runs work that must not take longer than until a deadline: returns at the deadline even if the work does not notice
 * that its signal aborts.
 *
 * @template Value
 * @param {number} deadline the clock's uptime
 * @param {ClientClock} clock
 * @param {(signal: AbortSignal) => Promise<Value>} work
 * @returns {Promise<Value>}
 * @throws {TransportError} `timedOut` at the deadline, and the errors of the work
 */
export function limited(deadline, clock, work) {
  const worker = new AbortController();
  const timer = new AbortController();
  return new Promise((resolve, reject) => {
    const end = () => timer.abort();
    work(worker.signal).then(resolve, reject).finally(end);
    clock.waitUntil(deadline, timer.signal).then(() => {
      reject(new TransportError('timedOut'));
      worker.abort();
    }, () => {});
  });
}
