import { DiagnosticCode, SecurePushFailure } from './codes.js';
import { displays } from './display.js';
import { isPushID } from './push.js';
import { endOfString, isHalf } from './strict-json.js';

/** The server's payloads are at most 128 deep; the answer adds three levels. */
const maxDepth = 160;
/** The most entries that the server sends on a page. */
export const maxEntries = 200;

/**
 * A notification as the server gives it.
 *
 * @typedef {object} FetchedNotification
 * @property {string} id
 * @property {string} json the payload's JSON text, exactly as the sender wrote it. It may be encrypted
 * @property {boolean} wasRead whether one of the user's devices had fetched it before
 * @property {import('./display.js').Display} display where the sender allows it to be shown
 * @property {number | null} expiresAt when it is not to be shown any more, in seconds since 1970
 */

/**
 * A secret.
 *
 * @typedef {object} SecretNotification
 * @property {string} id
 * @property {string | null} text the text to show; `null`: the sender's value is for the app, in `json`
 * @property {import('./message.js').Message | null} message what the sender says beside the text
 * @property {string} json the JSON text of what was sent, exactly as the sender wrote it
 * @property {boolean} isEncrypted whether it came end-to-end encrypted
 * @property {boolean} wasRead whether one of the user's devices had fetched it before
 * @property {import('./display.js').Display} display where it may be shown: the stricter one of the sender's and the app's
 *   wish. A value that is no message is for the app
 * @property {number | null} expiresAt when it is not to be shown any more, in seconds since 1970
 */

/**
 * Reads JSON answers (RFC 8259). `JSON.parse` checks the grammar, and this finds the members in the text, so that the
 * text of a payload is kept exactly as it came: a JavaScript number would lose the digits of a large one.
 */
export class AnswerReader {
  /**
   * @param {string} text
   * @throws {SyntaxError} if it is not JSON
   */
  constructor(text) {
    JSON.parse(text);
    this.text = text;
  }

  /**
   * Decodes an answer.
   *
   * @param {Uint8Array} bytes
   * @returns {AnswerReader}
   * @throws {SyntaxError | TypeError} if it is not JSON in UTF-8
   */
  static of(bytes) {
    return new AnswerReader(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  }

  /**
   * The members of an object, by name, as JSON texts. Repeated names are malformed.
   *
   * @param {string} json the object
   * @returns {Map<string, string>}
   */
  static members(json) {
    const members = new Map();
    walk(json, '{', (start) => {
      const nameEnd = skipString(json, start);
      const name = JSON.parse(json.slice(start, nameEnd));
      const valueStart = skipBlanks(json, skipBlanks(json, nameEnd) + 1);
      const end = skipValue(json, valueStart);
      if (members.has(name)) throw new SyntaxError('A member is repeated.');
      members.set(name, json.slice(valueStart, end));
      return end;
    });
    return members;
  }

  /**
   * The elements of an array, as JSON texts.
   *
   * @param {string} json
   * @param {number} limit
   * @returns {string[]}
   */
  static elements(json, limit) {
    /** @type {string[]} */
    const elements = [];
    walk(json, '[', (start) => {
      const end = skipValue(json, start);
      if (elements.length >= limit) throw new SyntaxError('The array is too long.');
      elements.push(json.slice(start, end));
      return end;
    });
    return elements;
  }

  /** The members of the answer. */
  members() { return AnswerReader.members(this.text.trim()); }
}

/**
 * Calls back with the start of each member or element; it returns the end.
 *
 * @param {string} json
 * @param {'{' | '['} bracket
 * @param {(start: number) => number} body
 */
function walk(json, bracket, body) {
  if (json[0] !== bracket) throw new SyntaxError(`This is no ${bracket === '{' ? 'object' : 'array'}.`);
  let position = skipBlanks(json, 1);
  while (position < json.length - 1) {
    position = skipBlanks(json, body(position));
    if (json[position] === ',') position = skipBlanks(json, position + 1);
  }
}

const blanks = new Set([' ', '\n', '\r', '\t']);

/**
 * @param {string} json
 * @param {number} start
 * @returns {number}
 */
function skipBlanks(json, start) {
  let position = start;
  while (blanks.has(json[position])) position += 1;
  return position;
}

/**
 * @param {string} json
 * @param {number} start
 * @returns {number}
 */
function skipString(json, start) {
  const end = endOfString(json, start);
  const text = json.slice(start, end);
  if (text.includes('\\u') && isHalf(JSON.parse(text))) throw new SyntaxError('Half a surrogate pair is no character.');
  return end;
}

/**
 * The end of a value in a text that is known to be JSON.
 *
 * @param {string} json
 * @param {number} start
 * @returns {number}
 */
function skipValue(json, start) {
  let position = start;
  let depth = 0;
  for (;;) {
    const character = json[position];
    if (character === '"') {
      position = skipString(json, position);
    } else if (character === '{' || character === '[') {
      depth += 1;
      if (depth >= maxDepth) throw new SyntaxError('The JSON is too deep.');
      position += 1;
      continue;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      position += 1;
    } else if (depth > 0) {
      position += 1;
      continue;
    } else {
      while (position < json.length && !',]}'.includes(json[position]) && !blanks.has(json[position])) position += 1;
    }
    if (depth === 0) return position;
  }
}

/**
 * @param {Map<string, string>} members
 * @returns {string}
 */
function readID(members) {
  const id = JSON.parse(members.get('Id') ?? 'null');
  if (!isPushID(id)) throw new SyntaxError('There is no ID.');
  return id;
}

/**
 * @param {string} json
 * @returns {number}
 */
function readCount(json) {
  if (!/^[0-9]{1,7}$/.test(json) || Number(json) > 1_000_000) throw new SyntaxError('This is no count.');
  return Number(json);
}

/**
 * @param {Map<string, string>} members
 * @returns {FetchedNotification | null} `null` if the members have no payload
 */
function readSecret(members) {
  const json = members.get('Payload');
  if (json === undefined) return null;
  const read = members.get('Read') ?? 'false';
  if (read !== 'true' && read !== 'false') throw new SyntaxError('Read is no truth value.');
  return {
    id: readID(members), json, wasRead: read === 'true', display: readDisplay(members), expiresAt: readTime(members),
  };
}

/**
 * @param {Map<string, string>} members
 * @returns {import('./display.js').Display} the strictest one for a word of a later version
 */
function readDisplay(members) {
  const value = JSON.parse(members.get('Display') ?? '"full"');
  return displays.find((display) => display === value) ?? 'app';
}

/** @param {Map<string, string>} members */
function readTime(members) {
  const time = Date.parse(JSON.parse(members.get('ExpiresAt') ?? 'null'));
  return Number.isFinite(time) ? time / 1000 : null;
}

/**
 * Reads the answer to `GET /api/notifications/{id}`.
 *
 * @param {Uint8Array} body
 * @param {string} id the ID that was asked for
 * @returns {{secret: FetchedNotification, unread: number | null}}
 * @throws {SecurePushFailure}
 */
export function readSecretAnswer(body, id) {
  let secret;
  let unread = null;
  try {
    const members = AnswerReader.of(body).members();
    secret = readSecret(members);
    if (members.has('Unread')) unread = readCount(/** @type {string} */ (members.get('Unread')));
  } catch {
    throw new SecurePushFailure(DiagnosticCode.malformedAnswer);
  }
  if (!secret) throw new SecurePushFailure(DiagnosticCode.malformedAnswer);
  if (secret.id !== id) throw new SecurePushFailure(DiagnosticCode.wrongID);
  return { secret, unread };
}

/**
 * A page of `GET /api/notifications`.
 *
 * @typedef {object} InboxPage
 * @property {{id: string, secret: FetchedNotification | null, isRead: boolean, createdAt: string | null}[]} entries
 * @property {number} unread
 * @property {boolean} hasNext whether there is another page
 */

/**
 * Reads a page of the inbox.
 *
 * @param {Uint8Array} body
 * @returns {InboxPage}
 * @throws {SecurePushFailure}
 */
export function readInboxPage(body) {
  try {
    const members = AnswerReader.of(body).members();
    const entries = AnswerReader.elements(members.get('Notifications') ?? '', maxEntries).map((element) => {
      const entry = AnswerReader.members(element);
      const createdAt = JSON.parse(entry.get('CreatedAt') ?? 'null');
      return {
        id: readID(entry), secret: readSecret(entry), isRead: entry.get('Read') === 'true',
        createdAt: typeof createdAt === 'string' ? createdAt : null,
      };
    });
    return { entries, unread: readCount(members.get('Unread') ?? ''), hasNext: members.has('Next') };
  } catch {
    throw new SecurePushFailure(DiagnosticCode.malformedAnswer);
  }
}
