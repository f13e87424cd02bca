/** Web Crypto that counts what is under way, because its work happens on other threads. */
class CountedCrypto {
  constructor(crypto = globalThis.crypto) {
    this.underWay = 0;
    this.subtle = new Proxy(crypto.subtle, {
      get: (subtle, name) => (...args) => {
        this.underWay += 1;
        return subtle[name](...args).finally(() => { this.underWay -= 1; });
      },
    });
  }
}

/**
 * A clock that moves only when nothing can run. Time never passes while the client works, however slow the machine is.
 */
export class SimulatedClock {
  constructor({ uptime = 1_000, now = 1_763_801_000 } = {}) {
    this.uptime = uptime;
    /** The time of day minus the uptime. A fault makes it jump. */
    this.dateOffset = now - uptime;
    this.sleepers = [];
    this.count = 0;
    this.crypto = new CountedCrypto();
  }

  get now() { return this.uptime + this.dateOffset; }

  sleep(seconds, signal) {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (!(seconds > 0)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const sleeper = { number: this.count += 1, end: this.uptime + seconds, resolve };
      this.sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.sleepers = this.sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      }, { once: true });
    });
  }

  waitUntil(uptime, signal) { return this.sleep(uptime - this.uptime, signal); }

  /** Moves to the first end of a sleep; false if nobody sleeps. */
  advance() {
    const next = this.sleepers.reduce(
      (first, other) => (!first || other.end < first.end || (other.end === first.end && other.number < first.number)
        ? other : first), null);
    if (!next) return false;
    this.sleepers = this.sleepers.filter((other) => other !== next);
    this.uptime = Math.max(this.uptime, next.end);
    next.resolve();
    return true;
  }

  /** Runs a body to its end. */
  async run(body) {
    let isOver = false;
    const result = body().finally(() => { isOver = true; });
    result.catch(() => {});
    const end = this.uptime + 100 * 86_400;
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isOver || this.crypto.underWay > 0) continue;
      if (!this.advance() || this.uptime > end) throw new Error('The run does not end: somebody waits for ever.');
    }
    return result;
  }
}

/** A small generator with a seed: SplitMix32. */
export function randomNumbers(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let value = state ^ (state >>> 16);
    value = Math.imul(value, 0x21f0aaad);
    value ^= value >>> 15;
    value = Math.imul(value, 0x735a2d97);
    return ((value ^ (value >>> 15)) >>> 0) / 0x1_0000_0000;
  };
}
