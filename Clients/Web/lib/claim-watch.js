/** More claims than these are forgotten, the oldest first, and watched anew. */
const maxWatched = 1_000;

/**
 * Measures how long this client has seen the claims of other processes. A process that takes too long has died. The
 * time of day can jump, so it tells nothing of a claim's age.
 */
export class ClaimWatch {
  /**
   * @param {import('./clock.js').ClientClock} clock
   * @param {number} claimSeconds when a claim expires
   */
  constructor(clock, claimSeconds) {
    this.clock = clock;
    this.claimSeconds = claimSeconds;
    /** @type {Map<string, number>} */
    this.firstSeen = new Map();
  }

  /**
   * The time until a claim expires and is in doubt, in seconds; 0 if it has expired.
   *
   * @param {import('./ledger.js').Claim} claim
   * @returns {number}
   */
  secondsLeft({ id, process, at }) {
    const key = `${id} ${process} ${at}`;
    const { uptime } = this.clock;
    if (!this.firstSeen.has(key)) {
      this.firstSeen.set(key, uptime);
      if (this.firstSeen.size > maxWatched) this.firstSeen.delete(this.firstSeen.keys().next().value ?? '');
    }
    return Math.max(0, this.claimSeconds - (uptime - (this.firstSeen.get(key) ?? uptime)));
  }
}
