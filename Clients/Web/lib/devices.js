import { AnswerReader } from './answers.js';
import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { outcomeFailure } from './inbox.js';
import { isInstallationID } from './push.js';

/** @typedef {import('./client.js').SecurePushClient} SecurePushClient */

/**
 * One of the user's devices.
 *
 * @typedef {object} UserDevice
 * @property {string} id the installation's ID
 * @property {string} platform as the hub names it, such as `apns` or `browser`
 * @property {string | null} lastSeenAt the day on which it last registered (RFC 3339)
 * @property {boolean} isThisDevice
 */

/** The most that the server sends on a page. */
const maxEntries = 100;
const maxPages = 10;

/**
 * The user's devices, in the order of their IDs.
 *
 * @param {SecurePushClient} client
 * @returns {Promise<UserDevice[]>}
 * @throws {SecurePushFailure}
 */
export async function listDevices(client) {
  const { deadline } = client.begin();
  const own = (await client.keeper.tryRead())?.registration.installationID ?? null;
  /** @type {UserDevice[]} */
  const devices = [];
  for (let number = 0; number < maxPages; number += 1) {
    /** @type {[string, string][]} */
    const query = [['Limit', `${maxEntries}`]];
    const last = devices.at(-1)?.id;
    if (last !== undefined) query.push(['After', last]);
    const outcome = await client.connection.send({ path: 'api/installations', query }, deadline);
    if (outcome.kind !== 'success') throw outcomeFailure(outcome);
    const page = readPage(outcome.body, own);
    devices.push(...page.devices);
    if (!page.hasNext || page.devices.length === 0) break;
  }
  return devices;
}

/**
 * Whether two IDs are the same. The server compares them without regard to case.
 *
 * @param {string} id
 * @param {string | null} own
 */
const isSameDevice = (id, own) => id.toLowerCase() === own?.toLowerCase();

/**
 * Reads a page of `GET /api/installations`. The push channels in it are secrets, and are not kept.
 *
 * @param {Uint8Array} body
 * @param {string | null} own
 */
function readPage(body, own) {
  try {
    const members = AnswerReader.of(body).members();
    const devices = AnswerReader.elements(members.get('Installations') ?? '', maxEntries).map((element) => {
      const { installationId: id, platform, LastSeenAt: lastSeenAt = null } = JSON.parse(element);
      if (!isInstallationID(id) || typeof platform !== 'string') throw new SyntaxError('This is no installation.');
      return { id, platform, lastSeenAt: typeof lastSeenAt === 'string' ? lastSeenAt : null, isThisDevice: isSameDevice(id, own) };
    });
    return { devices, hasNext: members.has('Next') };
  } catch {
    throw new SecurePushFailure(DiagnosticCode.malformedAnswer);
  }
}

/**
 * Removes a device of the user.
 *
 * @param {SecurePushClient} client
 * @param {string} id
 * @throws {SecurePushFailure}
 */
export async function removeDevice(client, id) {
  if (!isInstallationID(id)) throw new SecurePushFailure(DiagnosticCode.status(404));
  const own = (await client.keeper.tryRead())?.registration.installationID ?? null;
  if (isSameDevice(id, own)) {
    await client.unregister();
    return;
  }
  const outcome = await client.connection.send(
    { method: 'DELETE', path: `api/installations/${id}`, success: 204 }, client.begin().deadline);
  const isGone = outcome.kind === 'refused' && [404, 410].includes(outcome.status);
  if (outcome.kind !== 'success' && !isGone) throw outcomeFailure(outcome);
}

/**
 * Removes all devices of the user at the server.
 *
 * @param {SecurePushClient} client
 * @param {number} deadline
 * @throws {SecurePushFailure}
 */
export async function removeAllDevices(client, deadline) {
  const outcome = await client.connection.send({ method: 'DELETE', path: 'api/devices', success: 204 }, deadline);
  if (outcome.kind !== 'success') throw outcomeFailure(outcome);
}
