// The list of messages. A secret is fetched when it is opened, is in memory only, and goes when it is closed.
import { text } from './texts.js';

const byId = (id) => document.getElementById(id);

export class InboxView {
  /** @param {import('./securepush/securepush.js').SecurePushClient} client */
  constructor(client) {
    this.client = client;
    this.items = new Map();
  }

  /** Lists the inbox, newest first. */
  async update() {
    let entries = [];
    let unread = 0;
    let after = null;
    // The inbox is oldest first; the list shows the newest of the last thousand.
    for (let page = 0; page < 5; page += 1) {
      const answer = await this.client.inbox({ after });
      entries = [...entries, ...answer.entries].slice(-50);
      unread = answer.unread;
      after = answer.entries.at(-1)?.id ?? null;
      if (!answer.hasNext || after === null) break;
    }
    this.#show(entries.reverse());
    return unread;
  }

  clear() { this.#show([]); }

  /** Opens a message, for example because its notification was clicked. */
  async open(id) {
    const item = this.items.get(id);
    if (!item) return;
    if (item.querySelector('.row').getAttribute('aria-expanded') !== 'true') await this.#toggle(item, id);
    item.scrollIntoView({ block: 'nearest' });
    item.querySelector('.row').focus();
  }

  #show(entries) {
    const known = this.items;
    this.items = new Map();
    for (const entry of entries) {
      const item = known.get(entry.id) ?? this.#make(entry);
      item.classList.toggle('unread', !entry.isRead);
      item.querySelector('.what').textContent = text(entry.isRead ? 'read' : 'unread');
      this.items.set(entry.id, item);
    }
    byId('entries').replaceChildren(...this.items.values());
    byId('empty').hidden = entries.length > 0;
  }

  #make({ id, createdAt }) {
    const item = byId('entry').content.firstElementChild.cloneNode(true);
    const secret = item.querySelector('.secret');
    secret.id = `secret-${id}`;
    const row = item.querySelector('.row');
    row.setAttribute('aria-controls', secret.id);
    item.querySelector('.act').textContent = text('show');
    row.addEventListener('click', () => this.#toggle(item, id));
    if (createdAt) {
      const time = item.querySelector('.when');
      time.dateTime = createdAt;
      time.textContent = when(new Date(createdAt));
    }
    return item;
  }

  async #toggle(item, id) {
    const [row, secret] = [item.querySelector('.row'), item.querySelector('.secret')];
    const opens = row.getAttribute('aria-expanded') !== 'true';
    row.setAttribute('aria-expanded', String(opens));
    secret.hidden = !opens;
    secret.textContent = opens ? '…' : '';
    item.querySelector('.act').textContent = text(opens ? 'hide' : 'show');
    secret.classList.remove('fault');
    if (!opens) return;
    try {
      const answer = await this.client.read(id);
      secret.textContent = answer.text;
      item.classList.remove('unread');
      item.querySelector('.what').textContent = text('read');
      item.dispatchEvent(new CustomEvent('message-read', { bubbles: true }));
    } catch (error) {
      secret.classList.add('fault');
      const key = { 'SP-KEY': 'notForThisDevice', 'SP-DECRYPT': 'notDecrypted' }[error.code] ?? 'failed';
      secret.textContent = text(key, error.code ?? '');
    }
  }
}

function when(date) {
  const isToday = date.toDateString() === new Date().toDateString();
  const style = isToday ? { timeStyle: 'short' } : { dateStyle: 'medium' };
  return new Intl.DateTimeFormat(navigator.language, style).format(date);
}
