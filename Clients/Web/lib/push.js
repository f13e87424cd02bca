import { membersOf, readStrictJSON, textOf } from './strict-json.js';

/** Longer pushes are refused unread, in bytes. Browsers allow 4,096. */
const maxPushBytes = 8 * 1024;

/**
 * Whether a value is an ID: 1 to 64 of `A-Z a-z 0-9 - _`. IDs are opaque; the grammar only makes them harmless in a
 * path, in a log and in a store.
 *
 * @param {unknown} value
 * @returns {value is string}
 */
export const isPushID = (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value);

/**
 * Whether a value is the ID of an installation, as the server takes it. It can be a part of a path.
 *
 * @param {unknown} value
 * @returns {value is string}
 */
export const isInstallationID = (value) => (
  typeof value === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(value) && !/^\.+$/.test(value));

/** @returns {IncomingPush} one that is for this SDK, and has no ID that can be used */
const unusable = () => new IncomingPush({ isSecurePush: true });

/**
 * A push, read but not yet believed: the client verifies its signature before it acts on it.
 *
 * Reading never fails. Only the ID, the withdrawal, the time and the signature are read; hosts and texts in a push are
 * ignored.
 */
export class IncomingPush {
  /**
   * @param {{isSecurePush: boolean, id?: string | null, isWithdrawal?: boolean, timestamp?: string | null,
   *   signature?: string | null}} values
   */
  constructor({ isSecurePush, id = null, isWithdrawal = false, timestamp = null, signature = null }) {
    /**
     * Whether the push is for this SDK: it has the member `secureId`. The client ignores others, which belong to
     * another part of the app.
     */
    this.isSecurePush = isSecurePush;
    /** The notification's ID; `null` if it cannot be used. */
    this.id = id;
    /** Whether the push asks to remove the notification. */
    this.isWithdrawal = isWithdrawal;
    /** `ts`, as the push has it. */
    this.timestamp = timestamp;
    /** `sig`, as the push has it. */
    this.signature = signature;
    Object.freeze(this);
  }

  /**
   * Reads a `push` event: its data or, of a declarative message in Safari, the notification that the browser proposes.
   *
   * @param {{data?: {arrayBuffer(): ArrayBuffer} | null, notification?: {data?: unknown} | null}} event
   * @returns {IncomingPush}
   */
  static fromEvent({ data = null, notification = null }) {
    const push = IncomingPush.fromMessageData(data);
    if (push.id !== null) return push;
    const proposed = IncomingPush.fromObject(notification?.data ?? null);
    return proposed.id === null ? push : proposed;
  }

  /**
   * Reads the data of a `push` event (`event.data`).
   *
   * @param {{arrayBuffer(): ArrayBuffer} | null} data
   * @returns {IncomingPush}
   */
  static fromMessageData(data) {
    if (!data) return unusable();
    try {
      return IncomingPush.fromBytes(new Uint8Array(data.arrayBuffer()));
    } catch {
      return unusable();
    }
  }

  /**
   * Reads the body of a push: strict JSON.
   *
   * @param {Uint8Array} bytes
   * @returns {IncomingPush}
   */
  static fromBytes(bytes) {
    if (bytes.length > maxPushBytes) return unusable();
    try {
      const members = membersOf(readStrictJSON(bytes));
      // A member that is no string is there all the same.
      return IncomingPush.fromObject(
        members && Object.fromEntries([...members].map(([name, value]) => [name, textOf(value)])));
    } catch {
      return unusable();
    }
  }

  /**
   * Reads the body of a push.
   *
   * @param {string} text
   * @returns {IncomingPush}
   */
  static fromText(text) {
    if (text.length > maxPushBytes) return unusable();
    return IncomingPush.fromBytes(new TextEncoder().encode(text));
  }

  /**
   * Reads the members of a push. All values are strings; others make the push unusable.
   *
   * @param {unknown} value
   * @returns {IncomingPush}
   */
  static fromObject(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return unusable();
    const object = /** @type {Record<string, unknown>} */ (value);
    if (!Object.hasOwn(object, 'secureId')) return new IncomingPush({ isSecurePush: false });
    const isWithdrawal = Object.hasOwn(object, 'withdraw');
    if (!isPushID(object.secureId) || (isWithdrawal && object.withdraw !== '1')) {
      return unusable();
    }
    return new IncomingPush({
      isSecurePush: true, id: object.secureId, isWithdrawal, timestamp: short(object, 'ts'),
      signature: short(object, 'sig'),
    });
  }
}

/**
 * A text that can be a time or a signature; a longer one is dropped.
 *
 * @param {Record<string, unknown>} object
 * @param {string} name
 * @returns {string | null}
 */
function short(object, name) {
  const value = Object.hasOwn(object, name) ? object[name] : null;
  return typeof value === 'string' && new TextEncoder().encode(value).length <= 128 ? value : null;
}
