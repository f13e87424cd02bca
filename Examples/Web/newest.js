// The newest messages of an inbox that the server lists oldest first, however many there are.

/** How many messages the list has. */
const length = 50;

/** When an ID was made, in milliseconds since 1970: IDs are UUIDs of version 7, which begin with their time. */
export const timeOf = (id) => parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** An ID before all that are made in this millisecond. */
function idBefore(time) {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

export class NewestMessages {
  /** @param {import('./securepush/securepush.js').SecurePushClient} client */
  constructor(client) {
    this.client = client;
    /** The cursor before the list, so that the next call takes one request. */
    this.after = null;
  }

  /**
   * Lists the newest messages, newest first. In a long inbox it looks for their beginning by halves of the time that is
   * left: ten requests for 100,000 messages in three years.
   */
  async list() {
    let page = await this.client.inbox({ after: this.after });
    // Some of the list have expired: older ones take their places.
    if (this.after !== null && page.entries.length < length) page = await this.client.inbox();
    let { unread } = page;
    for (let end = Date.now(); page.hasNext && page.entries.length > 0;) {
      const last = page.entries.at(-1).id;
      const middle = Math.floor((timeOf(last) + end) / 2);
      const canHalve = middle > timeOf(last);
      const next = await this.client.inbox({ after: canHalve ? idBefore(middle) : last });
      unread = next.unread;
      if (!canHalve) page = { ...next, entries: [...page.entries, ...next.entries].slice(-length) };
      else if (next.entries.length >= length) page = next;
      else end = middle;
    }
    const entries = page.entries.slice(-length);
    this.after = entries.length === length ? idBefore(timeOf(entries[0].id)) : null;
    return { entries: entries.reverse(), unread };
  }
}
