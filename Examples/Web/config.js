// Your installation. The page and its service worker read this file.

/**
 * Where the retrieval service is. It needs this page's origin in RETRIEVAL_CORS_ORIGINS, and `_headers` needs it too.
 */
export const retrievalURL = 'https://push.example.com';

/** The JWK Set of `securepush keys generate --push`, if the server signs its pushes. */
export const pushKeys = null;

/**
 * The folder of the hub emulator's devices, if the emulator serves this page. A browser that reaches no push service
 * listens to it.
 */
export const emulatorDevices = null;
