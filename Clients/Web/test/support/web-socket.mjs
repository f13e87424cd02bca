import { createHash } from 'node:crypto';

/** Longer messages end the connection, in bytes. */
const maxMessage = 1024 * 1024;
const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The server's end of a WebSocket (RFC 6455), for text messages: Node has no server of its own. */
export class WebSocket {
  /**
   * Answers an upgrade.
   *
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:stream').Duplex} socket
   * @param {string} protocol the sub-protocol that both speak
   */
  constructor(request, socket, protocol) {
    const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + guid).digest('base64');
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
      + `Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`);
    this.socket = socket;
    /** @type {(text: string) => void} */
    this.onMessage = () => {};
    this.received = Buffer.alloc(0);
    this.parts = [];
    socket.on('error', () => {});
    socket.on('data', (data) => {
      this.received = Buffer.concat([this.received, data]);
      while (this.#frame());
    });
  }

  /** @param {object} value */
  send(value) { this.#write(1, Buffer.from(JSON.stringify(value))); }

  close() { this.socket.destroy(); }

  #write(opcode, payload) {
    if (this.socket.destroyed) return;
    const { length } = payload;
    const head = Buffer.alloc(length < 126 ? 2 : 4);
    head[0] = 0x80 | opcode;
    head[1] = length < 126 ? length : 126;
    if (length >= 126) head.writeUInt16BE(length, 2);
    this.socket.write(Buffer.concat([head, payload]));
  }

  /** Takes one frame of a client, which is masked. Returns whether there was one. */
  #frame() {
    const { received } = this;
    if (received.length < 6) return false;
    const short = received[1] & 0x7f;
    const start = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (received.length < start + 4) return false;
    const length = short < 126 ? short : short === 126 ? received.readUInt16BE(2) : Number(received.readBigUInt64BE(2));
    if (length > maxMessage) {
      this.close();
      return false;
    }
    if (received.length < start + 4 + length) return false;
    const mask = received.subarray(start, start + 4);
    const payload = received.subarray(start + 4, start + 4 + length).map((byte, index) => byte ^ mask[index % 4]);
    this.received = received.subarray(start + 4 + length);
    const [isLast, opcode] = [received[0] & 0x80, received[0] & 0x0f];
    if (opcode === 8) this.close();
    else if (opcode === 9) this.#write(10, payload);
    else if (opcode < 3) {
      this.parts.push(payload);
      if (isLast) this.onMessage(Buffer.concat(this.parts.splice(0)).toString('utf8'));
    }
    return true;
  }
}
