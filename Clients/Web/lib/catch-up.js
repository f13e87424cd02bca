import { maxEntries, readInboxPage } from './answers.js';
import { allowsCatchUp, asksForLogIn, DiagnosticCode, SecurePushFailure } from './codes.js';
import { limited } from './clock.js';
import { acquire, claim, finish, prompt } from './fetching.js';
import { resolveDoubts, resolveQuestions } from './receiving.js';
import { addReport, wakeReport } from './report.js';

/**
 * @typedef {import('./client.js').SecurePushClient} SecurePushClient
 * @typedef {import('./report.js').WakeReport} WakeReport
 */

/**
 * The new notifications of the inbox, by their IDs. They are stored as waiting.
 *
 * @typedef {object} Listing
 * @property {string | null} anchor the notification after which the new ones come; `null` for the first listing of this
 *   device, which is of unread notifications only
 * @property {string[]} found
 * @property {number} unread
 */

/** Two thousand notifications. The next wake goes on. */
const maxPages = 10;

/** Fetches what is in the inbox and what waits. One run serves all wakes that came before it began. */
export class CatchUp {
  /** @param {SecurePushClient} client */
  constructor(client) {
    this.client = client;
    /** @type {{lastWake: number, report: Promise<WakeReport>} | null} the run that goes on now or was the last */
    this.current = null;
  }

  /**
   * Shows what is new and what waits.
   *
   * @param {import('./client.js').Wake} wake
   * @returns {Promise<WakeReport>}
   */
  async run(wake) {
    const { clock } = this.client;
    const joined = this.current && this.current.lastWake >= wake.number ? this.current.report : null;
    const run = joined ?? this.#start(wake.deadline);
    try {
      const report = await limited(wake.deadline, clock, () => run);
      // The wake that began the run reports the notifications.
      return joined ? { ...report, shown: [], waiting: [] } : { ...report };
    } catch {
      return wakeReport({ result: 'failed', code: DiagnosticCode.timedOut });
    }
  }

  /**
   * @param {number} deadline
   * @returns {Promise<WakeReport>}
   */
  #start(deadline) {
    const earlier = this.current?.report;
    const report = (async () => {
      await earlier?.catch(() => {});
      return catchUp(this.client, deadline);
    })();
    report.catch(() => {});
    this.current = { lastWake: this.client.wakes, report };
    return report;
  }
}

/**
 * @param {SecurePushClient} client
 * @param {number} deadline
 * @returns {Promise<WakeReport>}
 */
async function catchUp(client, deadline) {
  await resolveDoubts(client);
  await resolveQuestions(client, deadline);
  const report = wakeReport();
  let inbox;
  try {
    inbox = await list(client, deadline);
  } catch (error) {
    if (!(error instanceof SecurePushFailure)) throw error;
    // What waits is not lost; the next wake tries again.
    const waiting = asksForLogIn(error.code) ? await client.waiting() : [];
    return waiting.length > 0
      ? prompt(client, waiting, error.code) : wakeReport({ result: 'failed', code: error.code });
  }
  if (inbox.found.length > 1) await showPages(client, inbox, report, deadline);
  if (report.code === null) await showWaiting(client, inbox, report, deadline);
  if (report.code === null && await outwaitClaims(client, deadline)) await showWaiting(client, inbox, report, deadline);
  await client.setBadge(inbox.unread);
  return report;
}

/**
 * Waits until the claims of other processes have expired, and finds out how they ended.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 * @returns {Promise<boolean>} whether there were any, and there was time for them
 */
async function outwaitClaims(client, deadline) {
  const { now } = client.clock;
  const state = await client.keeper.tryRead();
  const seconds = state ? client.ledger(state).secondsOfClaims(client.process, now) : null;
  if (seconds === null || client.clock.uptime + seconds >= deadline) return false;
  await client.clock.sleep(seconds);
  await resolveDoubts(client);
  return true;
}

/**
 * Lists the inbox after the last seen notification, without payloads: nothing is marked as read before it is stored as
 * waiting.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 * @returns {Promise<Listing>}
 * @throws {SecurePushFailure}
 */
async function list(client, deadline) {
  const state = await client.keeper.tryRead();
  if (!state) throw new SecurePushFailure(DiagnosticCode.locked);
  /** @type {Listing} */
  const listing = { anchor: state.cursor, found: [], unread: 0 };
  await listPages(client, listing, state.cursor, state.cursor === null, deadline);
  // A delayed notification (`NotBefore`) is older than the last seen one. It is unread, and not known here.
  if (state.cursor !== null && listing.unread > (await client.waiting()).length) {
    await listPages(client, listing, null, true, deadline);
  }
  return listing;
}

/**
 * @param {SecurePushClient} client
 * @param {Listing} listing changed in place
 * @param {string | null} start
 * @param {boolean} isUnreadOnly
 * @param {number} deadline
 */
async function listPages(client, listing, start, isUnreadOnly, deadline) {
  let after = start;
  for (let number = 0; number < maxPages; number += 1) {
    /** @type {[string, string][]} */
    const query = [['Limit', `${maxEntries}`]];
    if (isUnreadOnly) query.push(['Unread', 'true']);
    if (after !== null) query.push(['After', after]);
    const page = await inboxPage(client, query, deadline);
    listing.unread = page.unread;
    const ids = page.entries.map((entry) => entry.id);
    const learned = await learn(client, ids, !isUnreadOnly || listing.anchor === null);
    listing.found.push(...learned.fresh.filter((id) => !listing.found.includes(id)));
    // The rest comes at the next wake, so that nothing that waits is forgotten.
    const last = ids.at(-1);
    if (!page.hasNext || last === undefined || last === after) return;
    if (learned.waiting >= client.limits.maxRememberedIDs / 2) return;
    after = last;
  }
}

/**
 * Stores the notifications of a page as waiting.
 *
 * @param {SecurePushClient} client
 * @param {string[]} ids
 * @param {boolean} movesCursor The listing of delayed notifications is behind the cursor and does not move it. A device
 *   that has seen no page yet begins after the newest notification that it has shown.
 */
function learn(client, ids, movesCursor) {
  const { now } = client.clock;
  return client.keeper.tryUpdate({ fresh: /** @type {string[]} */ ([]), waiting: 0 }, ({ ledger }, state) => {
    const fresh = ids.filter((id) => !ledger.get(id));
    for (const id of ids) ledger.learn(id, now);
    if (movesCursor) state.cursor = ids.at(-1) ?? state.cursor ?? ledger.lastShown;
    return { fresh, waiting: ledger.waiting.length };
  });
}

/**
 * @param {SecurePushClient} client
 * @param {[string, string][]} query
 * @param {number} deadline
 * @returns {Promise<import('./answers.js').InboxPage>}
 * @throws {SecurePushFailure}
 */
export async function inboxPage(client, query, deadline) {
  const outcome = await client.connection.send({ path: 'api/notifications', query }, deadline);
  switch (outcome.kind) {
    case 'success': return readInboxPage(outcome.body);
    case 'refused': throw new SecurePushFailure(DiagnosticCode.status(outcome.status));
    case 'locked': throw new SecurePushFailure(DiagnosticCode.locked);
    default: throw new SecurePushFailure(outcome.code);
  }
}

/**
 * Fetches many new notifications with few requests (`include=payload`). What does not come in this way is fetched one
 * by one.
 *
 * @param {SecurePushClient} client
 * @param {Listing} listing its count of unread notifications is changed in place
 * @param {WakeReport} report changed in place
 * @param {number} deadline
 */
async function showPages(client, listing, report, deadline) {
  const { limits } = client;
  const missing = new Set(listing.found);
  const asked = await client.keeper.tryUpdate(/** @type {string[]} */ (listing.found), ({ ledger }) => (
    listing.found.filter((id) => ledger.ask(id))));
  let after = listing.anchor;
  while (missing.size > 0 && report.shown.length < limits.maxShownPerWake) {
    /** @type {[string, string][]} */
    const query = [['include', 'payload'], ['Limit', `${limits.maxSecretsPerPage}`]];
    if (listing.anchor === null) query.push(['Unread', 'true']);
    if (after !== null) query.push(['After', after]);
    const page = await inboxPage(client, query, deadline).catch(() => null);
    const last = page?.entries.at(-1)?.id;
    if (!page || last === undefined) return;
    listing.unread = page.unread;
    for (const { secret } of page.entries) {
      if (!secret || !missing.delete(secret.id) || client.underWay.has(secret.id)) continue;
      client.underWay.add(secret.id);
      const acquisition = await claim(client, secret, null, asked.includes(secret.id), deadline);
      addReport(report, await finish(client, acquisition, secret.id));
    }
    if (!page.hasNext || !page.entries.some((entry) => entry.secret) || last === after) return;
    after = last;
  }
}

/**
 * Fetches and shows what waits, one by one, until something fails for all.
 *
 * @param {SecurePushClient} client
 * @param {Listing} listing its count of unread notifications is changed in place
 * @param {WakeReport} report changed in place
 * @param {number} deadline
 */
async function showWaiting(client, listing, report, deadline) {
  const { clock, limits } = client;
  const state = await client.keeper.tryRead();
  for (const id of state ? client.ledger(state).fetchOrder : []) {
    if (client.underWay.has(id)) continue;
    if (report.shown.length >= limits.maxShownPerWake || clock.uptime >= deadline) return;
    const acquisition = await acquire(client, id, Math.min(deadline, clock.uptime + limits.secondsPerTry));
    if (acquisition.kind === 'secret' && acquisition.unread !== null) listing.unread = acquisition.unread;
    if (acquisition.kind === 'loggedOut') {
      const waiting = await client.waiting();
      addReport(report, await prompt(client, waiting.length > 0 ? waiting : [id], acquisition.code));
      return;
    }
    const step = await finish(client, acquisition, id);
    addReport(report, step);
    if (!allowsCatchUp(step.code)) return;
  }
}
