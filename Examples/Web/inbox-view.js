// The list of messages. A secret is fetched when it is opened, is in memory only, and goes when it is closed.
import { MessageView } from './message-view.js';
import { NewestMessages, timeOf } from './newest.js';
import { failureText, text } from './texts.js';

const byId = (id) => document.getElementById(id);
const needsLogIn = ({ code }) => ['SP-401', 'SP-LOGIN'].includes(code);
const isOpen = (item) => item.querySelector('.row').getAttribute('aria-expanded') === 'true';

export class InboxView {
  /**
   * @param {import('./securepush/securepush.js').SecurePushClient} client
   * @param {(message: string) => void} tell tells a screen reader
   */
  constructor(client, tell) {
    this.client = client;
    this.tell = tell;
    this.clear();
  }

  /** Lists the inbox, and returns the number of unread messages; `null` if the list was cleared in the meantime. */
  async update() {
    const { newest } = this;
    const { entries, unread } = await newest.list();
    // The user has logged out.
    if (newest !== this.newest) return null;
    this.#show(entries);
    return unread;
  }

  clear() {
    this.newest = new NewestMessages(this.client);
    this.items = new Map();
    this.isListed = false;
    byId('entries').replaceChildren();
    byId('empty').hidden = true;
  }

  /** Opens a message, for example because its notification was clicked. It may be older than all of the list. */
  async open(id) {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) throw Object.assign(new Error(), { code: 'SP-404' });
    const isNew = !this.items.has(id);
    const item = this.items.get(id) ?? this.#insert({ id, isRead: true });
    item.scrollIntoView({ block: 'nearest' });
    item.querySelector('.row').focus();
    if (isOpen(item)) return;
    const error = await this.#toggle(item, id);
    if (!isNew || !['SP-403', 'SP-404', 'SP-410'].includes(error?.code)) return;
    this.#remove(id);
    throw error;
  }

  /** The newest message. */
  get newestID() { return [...this.items.keys()].sort().at(-1); }

  /** Changes only what differs: the focus, the selection and what is opened stay. */
  #show(entries) {
    const ids = new Set(entries.map(({ id }) => id));
    const oldest = entries.at(-1)?.id ?? '';
    for (const [id, item] of this.items) {
      // What is open stays while newer ones push it out of the list.
      if (!ids.has(id) && !(id < oldest && isOpen(item))) this.#remove(id);
    }
    const { isListed } = this;
    this.isListed = true;
    const end = byId('entries').lastElementChild;
    let added = 0;
    for (const entry of entries) {
      if (!this.items.has(entry.id)) {
        const item = this.#insert(entry);
        // Those at the end are older ones, which took the places of others.
        added += end === null || item.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING ? 1 : 0;
      }
      this.#mark(this.items.get(entry.id), entry.isRead);
    }
    byId('empty').hidden = this.items.size > 0;
    if (isListed && added > 0) this.tell(text(added === 1 ? 'newMessage' : 'newMessages', added));
  }

  /** Inserts an item at its place, newest first. */
  #insert(entry) {
    const item = this.#make(entry);
    const older = [...byId('entries').children].find((other) => other.dataset.id < entry.id) ?? null;
    byId('entries').insertBefore(item, older);
    this.items.set(entry.id, item);
    this.#mark(item, entry.isRead);
    return item;
  }

  #remove(id) {
    const item = this.items.get(id);
    const neighbour = item.nextElementSibling ?? item.previousElementSibling;
    if (item.contains(document.activeElement)) (neighbour?.querySelector('.row') ?? byId('inbox-title')).focus();
    item.remove();
    this.items.delete(id);
  }

  #mark(item, isRead) {
    item.classList.toggle('unread', !isRead);
    const what = item.querySelector('.what');
    const words = text(isRead ? 'read' : 'unread');
    if (what.textContent !== words) what.textContent = words;
  }

  #make({ id, createdAt }) {
    const item = byId('entry').content.firstElementChild.cloneNode(true);
    item.dataset.id = id;
    const secret = item.querySelector('.secret');
    secret.id = `secret-${id}`;
    const row = item.querySelector('.row');
    row.setAttribute('aria-controls', secret.id);
    item.querySelector('.act').textContent = text('show');
    row.addEventListener('click', () => this.#toggle(item, id));
    const date = new Date(createdAt ?? timeOf(id));
    const time = item.querySelector('.when');
    time.dateTime = date.toISOString();
    time.textContent = when(date);
    return item;
  }

  /** What has expired is not shown any longer. */
  #closeAt(time, item, id) {
    const left = (time ?? Infinity) * 1000 - Date.now();
    // The longest time that a timer has.
    if (left < 2 ** 31) setTimeout(() => { if (item.isConnected && isOpen(item)) this.#toggle(item, id); }, left);
  }

  /** Opens or closes an item. Returns the error if it cannot be read. */
  async #toggle(item, id) {
    const [row, secret] = [item.querySelector('.row'), item.querySelector('.secret')];
    const opens = !isOpen(item);
    row.setAttribute('aria-expanded', String(opens));
    secret.hidden = !opens;
    item.querySelector('.act').textContent = text(opens ? 'hide' : 'show');
    secret.classList.remove('fault', 'rich');
    secret.textContent = opens ? text(navigator.onLine ? 'loading' : 'offline') : '';
    if (!opens) return null;
    // It is tried all the same: the server may be on this device.
    if (!navigator.onLine) this.tell(text('offline'));
    const isShown = () => item.isConnected && isOpen(item);
    try {
      const answer = await this.client.read(id);
      if (item.classList.contains('unread')) item.dispatchEvent(new CustomEvent('message-read', { bubbles: true }));
      this.#mark(item, true);
      if (isShown()) {
        secret.replaceChildren(...new MessageView(this.client, answer, this.tell).nodes);
        secret.classList.toggle('rich', answer.message !== null);
        this.#closeAt(answer.expiresAt, item, id);
      }
      return null;
    } catch (error) {
      if (needsLogIn(error)) {
        byId('entries').dispatchEvent(new CustomEvent('session-end'));
      } else if (isShown()) {
        secret.classList.add('fault');
        secret.textContent = failureText(error.code);
        this.tell(secret.textContent);
      }
      return error;
    }
  }
}

function when(date) {
  const isToday = date.toDateString() === new Date().toDateString();
  const style = isToday ? { timeStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'short' };
  return new Intl.DateTimeFormat(navigator.language, style).format(date);
}
