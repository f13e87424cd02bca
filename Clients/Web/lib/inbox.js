import { maxEntries, readInboxPage, readSecretAnswer } from './answers.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { decrypt } from './fetching.js';
import { isLocked } from './store.js';
import { sdk } from './version.js';

/** @typedef {import('./client.js').SecurePushClient} SecurePushClient */

/**
 * A page of the inbox for a list of the app.
 *
 * @typedef {object} AppPage
 * @property {AppEntry[]} entries oldest first
 * @property {number} unread how many notifications are unread
 * @property {boolean} hasNext whether there is another page
 */

/**
 * @typedef {object} AppEntry
 * @property {string} id
 * @property {boolean} isRead
 * @property {string | null} createdAt
 * @property {import('./answers.js').SecretNotification | null} secret `null` unless the page was asked for with secrets
 * @property {string | null} code why there is no secret on a page with secrets
 */

/** The server's limit of IDs in one request. */
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
 * @param {{after?: string | null, unreadOnly?: boolean, withSecrets?: boolean}} options
 * @returns {Promise<AppPage>}
 */
export async function listInbox(client, { after = null, unreadOnly = false, withSecrets = false }) {
  const limit = withSecrets ? client.limits.maxSecretsPerPage : maxEntries;
  /** @type {[string, string][]} */
  const query = [['Limit', `${limit}`]];
  if (withSecrets) query.unshift(['include', 'payload']);
  if (unreadOnly) query.push(['Unread', 'true']);
  if (after !== null) query.push(['After', after]);
  const page = await inboxPage(client, query, client.begin().deadline);
  const entries = [];
  for (const { secret: fetched, ...entry } of page.entries) {
    const opened = fetched ? await openInApp(client, fetched).catch((error) => error) : null;
    const isFailure = opened instanceof SecurePushFailure;
    entries.push({ ...entry, secret: isFailure ? null : opened, code: isFailure ? opened.code : null });
  }
  if (withSecrets) sendReports(client);
  return { ...page, entries };
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
  const opened = await openInApp(client, secret);
  sendReports(client);
  return opened;
}

/**
 * Opens a secret for the app. If the system has not got it, the user sees it now.
 *
 * @param {SecurePushClient} client
 * @param {import('./answers.js').FetchedNotification} fetched
 * @returns {Promise<import('./answers.js').SecretNotification>}
 * @throws {SecurePushFailure}
 */
async function openInApp(client, fetched) {
  try {
    const secret = await decrypt(client, fetched);
    if (secret.display !== 'full') await client.keeper.tryUpdate(null, (changes) => changes.report(secret.id));
    return secret;
  } catch (error) {
    if (error instanceof SecurePushFailure) throw error;
    throw new SecurePushFailure(isLocked(error) ? DiagnosticCode.locked : DiagnosticCode.noKey);
  }
}

/**
 * Sends the reports in the background.
 *
 * @param {SecurePushClient} client
 */
export function sendReports(client) { reportShown(client, client.begin().deadline).catch(() => {}); }

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
 * Tells the server which notifications were shown, and in place of which the user sees a generic text. One wake does this
 * for all wakes at the same time. A failure ends it until the next wake.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 */
export function reportShown(client, deadline) {
  return client.once('reportShown', async () => {
    const end = Math.min(deadline, client.clock.uptime + secondsForReports);
    // A store that cannot be written keeps a report, so it is sent once.
    const sent = new Set();
    while (sent.size < maxReports) {
      const state = await client.keeper.tryRead();
      const DeviceId = state?.registration.installationID ?? undefined;
      const reports = state ? reportsOf(state) : [];
      const report = reports.find(({ key }) => !sent.has(key));
      if (!report) return;
      sent.add(report.key);
      const json = { ...report.json, Sdk: sdk, DeviceId };
      const outcome = await client.connection.send(
        { method: 'POST', path: `api/notifications/${report.id}/shown`, json, success: 204 }, end);
      // A captive portal redirects: the report is still to be sent.
      if (outcome.kind !== 'success' && !isFinal(outcome)) return;
      await client.keeper.tryUpdate(null, (_, state) => report.end(state));
    }
  });
}

/**
 * What is still to be reported. The server knows a generic text by the device that shows it, so a device that is not
 * registered reports none.
 *
 * @param {import('./state.js').ClientState} state
 */
function reportsOf({ unreported, genericTexts = [], registration }) {
  const secrets = unreported.map((id) => ({
    id, key: id, json: { Text: 'secret' },
    end: (/** @type {import('./state.js').ClientState} */ state) => {
      state.unreported = state.unreported.filter((other) => other !== id);
    },
  }));
  const texts = registration.installationID === null ? [] : genericTexts;
  const generic = texts.map(({ id, code }) => ({
    id, key: `${id} ${code}`, json: { Text: 'generic', Code: code ?? undefined },
    end: (/** @type {import('./state.js').ClientState} */ state) => {
      state.genericTexts = (state.genericTexts ?? []).filter((other) => other.id !== id || other.code !== code);
    },
  }));
  // A secret has come after the generic text in its place.
  return [...generic, ...secrets];
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
