import { maxEntries, readInboxPage, readSecretAnswer } from './answers.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { decrypt } from './fetching.js';
import { isLocked } from './store.js';

/** @typedef {import('./client.js').SecurePushClient} SecurePushClient */

/** The server's limit for one request. */
const maxMarks = 1_000;
/** How many shown notifications one wake reports. */
const maxReports = 50;
/** A report is never worth more time than this, in seconds. */
const secondsForReports = 5;

/**
 * @param {SecurePushClient} client
 * @param {string[]} ids
 */
export async function markAsRead(client, ids) {
  const { deadline } = client.begin();
  for (let start = 0; start < ids.length; start += maxMarks) {
    await mark(client, { Ids: ids.slice(start, start + maxMarks) }, deadline);
  }
  const { now } = client.clock;
  // The next wake must not show them.
  await client.keeper.tryUpdate(null, ({ ledger }) => { for (const id of ids) ledger.withdraw(id, now); });
  await client.presenter.remove(ids);
  await refreshBadge(client, deadline);
}

/**
 * @param {SecurePushClient} client
 * @param {string} id
 */
export async function markAsReadThrough(client, id) {
  const { deadline } = client.begin();
  await mark(client, { Through: id }, deadline);
  await refreshBadge(client, deadline);
}

/**
 * @param {SecurePushClient} client
 * @param {{after?: string | null, unreadOnly?: boolean}} options
 */
export function listInbox(client, { after = null, unreadOnly = false }) {
  /** @type {[string, string][]} */
  const query = [['Limit', `${maxEntries}`]];
  if (unreadOnly) query.push(['Unread', 'true']);
  if (after !== null) query.push(['After', after]);
  return inboxPage(client, query, client.begin().deadline);
}

/**
 * Fetches a page of the inbox.
 *
 * @param {SecurePushClient} client
 * @param {[string, string][]} query
 * @param {number} deadline
 * @returns {Promise<import('./answers.js').InboxPage>}
 * @throws {SecurePushFailure}
 */
export async function inboxPage(client, query, deadline) {
  const outcome = await client.connection.send({ path: 'api/notifications', query }, deadline);
  if (outcome.kind !== 'success') throw outcomeFailure(outcome);
  return readInboxPage(outcome.body);
}

/**
 * @param {SecurePushClient} client
 * @param {string} id
 */
export async function readSecret(client, id) {
  /** @type {[string, string][]} */
  const query = [['include', 'unread']];
  const outcome = await client.connection.send({ path: `api/notifications/${id}`, query }, client.begin().deadline);
  if (outcome.kind !== 'success') throw outcomeFailure(outcome);
  const { secret, unread } = readSecretAnswer(outcome.body, id);
  // The badge is not worth a wait: a browser may leave it pending.
  if (unread !== null) client.setBadge(unread);
  return decrypt(client, secret).catch((error) => {
    if (error instanceof SecurePushFailure) throw error;
    throw new SecurePushFailure(isLocked(error) ? DiagnosticCode.locked : DiagnosticCode.noKey);
  });
}

/**
 * @param {SecurePushClient} client
 * @param {object} json
 * @param {number} deadline
 */
async function mark(client, json, deadline) {
  const outcome = await client.connection.send(
    { method: 'POST', path: 'api/notifications/read', json, success: 204 }, deadline);
  if (outcome.kind !== 'success') throw outcomeFailure(outcome);
}

/**
 * Asks for the number of unread notifications. A failure leaves the badge as it is.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
async function refreshBadge(client, deadline) {
  const page = await inboxPage(client, [['Limit', '1'], ['Unread', 'true']], deadline).catch(() => null);
  if (page) await client.setBadge(page.unread);
}

/**
 * Tells the server which notifications were shown. One wake does this for all wakes at the same time. A failure ends it
 * until the next wake.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
export function reportShown(client, deadline) {
  return client.once('reportShown', async () => {
    const end = Math.min(deadline, client.clock.uptime + secondsForReports);
    // A store that cannot be written keeps an ID, so it is reported once.
    const reported = new Set();
    while (reported.size < maxReports) {
      const ids = (await client.keeper.tryRead())?.unreported ?? [];
      const id = ids.find((candidate) => !reported.has(candidate));
      if (id === undefined) return;
      reported.add(id);
      const outcome = await client.connection.send(
        { method: 'POST', path: `api/notifications/${id}/shown`, success: 204 }, end);
      // A captive portal redirects: the report is still to be sent.
      if (outcome.kind !== 'success' && !isFinal(outcome)) return;
      await client.keeper.tryUpdate(null, (_, state) => {
        state.unreported = state.unreported.filter((unreported) => unreported !== id);
      });
    }
  });
}

/**
 * Whether the server will say the same to the same request.
 *
 * @param {import('./connection.js').Outcome} outcome
 */
export const isFinal = (outcome) => outcome.kind === 'refused' && outcome.status >= 400 && outcome.status < 500
  && outcome.status !== 408 && outcome.status !== 429;

/**
 * The error of a request that did not succeed.
 *
 * @param {import('./connection.js').Outcome} outcome
 * @returns {SecurePushFailure}
 */
export function outcomeFailure(outcome) {
  if (outcome.kind === 'refused') return new SecurePushFailure(DiagnosticCode.status(outcome.status));
  if (outcome.kind === 'failed' || outcome.kind === 'loggedOut') return new SecurePushFailure(outcome.code);
  return new SecurePushFailure(DiagnosticCode.locked);
}
