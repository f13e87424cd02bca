import { membersOf, textOf } from './strict-json.js';

/**
 * What a sender wants to be shown. Members that the sender left out are `null`.
 *
 * @typedef {object} Message
 * @property {string | null} title
 * @property {string} body
 * @property {string | null} link an address, which the app may open. Nothing is known of it
 * @property {string | null} category for the app
 * @property {string | null} thread messages with the same one belong together
 * @property {'passive' | 'active' | 'time-sensitive' | null} level how urgent it is
 * @property {MessageAction[] | null} actions what the user can answer
 * @property {string | null} data the JSON text of the sender's own data
 */

/**
 * @typedef {object} MessageAction
 * @property {string} id of 1 to 32 of `a-z 0-9 -`
 * @property {string} title
 * @property {boolean} takesText whether the answer has a text
 */

/** @typedef {Map<string, import('./strict-json.js').JSONValue>} Members */

/** The longest texts, in bytes of UTF-8. */
const limits = { Title: 200, Body: 4_000, Link: 2_000, Category: 64, Thread: 64 };
const levels = /** @type {const} */ (['passive', 'active', 'time-sensitive']);
const maxActions = 3;
const maxActionTitle = 64;

/** The value is no message. */
class NoMessage extends Error {}

/**
 * What is shown of a value: a string is the text, and an object with a `Body` is a message. Nothing is shown of others:
 * they are for the app.
 *
 * @param {import('./strict-json.js').JSONValue} value a payload, or the content of an envelope
 * @returns {{text: string | null, message: Message | null}}
 */
export function readMessage(value) {
  const text = textOf(value);
  if (text !== null) return { text, message: null };
  const members = membersOf(value);
  try {
    const message = members && messageOf(members);
    return { text: message?.body ?? null, message };
  } catch (error) {
    if (error instanceof NoMessage) return { text: null, message: null };
    throw error;
  }
}

/**
 * @param {Members} members
 * @returns {Message}
 */
function messageOf(members) {
  const [title, body, link, category, thread] = ['Title', 'Body', 'Link', 'Category', 'Thread'].map((name) => (
    members.has(name) ? shortText(members, name, limits[/** @type {keyof typeof limits} */ (name)]) : null));
  if (body === null) throw new NoMessage();
  const level = members.has('Level') ? levels.find((known) => known === textOf(members.get('Level'))) : null;
  if (level === undefined) throw new NoMessage();
  const data = members.get('Data')?.json ?? null;
  return { title, body, link, category, thread, level, actions: actionsOf(members), data };
}

/**
 * @param {Members} members
 * @param {string} name
 * @param {number} maxBytes
 */
function shortText(members, name, maxBytes) {
  const text = textOf(members.get(name));
  if (text === null || new TextEncoder().encode(text).length > maxBytes) throw new NoMessage();
  return text;
}

/** @param {Members} members */
function actionsOf(members) {
  const list = members.get('Actions');
  if (!list) return null;
  if (list.kind !== 'array' || list.elements.length > maxActions) throw new NoMessage();
  const actions = list.elements.map((element) => actionOf(membersOf(element) ?? new Map()));
  if (new Set(actions.map(({ id }) => id)).size < actions.length) throw new NoMessage();
  return actions;
}

/**
 * @param {Members} members
 * @returns {MessageAction}
 */
function actionOf(members) {
  const id = textOf(members.get('Id')) ?? '';
  const title = shortText(members, 'Title', maxActionTitle);
  const input = members.get('Input')?.kind ?? 'false';
  if (!/^[a-z0-9-]{1,32}$/.test(id) || title === '' || (input !== 'true' && input !== 'false')) throw new NoMessage();
  return { id, title, takesText: input === 'true' };
}
