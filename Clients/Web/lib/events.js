/**
 * Tells the pages and the worker of an app of each other's changes, so that a list on the screen stays true. It
 * carries no secret.
 *
 * @typedef {{kind: 'wake'} | {kind: 'session'} | {kind: 'open', id: string | null}} ClientEvent `wake`: something may
 *   have been fetched, shown or removed. `session`: a user has logged in or out, or the session has ended. `open`: the
 *   user has clicked a notification
 */
export class ClientEvents {
  /** @param {string} [name] of the `BroadcastChannel` */
  constructor(name = 'securepush') {
    this.channel = new BroadcastChannel(name);
  }

  /**
   * Tells the others. The sender does not get it.
   *
   * @param {ClientEvent} event
   */
  send(event) { this.channel.postMessage(event); }

  /**
   * @param {(event: ClientEvent) => void} callback
   */
  listen(callback) {
    this.channel.addEventListener('message', ({ data }) => {
      if (['wake', 'session', 'open'].includes(data?.kind)) callback(data);
    });
  }
}
