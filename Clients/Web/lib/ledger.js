/**
 * The notifications that the client knows, and how far it has come with each of them. These steps keep a secret from
 * being lost or shown twice when the browser ends the worker between two of them:
 *
 * 1. `pending` is stored before anything is asked. A later wake goes on with it.
 * 2. `claimed` is stored when the payload is here, before it is shown. Another process leaves it alone. After a crash
 *    it is in doubt, and the presenter is asked whether the user sees the secret.
 * 3. `shown` is stored after it was shown.
 *
 * `withdrawn` (by the sender, or read on another device) and `shown` are final. `gone`: the server has no such
 * notification for this user; another push for it tries again.
 *
 * @typedef {object} LedgerEntry
 * @property {string} id
 * @property {'pending' | 'claimed' | 'shown' | 'withdrawn' | 'gone'} progress
 * @property {string} [process] who has claimed it
 * @property {number} at when the progress changed, in seconds since 1970
 * @property {boolean} hasNotice whether the user has seen the generic text or the prompt for it
 * @property {number} openRequests how many requests for it have no clear answer: those that are in flight, and those
 *   whose answer was lost. The server may have marked it as read for each of them
 * @property {boolean} isFirstReader whether this device may have been the first of the user's devices that fetched it
 */

/** A later progress has a higher rank. */
const rank = { pending: 0, gone: 1, claimed: 2, shown: 3, withdrawn: 4 };
/** More open requests make no difference. */
const maxOpenRequests = 1_000;

/**
 * Whether this device's own fetch may have caused a withdrawal (see `StateChanges.withdraw`).
 *
 * @param {LedgerEntry} entry
 * @returns {boolean}
 */
export function mayHaveBeenRead({ progress, isFirstReader, openRequests }) {
  if (progress === 'withdrawn') return false;
  return isFirstReader || (progress === 'pending' && openRequests > 0);
}

/**
 * The claim of a process.
 *
 * @typedef {{id: string, process: string, at: number}} Claim
 */

/**
 * @param {LedgerEntry} entry
 * @returns {Claim}
 */
const claimOf = ({ id, process = '', at }) => ({ id, process, at });

/** Works on the entries of a state, in the order in which the client learned of them. */
export class SecretLedger {
  /**
   * @param {LedgerEntry[]} entries changed in place
   * @param {import('./configuration.js').ClientLimits} limits
   */
  constructor(entries, limits) {
    this.entries = entries;
    this.limits = limits;
  }

  /**
   * @param {string} id
   * @returns {LedgerEntry | undefined}
   */
  get(id) { return this.entries.find((entry) => entry.id === id); }

  /** The notifications that are still to be shown, in order. */
  get waiting() { return this.entries.filter((entry) => entry.progress === 'pending').map((entry) => entry.id); }

  /**
   * The notifications that are still to be shown: first those that have not failed, so that one that always fails does
   * not keep the others waiting.
   */
  get fetchOrder() {
    const waiting = this.entries.filter((entry) => entry.progress === 'pending');
    return [...waiting.filter((entry) => !entry.hasNotice), ...waiting.filter((entry) => entry.hasNotice)]
      .map((entry) => entry.id);
  }

  /** The notification that was shown last. */
  get lastShown() { return this.entries.filter((entry) => entry.progress === 'shown').at(-1)?.id ?? null; }

  /**
   * Notes that a notification exists, for example because a push or the inbox names it.
   *
   * @param {string} id
   * @param {number} now
   * @returns {boolean} whether it is to be fetched. One that was shown or withdrawn is not; one that is claimed may be
   */
  learn(id, now) {
    const entry = this.get(id);
    if (!entry) {
      this.#append(id, 'pending', now);
      return true;
    }
    if (entry.progress === 'gone') Object.assign(entry, { progress: 'pending', at: now });
    return entry.progress === 'pending' || entry.progress === 'claimed';
  }

  /**
   * Notes that the server is being asked for a notification.
   *
   * @param {string} id
   * @returns {boolean} whether an earlier request has no clear answer
   */
  markRequested(id) {
    const entry = this.get(id);
    if (!entry) return false;
    entry.openRequests = Math.min(entry.openRequests + 1, maxOpenRequests);
    return entry.openRequests > 1;
  }

  /**
   * Notes that the server has refused a request for a notification, or was not asked after all.
   *
   * @param {string} id
   */
  unmarkRequested(id) {
    const entry = this.get(id);
    if (entry) entry.openRequests = Math.max(0, entry.openRequests - 1);
  }

  /**
   * Claims the right to show a secret that was fetched.
   *
   * @param {string} id
   * @param {string} process
   * @param {boolean} isFirstReader whether no device of the user had fetched it before. Then a withdrawal that came
   *   in the meantime may have been caused by this fetch
   * @param {number} now
   * @returns {{kind: 'granted'} | {kind: 'settled'} | {kind: 'held', by: Claim}} `settled`: it was shown or withdrawn.
   *   `held`: another process is about to show it, or has died
   */
  claim(id, process, isFirstReader, now) {
    const entry = this.get(id);
    if (!entry) {
      Object.assign(this.#append(id, 'claimed', now), { process, isFirstReader });
      return { kind: 'granted' };
    }
    if (entry.progress === 'shown') return { kind: 'settled' };
    if (entry.progress === 'withdrawn' && !isFirstReader) return { kind: 'settled' };
    if (entry.progress === 'claimed') {
      if (entry.process === process) return { kind: 'settled' };
      return { kind: 'held', by: claimOf(entry) };
    }
    Object.assign(entry, {
      progress: 'claimed', process, at: now, isFirstReader: isFirstReader || entry.isFirstReader,
      openRequests: Math.max(0, entry.openRequests - 1),
    });
    return { kind: 'granted' };
  }

  /**
   * The claims of all processes but this one.
   *
   * @param {string} process
   * @returns {Claim[]}
   */
  claimsOfOthers(process) {
    return this.entries.filter((entry) => entry.progress === 'claimed' && entry.process !== process).map(claimOf);
  }

  /**
   * Ends a claim.
   *
   * @param {string} id
   * @param {string} process
   * @param {boolean} isShown whether the user sees the secret. If not, it waits for the next wake
   * @param {number} now
   * @returns {'noted' | 'withdrawn' | 'lost'} `withdrawn`: it was withdrawn in the meantime, and must be removed from
   *   the screen. `lost`: the process has no claim any more
   */
  settle(id, process, isShown, now) {
    const entry = this.get(id);
    if (!entry) return 'lost';
    if (entry.progress === 'withdrawn') return 'withdrawn';
    if (entry.progress !== 'claimed' || entry.process !== process) return 'lost';
    Object.assign(entry, { progress: isShown ? 'shown' : 'pending', at: now });
    delete entry.process;
    return 'noted';
  }

  /**
   * Notes that a notification was withdrawn, also before its push has come.
   *
   * @param {string} id
   * @param {number} now
   */
  withdraw(id, now) {
    const entry = this.get(id);
    if (entry) {
      Object.assign(entry, { progress: 'withdrawn', at: now });
      delete entry.process;
    } else {
      this.#append(id, 'withdrawn', now);
    }
  }

  /**
   * Notes that the user sees the generic text or the prompt for a notification.
   *
   * @param {string} id
   * @param {boolean} [isGone]
   * @returns {boolean} whether it is the first time
   */
  markNoticed(id, isGone = false) {
    const entry = this.get(id);
    if (!entry) return true;
    if (isGone && entry.progress === 'pending') entry.progress = 'gone';
    const isFirst = !entry.hasNotice;
    entry.hasNotice = true;
    return isFirst;
  }

  /**
   * Takes over what was noted while the store could not be written.
   *
   * @param {LedgerEntry[]} others
   */
  merge(others) {
    for (const other of others) {
      const index = this.entries.findIndex((entry) => entry.id === other.id);
      if (index < 0) {
        this.entries.push({ ...other });
        continue;
      }
      const entry = this.entries[index];
      const { hasNotice, openRequests } = entry;
      if (rank[other.progress] > rank[entry.progress]) this.entries[index] = { ...other };
      this.entries[index].hasNotice = hasNotice || other.hasNotice;
      this.entries[index].openRequests = Math.max(openRequests, other.openRequests);
    }
  }

  /**
   * Adds an entry, and forgets the oldest: of those that are settled, if there are any. Nothing is forgotten by its
   * age, because a clock that jumps would show a secret again.
   *
   * @param {string} id
   * @param {LedgerEntry['progress']} progress
   * @param {number} now
   * @returns {LedgerEntry}
   */
  #append(id, progress, now) {
    const { entries } = this;
    const added = { id, progress, at: now, hasNotice: false, openRequests: 0, isFirstReader: false };
    entries.push(added);
    while (entries.length > Math.max(1, this.limits.maxRememberedIDs)) {
      const settled = entries.findIndex((entry) => ['shown', 'withdrawn', 'gone'].includes(entry.progress));
      entries.splice(Math.max(0, settled), 1);
    }
    return added;
  }
}
