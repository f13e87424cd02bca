import { maxEntries, readInboxPage } from './answers.js';
import { allowsCatchUp, asksForLogIn, DiagnosticCode, SecurePushFailure } from './codes.js';
import { limited } from './clock.js';
import { acquire, acquireFetched, finish, forgetRequests, prompt, repeated } from './fetching.js';
import { inboxPage } from './inbox.js';
import { confirmWithdrawals, resolveInDoubtClaims } from './receiving.js';
import { addReport, wakeReport } from './report.js';

/**
 * @typedef {import('./client.js').SecurePushClient} SecurePushClient
 * @typedef {import('./client.js').Wake} Wake
 * @typedef {import('./report.js').WakeReport} WakeReport
 * @typedef {import('./state.js').FetchRequest} FetchRequest
 */

/**
 * The new notifications of the inbox, by their IDs. They are stored as waiting.
 *
 * @typedef {object} Listing
 * @property {string | null} anchor the notification after which the new ones come; `null` for the first listing of this
 *   device, which is of unread notifications only
 * @property {number} userChanges the state's before the first request
 * @property {string[]} found
 * @property {number} unread
 */

/**
 * The time from the end of a wake's requests to its own, in seconds: the user sees something in place of what was not
 * fetched.
 */
export const secondsAfterRequests = 0.05;
/** A wake lists at most 2,000 notifications. The next wake goes on. */
const maxPages = 10;

/** Fetches what is in the inbox and what waits. One run serves all wakes that came before it began. */
export class CatchUp {
  /** @param {SecurePushClient} client */
  constructor(client) {
    this.client = client;
    /** @type {{lastWake: number, userChanges: number, report: Promise<WakeReport>} | null} the run that goes on now or
     * was the last; `userChanges` is that of the wake that began it */
    this.current = null;
  }

  /**
   * Shows what is new and what waits.
   *
   * @param {Wake} wake
   * @returns {Promise<WakeReport>}
   */
  async run(wake) {
    const { clock } = this.client;
    const { current } = this;
    const isServed = current && current.lastWake >= wake.number && current.userChanges >= wake.userChanges;
    const joined = isServed ? current.report : null;
    const run = joined ?? this.#start(wake);
    try {
      const report = await limited(wake.deadline + secondsAfterRequests, clock, () => run);
      // The wake that began the run reports the notifications.
      return joined ? { ...report, shown: [], waiting: [] } : { ...report };
    } catch {
      // What the run finds later is shown by the next wake.
      if (!joined) wake.isOver = true;
      return wakeReport({ result: 'failed', code: DiagnosticCode.timedOut });
    }
  }

  /**
   * @param {Wake} wake
   * @returns {Promise<WakeReport>}
   */
  #start(wake) {
    const earlier = this.current?.report;
    const report = (async () => {
      await earlier?.catch(() => {});
      return catchUp(this.client, wake);
    })();
    report.catch(() => {});
    this.current = { lastWake: this.client.wakes, userChanges: wake.userChanges, report };
    return report;
  }
}

/**
 * @param {SecurePushClient} client
 * @param {Wake} wake
 * @returns {Promise<WakeReport>}
 */
async function catchUp(client, wake) {
  const { deadline } = wake;
  await resolveInDoubtClaims(client);
  await confirmWithdrawals(client, deadline);
  const report = wakeReport();
  let inbox;
  try {
    inbox = await list(client, wake);
  } catch (error) {
    if (!(error instanceof SecurePushFailure)) throw error;
    if (!await client.isCurrent(wake)) return report;
    // The next wake tries again.
    const waiting = asksForLogIn(error.code) ? await client.waiting() : [];
    return waiting.length > 0
      ? prompt(client, waiting, error.code) : wakeReport({ result: 'failed', code: error.code });
  }
  if (!await client.isCurrent(wake)) return report;
  if (inbox.found.length > 1) await showPages(client, inbox, report, wake);
  if (report.code === null) await showWaiting(client, inbox, report, wake);
  if (report.code === null && await waitForClaims(client, deadline)) await showWaiting(client, inbox, report, wake);
  if (await client.isCurrent(wake)) await client.setBadge(inbox.unread);
  return report;
}

/**
 * Waits until the claims of other processes have expired, and then checks whether they showed the secrets.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 * @returns {Promise<boolean>} whether there were claims, and they expired before the deadline
 */
async function waitForClaims(client, deadline) {
  const state = await client.keeper.tryRead();
  const claims = state ? client.ledger(state).claimsOfOthers(client.process) : [];
  if (claims.length === 0) return false;
  const seconds = Math.max(...claims.map((claim) => client.claimWatch.secondsLeft(claim)));
  if (client.clock.uptime + seconds >= deadline) return false;
  await client.clock.sleep(seconds);
  await resolveInDoubtClaims(client);
  return true;
}

/**
 * Lists the inbox after the last seen notification, without payloads: nothing is marked as read before it is stored as
 * waiting.
 *
 * @param {SecurePushClient} client
 * @param {Wake} wake
 * @returns {Promise<Listing>}
 * @throws {SecurePushFailure}
 */
async function list(client, { userChanges, deadline }) {
  const state = await client.keeper.tryRead();
  if (!state) throw new SecurePushFailure(DiagnosticCode.locked);
  /** @type {Listing} */
  const listing = { anchor: state.cursor, userChanges: state.userChanges, found: [], unread: 0 };
  // A wake of the new user lists that user's inbox.
  if (state.userChanges > userChanges) return listing;
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
    const learned = await learn(client, ids, listing, !isUnreadOnly || listing.anchor === null);
    // The user has changed since the request, or nothing can be stored now.
    if (!learned) return;
    listing.found.push(...learned.fresh);
    // The rest comes at the next wake. More IDs would push waiting ones out of the ledger.
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
 * @param {Listing} listing
 * @param {boolean} movesCursor The listing of delayed notifications is behind the cursor and does not move it. A device
 *   that has seen no page yet begins after the newest notification that it has shown.
 * @returns {Promise<{fresh: string[], waiting: number} | null>}
 */
function learn(client, ids, { userChanges }, movesCursor) {
  const { now } = client.clock;
  return client.keeper.tryUpdate(null, ({ ledger }, state) => {
    if (state.userChanges !== userChanges) return null;
    const fresh = ids.filter((id) => !ledger.get(id));
    for (const id of ids) ledger.learn(id, now);
    if (movesCursor) state.cursor = ids.at(-1) ?? state.cursor ?? ledger.lastShown;
    return { fresh, waiting: ledger.waiting.length };
  });
}

/**
 * Fetches many new notifications with few requests (`include=payload`). The others are fetched one by one later.
 *
 * @param {SecurePushClient} client
 * @param {Listing} listing its count of unread notifications is changed in place
 * @param {WakeReport} report changed in place
 * @param {Wake} wake
 */
async function showPages(client, listing, report, wake) {
  const { limits } = client;
  const { deadline } = wake;
  let wanted = listing.found;
  let after = listing.anchor;
  while (wanted.length > 0 && report.shown.length < limits.maxShownPerWake) {
    // The server marks no more than these as read.
    const requests = await request(client, wanted.slice(0, limits.maxSecretsPerPage), listing);
    // The user has changed since the listing, or nothing can be stored now.
    if (requests.size === 0) return;
    const { page, lost } = await payloadPage(client, listing, after, requests, deadline);
    const last = page?.entries.at(-1)?.id;
    if (!page || last === undefined) return;
    listing.unread = page.unread;
    const secrets = page.entries.flatMap(({ secret }) => secret ?? []);
    const ids = new Set(secrets.map(({ id }) => id));
    // The server has marked all of them as read, also those that have become visible since the listing.
    for (const [id, unlisted] of await learnUnlisted(client, ids, listing)) requests.set(id, unlisted);
    for (const secret of secrets) {
      const asked = requests.get(secret.id);
      if (!asked || !requests.delete(secret.id)) continue;
      const acquisition = await acquireFetched(client, secret, repeated(asked, lost), deadline);
      addReport(report, await finish(client, acquisition, secret.id, wake));
    }
    wanted = wanted.filter((id) => !ids.has(id));
    if (!page.hasNext || secrets.length === 0 || last === after) return;
    after = last;
  }
}

/**
 * Fetches a page with payloads.
 *
 * @param {SecurePushClient} client
 * @param {Listing} listing
 * @param {string | null} after
 * @param {Map<string, FetchRequest>} requests those that the page may have
 * @param {number} deadline
 * @returns {Promise<{page: import('./answers.js').InboxPage | null, lost: number}>} the page, if there is one, and the
 *   number of tries whose answer was lost
 */
async function payloadPage(client, listing, after, requests, deadline) {
  /** @type {[string, string][]} */
  const query = [['include', 'payload'], ['Limit', `${client.limits.maxSecretsPerPage}`]];
  if (listing.anchor === null) query.push(['Unread', 'true']);
  if (after !== null) query.push(['After', after]);
  const { outcome, lost } = await client.connection.sendCounting({ path: 'api/notifications', query }, deadline);
  const page = outcome.kind === 'success' ? tryReadPage(outcome.body) : null;
  if (lost === 0 && (outcome.kind !== 'success' || page)) {
    // Known notifications have taken the place of those that are not on the page.
    const onPage = new Set(page?.entries.map((entry) => entry.secret?.id));
    await forgetRequests(client, new Map([...requests].filter(([id]) => !onPage.has(id))));
  }
  return { page, lost };
}

/**
 * @param {Uint8Array} body
 * @returns {import('./answers.js').InboxPage | null}
 */
function tryReadPage(body) {
  try { return readInboxPage(body); } catch { return null; }
}

/**
 * Notes that the server is being asked for notifications.
 *
 * @param {SecurePushClient} client
 * @param {string[]} ids
 * @param {Listing} listing
 * @returns {Promise<Map<string, FetchRequest>>}
 */
function request(client, ids, { userChanges }) {
  return client.keeper.tryUpdate(new Map(), (changes, state) => (
    new Map(state.userChanges === userChanges ? ids.map((id) => [id, changes.request(id)]) : [])));
}

/**
 * Notes the notifications that the client does not know yet.
 *
 * @param {SecurePushClient} client
 * @param {Set<string>} ids
 * @param {Listing} listing
 * @returns {Promise<Map<string, FetchRequest>>}
 */
function learnUnlisted(client, ids, { userChanges }) {
  const { now } = client.clock;
  return client.keeper.tryUpdate(new Map(), (changes, state) => {
    if (state.userChanges !== userChanges) return new Map();
    const unlisted = [...ids].filter((id) => !changes.ledger.get(id));
    for (const id of unlisted) changes.ledger.learn(id, now);
    return new Map(unlisted.map((id) => [id, changes.request(id)]));
  });
}

/**
 * Fetches and shows the waiting notifications one by one. A failure that concerns all of them ends it.
 *
 * @param {SecurePushClient} client
 * @param {Listing} listing its count of unread notifications is changed in place
 * @param {WakeReport} report changed in place
 * @param {Wake} wake
 */
async function showWaiting(client, listing, report, wake) {
  const { deadline } = wake;
  const { clock, limits } = client;
  const state = await client.keeper.tryRead();
  for (const id of state ? client.ledger(state).fetchOrder : []) {
    if (client.inFlight.has(id)) continue;
    if (report.shown.length >= limits.maxShownPerWake) return;
    const acquisition = await acquire(client, id, wake, Math.min(deadline, clock.uptime + limits.secondsPerTry));
    if (acquisition.kind === 'secret' && acquisition.unread !== null) listing.unread = acquisition.unread;
    if (acquisition.kind === 'loggedOut') {
      const waiting = await client.waiting();
      addReport(report, await prompt(client, waiting.length > 0 ? waiting : [id], acquisition.code));
      return;
    }
    const step = await finish(client, acquisition, id, wake);
    addReport(report, step);
    if (!allowsCatchUp(step.code)) return;
  }
}
