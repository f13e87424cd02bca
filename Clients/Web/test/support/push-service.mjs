import { execFileSync } from 'node:child_process';
import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from './web-socket.mjs';

const hex = () => randomUUID().replaceAll('-', '');

/**
 * Mozilla's push service on loopback, for one Firefox: the WebSocket protocol of autopush on one port, and the
 * endpoints of RFC 8030 on another. It checks what a sender has to keep (RFC 8030, 8188, 8292), and notes what the
 * browser says of each push: 100 delivered, 101 not decrypted.
 */
export class PushService {
  static async start() {
    const service = new PushService(mkdtempSync(join(tmpdir(), 'securepush-push-service.')));
    const key = join(service.folder, 'key.pem');
    execFileSync('openssl', [
      'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
      '-subj', '/CN=push service', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key,
      '-out', service.certificate,
    ], { stdio: 'ignore' });
    service.sockets = createServer((_, response) => response.writeHead(426).end());
    service.sockets.on('upgrade', (request, socket) => service.#connect(request, socket));
    service.endpoints = createSecureServer(
      { cert: readFileSync(service.certificate), key: readFileSync(key) },
      (request, response) => service.#receive(request, response));
    for (const server of [service.sockets, service.endpoints]) {
      await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    }
    service.url = `ws://127.0.0.1:${service.sockets.address().port}/`;
    service.host = `127.0.0.1:${service.endpoints.address().port}`;
    service.origin = `https://${service.host}`;
    return service;
  }

  constructor(folder) {
    this.folder = folder;
    /** The file with the authority of the endpoints' certificate. */
    this.certificate = join(folder, 'certificate.pem');
    /** The subscriptions by the last part of their endpoints; `isOver` if the browser has ended one. */
    this.subscriptions = new Map();
    /** What was accepted: `{id, ttl, urgency, topic, bytes, code}`, `code` as the browser has acknowledged it. */
    this.pushes = [];
    /** What was refused: `{status, why}`. */
    this.refusals = [];
    this.connections = new Map();
  }

  #connect(request, socket) {
    const connection = new WebSocket(request, socket, 'push-notification');
    let uaid = null;
    connection.onMessage = (text) => {
      const message = JSON.parse(text);
      const { messageType, channelID } = message;
      if (messageType === 'hello') {
        // Another one than asked for makes Firefox drop its subscriptions.
        uaid = message.uaid || hex();
        this.connections.set(uaid, connection);
        connection.send({ messageType, uaid, status: 200, use_webpush: true, broadcasts: {} });
      } else if (messageType === 'register') {
        const id = hex();
        this.subscriptions.set(id, { uaid, channelID, key: message.key ?? null, isOver: false });
        connection.send({ messageType, channelID, status: 200, pushEndpoint: `${this.origin}/push/${id}` });
      } else if (messageType === 'unregister') {
        for (const found of this.subscriptions.values()) if (found.channelID === channelID) found.isOver = true;
        connection.send({ messageType, channelID, status: 200 });
      } else if (messageType === 'ack') {
        for (const { version, code } of message.updates) this.#acknowledge(version, code);
      } else if (messageType === 'nack') {
        this.#acknowledge(message.version, message.code);
      } else if (!messageType || messageType === 'ping') {
        connection.send({});
      }
    };
  }

  #acknowledge(version, code) {
    const push = this.pushes.find((candidate) => candidate.version === version);
    if (push) push.code = code;
  }

  async #receive(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const id = request.url.split('/').at(-1);
    const subscription = this.subscriptions.get(id);
    const [status, why] = this.#fault(request, body, subscription);
    if (status !== 201) {
      this.refusals.push({ status, why });
      response.writeHead(status).end();
      return;
    }
    const { ttl, urgency = null, topic = null } = request.headers;
    const version = hex();
    this.pushes.push({ id, version, ttl: Number(ttl), urgency, topic, bytes: body.length, code: null });
    this.connections.get(subscription.uaid)?.send({
      messageType: 'notification', channelID: subscription.channelID, version, data: body.toString('base64url'),
      headers: { encoding: 'aes128gcm' },
    });
    response.writeHead(201, { Location: `${this.origin}/message/${version}`, TTL: ttl }).end();
  }

  /** The status of a push, and what is wrong with it. */
  #fault({ method, url, headers }, body, subscription) {
    if (method !== 'POST' || !url.startsWith('/push/')) return [404, 'route'];
    if (!subscription) return [404, 'unknown'];
    if (subscription.isOver) return [410, 'gone'];
    if (!/^[0-9]{1,10}$/.test(headers.ttl ?? '') || Number(headers.ttl) > 2_592_000) return [400, 'TTL'];
    if (!['very-low', 'low', 'normal', 'high', undefined].includes(headers.urgency)) return [400, 'Urgency'];
    if (headers.topic !== undefined && !/^[A-Za-z0-9_-]{1,32}$/.test(headers.topic)) return [400, 'Topic'];
    if (headers['content-encoding'] !== 'aes128gcm') return [400, 'Content-Encoding'];
    if (body.length > 4096) return [413, 'length'];
    if (body.length < 103 || body[20] !== 65 || body.readUInt32BE(16) < body.length - 86) return [400, 'header'];
    const problem = this.#signatureFault(headers.authorization ?? '', subscription.key);
    return problem ? [problem === 'missing' ? 401 : 403, problem] : [201, null];
  }

  /** RFC 8292: a JWT of the key with which the browser has subscribed. */
  #signatureFault(authorization, key) {
    const token = /(?:^vapid |[ ,])t=([^, ]+)/i.exec(authorization)?.[1];
    const sender = /(?:^vapid |[ ,])k=([^, ]+)/i.exec(authorization)?.[1];
    if (!token || !sender) return 'missing';
    if (sender !== key?.replace(/=+$/, '')) return 'another key';
    const point = Buffer.from(sender, 'base64url');
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
    const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
    const [head, claims, signature] = token.split('.');
    const read = (part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    const isValid = read(head).alg === 'ES256' && verify(
      'sha256', Buffer.from(`${head}.${claims}`), { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'));
    if (!isValid) return 'signature';
    const { aud, exp, sub } = read(claims);
    const left = exp - Date.now() / 1000;
    if (aud !== this.origin) return 'aud';
    if (typeof exp !== 'number' || left <= 0 || left > 86_400) return 'exp';
    return /^(mailto:|https:)/.test(sub ?? '') ? null : 'sub';
  }

  async stop() {
    for (const connection of this.connections.values()) connection.close();
    for (const server of [this.sockets, this.endpoints]) {
      server.closeAllConnections();
      await new Promise((resolve) => { server.close(resolve); });
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
